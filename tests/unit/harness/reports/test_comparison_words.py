"""What a comparison says in words."""

import msgspec
import pytest

from harness.reports.comparison_words import (
    amount,
    exclusion_lines,
    group_sentence,
    interval,
    metric_sentence,
    moved_by,
    p_value,
    pair_line,
    pairing_lines,
    power_lines,
    sides_line,
    verdict_word,
)
from harness.types.comparisons import (
    ComparedRun,
    Comparison,
    DivergenceGroup,
    Pairing,
    SamplePair,
)
from harness.types.summaries import Interval
from harness.types.verdicts import (
    DifferenceInterval,
    MetricVerdict,
    Power,
    PValues,
    SuiteVerdict,
)


def said(detectable, *, samples=None, epochs=None, **fields):
    power = Power(detectable=detectable, samples_needed=samples, epochs_needed=epochs)
    given = {"metric": "trial", "margin": 0.05, **fields}
    return list(
        power_lines(MetricVerdict(verdict="inconclusive", gating=True, power=power, **given))
    )


def moved(before, after, unit="points", *, p=0.5, ends=(None, None)):
    """Make a metric that has moved; little is good of all that is not shown in points."""
    sign = 1 if unit == "points" else -1
    return MetricVerdict(
        metric="trial" if unit == "points" else "tokens",
        verdict="regressed",
        gating=True,
        unit=unit,
        lower_is_better=sign < 0,
        baseline=Interval(value=before),
        candidate=Interval(value=after),
        difference=DifferenceInterval(value=sign * (after - before), low=ends[0], high=ends[1]),
        p=PValues(
            test="t",
            regressed=p,
            improved=p,
            adjusted_regressed=p,
            adjusted_improved=p,
            adjusted_over=1,
        ),
    )


def comparison(**fields):
    return Comparison(
        **{
            "suite": "s",
            "baseline": ComparedRun(run_id="base", model="m"),
            "candidate": ComparedRun(run_id="new", model="m"),
            "pairing": Pairing(paired=1),
            "verdict": SuiteVerdict(verdict="invalid", question="fixed_suite"),
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("before", "after", "unit", "shown"),
    [
        (1.0, 0.9997, "points", ("100.0 %", ">99.9 %", "-0.03 points")),
        (0.5, 0.4998, "points", ("50.0 %", "50.0 %", "-0.02 points")),
        (0.0, 1.0, "points", ("0.0 %", "100.0 %", "+100.0 points")),
        (0.3, 0.1 + 0.2, "points", ("30.0 %", "30.0 %", "+0.0 points")),
        (0.0, 0.0, "s", ("0 s", "0 s", "+0 s")),
        (0.0, 2.772e-05, "s", ("0 s", "0.00002772 s", "+0.0000277 s")),
        (1e-7, 0.0, "USD", ("0.0000001 USD", "0 USD", "-0.0000001 USD")),
        (2.0, 1.0, "steps", ("2 steps", "1 step", "-1 step")),
        (
            12345.0,
            2_234_567.0,
            "tokens",
            ("12,345 tokens", "2,234,567 tokens", "+2,222,222 tokens"),
        ),
    ],
)
def test_numbers_have_no_exponent_no_minus_before_a_zero_and_their_unit_in_the_right_form(
    before, after, unit, shown
):
    metric = moved(before, after, unit)
    assert (amount(before, unit), amount(after, unit), moved_by(metric)) == shown


@pytest.mark.parametrize(
    ("ends", "unit", "shown"),
    [
        ((-0.0002, 0.0), "points", "-0.02 to +0.0"),
        ((-0.0, 1e-17), "points", "+0.0 to +0.0"),
        ((-1.0, 2.772e-05), "s", "-0.0000277 to +1"),
        ((None, None), "s", "-"),
    ],
)
def test_an_interval_runs_from_the_smaller_to_the_larger_number(ends, unit, shown):
    assert interval(moved(0.5, 0.5, unit, ends=ends)) == shown


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0, "<0.001"), (0.0502, "0.0502"), (0.9998, ">0.999"), (1.0, "1.000")]
)
def test_no_chance_is_nothing_certain_or_at_the_bound_that_is_not(p, shown):
    assert p_value(moved(0.5, 0.4, p=p)) == shown


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        (moved(0.5, 0.5), "the pass rate stayed at 50.0 %"),
        (moved(0.5, 0.4998), "the pass rate hardly moved from 50.0 %"),
        (moved(0.5, 0.4), "the pass rate went from 50.0 % to 40.0 %"),
        (moved(12345, 12345.4, "tokens"), "tokens hardly moved from 12,345 tokens"),
    ],
)
def test_a_sentence_says_of_a_small_move_that_it_is_one(metric, sentence):
    assert metric_sentence(metric).startswith(f"{sentence} (")


@pytest.mark.parametrize(
    ("days", "stale", "shown"),
    [
        (None, False, "m of base"),
        (0.0, False, "m of base (less than a day old)"),
        (1.0, False, "m of base (1 day old)"),
        (14.6, True, "m of base (14 days old: STALE)"),
    ],
)
def test_an_age_is_in_whole_days(days, stale, shown):
    baseline = ComparedRun(run_id="base", model="m", age_days=days, stale=stale)
    assert sides_line(comparison(baseline=baseline)) == f"m of new against {shown}"


@pytest.mark.parametrize(
    ("paired", "changed", "shown"),
    [
        (1, (), "1 of 1 sample in both runs paired"),
        (1, ("a",), "1 of 2 samples in both runs paired"),
        (0, (), "0 of 0 samples in both runs paired"),
    ],
)
def test_samples_are_in_the_plural_where_there_is_not_one(paired, changed, shown):
    pairing = Pairing(paired=paired, changed=changed)
    assert next(pairing_lines(comparison(pairing=pairing))) == shown


def test_trials_that_are_left_out_are_counted_as_trials():
    baseline = ComparedRun(run_id="base", model="m", errors_left_out=1)
    (line,) = exclusion_lines(comparison(baseline=baseline))
    assert ": 1 trial of the baseline and 0 of the candidate ended in errors" in line


@pytest.mark.parametrize(
    ("samples", "of", "shown"),
    [
        ("a", 1, "1 of 1 regression first differs: skips it"),
        ("a", 3, "1 of 3 regressions first differs: skips it"),
        ("ab", 3, "2 of 3 regressions first differ: skips it"),
    ],
)
def test_a_group_of_one_regression_is_spoken_of_as_one(samples, of, shown):
    group = DivergenceGroup(
        kind="no_call", words="skips it", tool=None, samples=tuple(samples), of=of
    )
    assert group_sentence(group) == shown


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


def test_one_sample_or_one_epoch_is_spoken_of_as_one():
    (_, line) = said(0.2, samples=1, epochs=1)
    assert line == "a margin of 5.0 points needs 1 sample or 1 epoch"


def test_of_what_is_better_low_a_rise_is_the_question():
    low = {"metric": "seconds", "unit": "s", "lower_is_better": True, "margin": None}
    assert said(2.772e-05, **low) == [
        "seconds: the smallest rise seen with 80 % chance is 0.0000277 s",
        "say with --margin seconds=NUMBER which rise you can live with, and NO WORSE can be said",
    ]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "a: 3/3 passed before, 0/3 now"),
        (
            {"metric": "seconds", "unit": "s", "baseline_value": 0.0, "candidate_value": 2.5},
            "a: seconds 0 s before, 2.5 s now",
        ),
        (
            {"metric": "tone", "baseline_value": 0.9997, "candidate_value": 0.25},
            "a: tone >99.9 % before, 25.0 % now",
        ),
    ],
)
def test_a_sample_moved_in_passes_or_in_the_number_that_is_compared(fields, shown):
    pair = SamplePair(
        sample_id="a",
        baseline_passes=3,
        baseline_trials=3,
        candidate_passes=0,
        candidate_trials=3,
        **fields,
    )
    assert pair_line(pair) == shown


def test_what_sees_no_drop_is_said():
    assert said(None) == ["trial: no drop at all can be seen with 80 % chance at this size"]


def test_epochs_are_those_of_both_runs_where_they_differ():
    lines = said(0.2, samples=52, epochs=3, baseline_epochs=1, candidate_epochs=2)
    assert lines[1] == "a margin of 5.0 points needs 52 samples or 3 epochs in both runs"


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"gating": True}, "REGRESSED"),
        ({"gating": False}, "(REGRESSED)"),
        ({"gating": False, "p": None}, "(not tested)"),
        ({"gating": False, "p": None, "difference": None}, "(REGRESSED)"),
    ],
)
def test_a_verdict_is_in_brackets_where_it_decides_nothing(fields, word):
    assert verdict_word(msgspec.structs.replace(moved(1.0, 0.5), **fields)) == word
