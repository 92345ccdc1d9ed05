"""What a comparison says in words."""

import pytest

from harness.reports.comparison_words import power_lines
from harness.types.verdicts import MetricVerdict, Power


def said(detectable, *, samples=None, epochs=None, unit="points"):
    power = Power(detectable=detectable, samples_needed=samples, epochs_needed=epochs)
    return list(
        power_lines(
            MetricVerdict(
                metric="trial",
                verdict="inconclusive",
                gating=True,
                margin=0.05,
                unit=unit,
                power=power,
            )
        )
    )


@pytest.mark.parametrize("detectable", [1.01, 5.0])
def test_no_drop_is_larger_than_everything(detectable):
    assert said(detectable) == ["trial: no drop at all can be seen with 80 % chance at this size"]


@pytest.mark.parametrize(
    ("detectable", "unit", "shown"), [(1.0, "points", "100.0 points"), (5.0, "s", "5 s")]
)
def test_a_drop_that_can_be_is_told(detectable, unit, shown):
    assert said(detectable, unit=unit) == [
        f"trial: the smallest drop seen with 80 % chance is {shown}"
    ]


@pytest.mark.parametrize(
    ("epochs", "needs"),
    [
        (100, ["2,474 samples or 100 epochs"]),
        (10_000, ["2,474 samples"]),
        (None, ["2,474 samples"]),
    ],
)
def test_more_epochs_than_anybody_runs_are_no_advice(epochs, needs):
    assert [
        line.split(" needs ")[1] for line in said(0.2, samples=2474, epochs=epochs)[1:]
    ] == needs


def test_where_only_too_many_epochs_would_do_nothing_is_advised():
    assert len(said(0.2, epochs=10_000)) == 1
