"""Which metrics are compared, and whose margins may be given."""

import pytest
from fakes.agents import FakeTarget
from fakes.stub_graders import Says, grader_spec
from fakes.suites import fake_suite

from harness.running.compared_metrics import (
    MetricChoice,
    chosen_metrics,
    require_suite_metrics,
)
from harness.running.run_comparisons import read_margins
from harness.types.errors import InputError

SUITE = fake_suite(
    FakeTarget(lambda a, t: "ok"), graders=(grader_spec(Says("ok"), "told"), grader_spec(Says("x")))
)


def require(given, metrics=(), rule=None):
    choice = read_margins(given, MetricChoice(gating=tuple(metrics)))
    require_suite_metrics(chosen_metrics(rule, choice), SUITE)


@pytest.mark.parametrize(
    ("given", "metrics", "line"),
    [
        (
            ["told=0.9"],
            (),
            (
                "--margin: it is of told, and trial decides; "
                "--margin trial=NUMBER; or --metric told, so that it decides"
            ),
        ),
        (
            ["0.3"],
            ["seconds"],
            (
                "--margin: it is a fraction, which holds for no cost, and seconds decides; "
                "--margin seconds=NUMBER"
            ),
        ),
        (
            ["0.3", "told=0.2"],
            ["seconds", "tokens"],
            (
                "--margin: it is of told, and seconds, tokens decide; "
                "--margin seconds=NUMBER; or --metric told, so that it decides"
            ),
        ),
    ],
)
def test_margins_of_none_that_decides_are_a_mistake_told_in_a_line(given, metrics, line):
    with pytest.raises(InputError) as refused:
        require(given, metrics)
    assert [str(fault) for fault in refused.value.faults] == [line]


@pytest.mark.parametrize(
    ("given", "metrics"),
    [
        ([], ["seconds"]),
        (["0.05"], []),
        (["trial=0.05", "told=0.9"], []),
        (["0.05", "told=0.9"], []),
        (["0.05"], ["seconds", "told"]),
        (["seconds=2"], ["seconds", "told"]),
    ],
)
def test_a_margin_of_one_that_decides_suffices(given, metrics):
    require(given, metrics)


def test_margins_of_the_suite_stay_though_other_metrics_are_asked_for():
    require([], ["seconds"], {"metrics": ["told"], "margins": {"told": 0.1}})
