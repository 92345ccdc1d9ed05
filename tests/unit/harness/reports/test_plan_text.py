import pytest

from harness.measuring.foresight import sight
from harness.reports.plan_text import plan_text
from harness.types.suite_plans import ExpectedSpending, ModelPlan, SuitePlan

ASSUMED = (sight(200, 1, churn=0.02, detect=0.05), sight(200, 1, churn=0.2, detect=0.05))
SPENDING = ExpectedSpending(of=600, agent_seconds=4000.0, cost_usd=1.5, tokens=30_000)
CHEAP = ExpectedSpending(of=1, agent_seconds=0.0, cost_usd=0.0004, tokens=1)


def planned(models=None, **fields):
    made = {
        "suite": "nightly",
        "samples": 200,
        "epochs": 1,
        "trials": 200,
        "concurrency": 20,
        "detect": 0.05,
        "models": models or (ModelPlan(model="m", trials=200, sights=ASSUMED),),
    }
    return plan_text(SuitePlan(**{**made, **fields}))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "nightly: 200 samples x 1 model x 1 epoch = 200 trials"),
        ({}, "How likely two such runs are to show a drop of 5 points as REGRESSED, where it is"),
        ({}, "    in all: every sample passes 5 points less often"),
        ({}, "    in few: 10 samples that always passed never do"),
        ({}, "    2.0 %                84 %     93 %       4.7 points   enough"),
        ({}, ("    20.0 %               38 %     33 %       9.2 points   "
             "602 samples with 1 epoch, or 4 epochs")),
        ({}, "            5        84 %       <1 %        4 %           12 %"),
        ({}, "what it costs and takes is told by an earlier run: --from RUN"),
        ({"models": (ModelPlan(model="m", trials=1, sights=ASSUMED, spending=SPENDING),),
          "seconds": 200.0, "limits": {"requests_per_minute": 60.0}},
         ("the run will take about 3 min with 20 at once, if requests per minute (60) do not slow "
         "it")),
        ({"models": (ModelPlan(model="m", trials=1, sights=ASSUMED, spending=SPENDING),)},
         ("m will use about $1.50, 30,000 tokens, 1.1 h of the agent's time "
         "(as 600 earlier trials did)")),
        ({"warnings": ("a\nb",)}, "warning: a\\nb"),
        ({"seconds": 0.0}, "the run will take less than 0.1 s with 20 at once"),
        ({"seconds": 0.3}, "the run will take about 0.3 s with 20 at once"),
        ({"seconds": 59.97}, "the run will take about 1 min with 20 at once"),
        ({"seconds": 3599.0}, "the run will take about 1.0 h with 20 at once"),
        ({"models": (ModelPlan(model="m", trials=1, sights=ASSUMED, spending=CHEAP),)},
         ("m will use about $0.0004, 1 token, less than 0.1 s of the agent's time "
         "(as 1 earlier trial did)")),
    ],
)  # fmt: skip
def test_a_plan_says_what_can_be_seen(fields, line):
    assert line in planned(**dict(fields)).splitlines()


def test_models_that_vary_unlike_are_shown_apart():
    steady = sight(3, 1, churn=0.0, detect=0.05, source="measured")
    shaky = sight(3, 1, churn=0.4, detect=0.05, source="at_most")
    models = tuple(
        ModelPlan(model=name, trials=3, sights=(of,)) for name, of in (("a", steady), ("b", shaky))
    )
    text = planned(models)
    assert "\na:\n" in text
    assert "\nb:\n" in text
    assert "is measured" in text
    assert "at most 40.0 %" in text
    assert "none" in text


@pytest.mark.parametrize(
    ("samples", "detect", "said"),
    [
        (20, 0.05, "1 sample that always passed never does"),
        (200, 0.05, "10 samples that always passed never do"),
        (250, 0.05, "12 samples that always passed never do, and one passes 50 points less often"),
        (10, 0.05, "one sample that always passed passes 50 points less often"),
        (1, 0.01, "one sample that always passed passes 1 point less often"),
        (3, 1.0, "3 samples that always passed never do"),
        (1000, 0.003, "3 samples that always passed never do"),
    ],
)
def test_a_plan_says_how_the_drop_is_spread(samples, detect, said):
    text = planned(samples=samples, detect=detect)
    assert f"    in few: {said}\n" in text
