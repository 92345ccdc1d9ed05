import shutil

import msgspec
import pytest
from fakes.stored_nights import a_manifest
from fakes.stored_trials import AT, stored_trial
from fakes.suites import fake_suite

from harness.running.suite_planning import PlanOptions, plan_suite
from harness.storing.manifests import write_manifest
from harness.storing.trial_log import TrialLog, outcome_of
from harness.types.errors import SuiteError
from harness.types.suites import ComparisonRule, Limits, Suite
from harness.types.trajectories import Usage
from harness.types.trials import Timing


def suite(samples=40, **more):
    return fake_suite(lambda context, text: "ok", samples=samples, **more)


def test_without_an_earlier_run_several_churns_are_looked_at():
    plan = plan_suite(suite(epochs=2, models=("m", "n")), PlanOptions(detect=0.05))
    assert (plan.samples, plan.epochs, plan.trials) == (40, 2, 160)
    assert [model.model for model in plan.models] == ["m", "n"]
    assert [one.churn for one in plan.models[0].sights] == [0.02, 0.05, 0.1, 0.2]
    assert {one.source for one in plan.models[0].sights} == {"assumed"}
    assert plan.seconds is None


def test_what_is_chosen_counts_in_place_of_the_suite():
    options = PlanOptions(detect=0.1, models=("x",), epochs=5)
    plan = plan_suite(suite(epochs=2), options)
    assert (plan.epochs, plan.trials, plan.models[0].model) == (5, 200, "x")


def run(folder, number, *, flaky=(), epochs=1):
    """Store a run of 20 samples, of which the flaky ones pass every other time."""
    made = folder / f"run-{number}"
    made.mkdir()
    write_manifest(made, a_manifest(made.name, number, samples=20, epochs=epochs))
    with TrialLog(made) as log:
        for epoch in range(epochs):
            for n in range(20):
                trial = stored_trial(
                    f"s{n}",
                    epoch=epoch,
                    passed=n not in flaky or (number + epoch) % 2 > 0,
                    usage=Usage(input_tokens=100, output_tokens=50, cost_usd=0.01),
                    timing=Timing(started_at=AT, target_seconds=2.0),
                )
                log.append(trial, outcome_of(trial))
    return made


def test_repeated_trials_measure_the_churn(tmp_path):
    options = PlanOptions(detect=0.05, sources=(run(tmp_path, 1, flaky={1, 2}, epochs=2),))
    (model,) = plan_suite(suite(), options).models
    assert [(one.churn, one.source) for one in model.sights] == [(pytest.approx(0.1), "measured")]


def test_several_runs_measure_it_too(tmp_path):
    sources = (run(tmp_path, 1, flaky={1, 2}), run(tmp_path, 2, flaky={1, 2}))
    (model,) = plan_suite(suite(), PlanOptions(detect=0.05, sources=sources)).models
    assert [(one.churn, one.source) for one in model.sights] == [(pytest.approx(0.1), "measured")]


def test_one_epoch_says_the_most_that_it_can_be(tmp_path):
    options = PlanOptions(detect=0.05, sources=(run(tmp_path, 2, flaky={1, 2}),))
    (model,) = plan_suite(suite(), options).models
    # 18 of 20 passed; with 95 % confidence that is a rate of 71.7 % or more.
    assert [(one.churn, one.source) for one in model.sights] == [
        (pytest.approx(0.4055, abs=1e-4), "at_most")
    ]


def test_a_run_that_is_named_twice_is_no_repeat(tmp_path):
    made = run(tmp_path, 2, flaky={1, 2})
    copy = shutil.copytree(made, tmp_path / "copy")
    once = plan_suite(suite(), PlanOptions(detect=0.05, sources=(made,)))
    for sources in ((made, made), (made, copy / ".." / made.name), (made, copy)):
        plan = plan_suite(suite(), PlanOptions(detect=0.05, sources=sources))
        assert plan.models == once.models
        assert plan.sources == (str(made),)
        assert plan.warnings == ("run-2 is named more than once, and counts once",)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_that_only_graded_another_again_is_no_repeat_of_it(tmp_path, is_first):
    made = run(tmp_path, 2, flaky={1, 2})
    again = shutil.copytree(made, tmp_path / "run-3")
    manifest = a_manifest("run-3", 3, samples=20)
    write_manifest(again, msgspec.structs.replace(manifest, graded_from="run-2"))
    sources = (again, made) if is_first else (made, again)
    plan = plan_suite(suite(), PlanOptions(detect=0.05, sources=sources))
    assert {one.source for one in plan.models[0].sights} == {"at_most"}
    assert plan.models[0].spending.of == 20
    first, second = ("run-3", "run-2") if is_first else ("run-2", "run-3")
    assert plan.warnings == (f"{second} is left out: its trials are those of {first}",)


def test_cost_and_time_are_those_of_earlier_trials(tmp_path):
    options = PlanOptions(detect=0.05, sources=(run(tmp_path, 1),))
    plan = plan_suite(suite(limits=Limits(concurrency=4, requests_per_minute=60)), options)
    spending = plan.models[0].spending
    assert spending.of == 20
    assert spending.cost_usd == pytest.approx(0.4)
    assert spending.tokens == 6000
    assert spending.agent_seconds == pytest.approx(80)
    assert plan.seconds == pytest.approx(20)
    assert plan.limits == {"requests_per_minute": 60}


def test_a_model_that_did_not_run_is_said(tmp_path):
    options = PlanOptions(detect=0.05, models=("new",), sources=(run(tmp_path, 1),))
    plan = plan_suite(suite(), options)
    assert plan.warnings == ("no trial of new was driven in the earlier runs",)
    assert len(plan.models[0].sights) == 4
    assert plan.seconds is None


def test_a_suite_that_only_grades_has_no_run_to_plan():
    with pytest.raises(SuiteError, match="no target"):
        plan_suite(Suite(name="graded"), PlanOptions(detect=0.05))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (ComparisonRule(), []),
        (ComparisonRule(metrics=("tone",)), ["the suite is compared by tone"]),
        (ComparisonRule(metrics=("trial", "tone")), ["by trial, tone", "several metrics"]),
        (ComparisonRule(population=True), ["as a population"]),
    ],
)
def test_a_plan_says_where_the_suite_is_compared_otherwise(rule, said):
    plan = plan_suite(suite(comparison=rule), PlanOptions(detect=0.05))
    assert len(plan.warnings) == len(said)
    assert all(one in line for one, line in zip(said, plan.warnings, strict=True))
