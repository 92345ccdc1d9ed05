"""Verdicts on two runs."""

import pytest

from harness.measuring.foresight import sight
from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.measuring.suite_verdicts import invalid, judge_runs, pairing_fault

MISSING = {"errored": SideOutcomes(0, 0, errored=1), "never_ran": SideOutcomes(0, 0, never_ran=1)}


def single(*moved, lost=(), **metric):
    """Return a pass metric at one epoch: so many samples regressed, improved and unchanged.

    `lost` are candidate sides of further samples that passed in the baseline.
    """
    kinds = zip(((1, 0), (0, 1), (1, 1)), moved, strict=True)
    both = [kind for kind, count in kinds for _ in range(count)]
    sides = [(SideOutcomes(a, 1), SideOutcomes(b, 1)) for a, b in both]
    sides += [(SideOutcomes(1, 1), MISSING[how]) for how in lost]
    samples = [PairedSample(f"s{n}", *one) for n, one in enumerate(sides)]
    return MetricPairs(ComparedMetric(**{"name": "trial", "gating": True} | metric), samples)


def epochs(baseline, candidate, of=3, **metric):
    samples = [
        PairedSample(f"s{n}", SideOutcomes(a, of), SideOutcomes(b, of))
        for n, (a, b) in enumerate(zip(baseline, candidate, strict=True))
    ]
    return MetricPairs(ComparedMetric(name="m", gating=True, **metric), samples)


def scores(baseline, candidate, **metric):
    return epochs(baseline, candidate, of=1, kind="score", **metric)


def judged(*metrics, **given):
    return judge_runs([metrics], **given)[0]


@pytest.mark.parametrize(
    ("moved", "margin", "verdict", "within"),
    [
        ((10, 3, 87), 0.05, "regressed", False),
        ((1, 8, 91), 0.05, "improved", False),
        ((5, 3, 192), 0.05, "no_worse", False),
        ((5, 3, 192), 0.02, "inconclusive", False),
        ((0, 0, 149), 0.02, "no_worse", False),
        ((0, 0, 100), 0.02, "inconclusive", False),
        ((26, 12, 962), 0.05, "regressed", True),
        ((0, 0, 149), None, "inconclusive", False),
    ],
)
def test_a_verdict_is_as_published(moved, margin, verdict, within):
    found = judged(single(*moved, margin=margin))
    assert found.verdict == verdict
    assert found.metrics[0].within_margin is within
    assert found.decided_by == ("trial",)


def test_an_inconclusive_verdict_says_what_it_would_take():
    power = judged(single(5, 3, 192, margin=0.02)).metrics[0].power
    plan = sight(200, 1, churn=0.04, detect=0.02)
    assert power.detectable == pytest.approx(plan.detectable)
    assert (power.samples_needed, power.epochs_needed) == (plan.samples_needed, plan.epochs_needed)
    assert power.chance_of_margin == pytest.approx(plan.chance)


def test_where_nothing_changed_it_says_how_many_unchanged_samples_would_do():
    power = judged(single(0, 0, 100, margin=0.02)).metrics[0].power
    assert (power.unchanged, power.samples_needed, power.epochs_needed) == (True, 133, 2)


def test_nothing_is_said_to_be_needed_where_there_is_enough():
    power = judged(single(5, 3, 192, margin=0.06)).metrics[0].power
    assert (power.samples_needed, power.epochs_needed) == (None, None)


@pytest.mark.parametrize(
    ("question", "metric", "test", "interval"),
    [
        ("fixed_suite", single(3, 1, 20), "stratified_exact", "tango"),
        ("population", single(3, 1, 20), "mcnemar", "tango"),
        ("fixed_suite", epochs([3, 3, 2], [1, 2, 3]), "stratified_exact", "fixed_suite"),
        ("population", epochs([3, 3, 2], [1, 2, 3]), "sign_flip", "t"),
        ("fixed_suite", scores([0.9, 0.8, 0.7], [0.8, 0.8, 0.5]), "t", "t"),
        ("population", scores([0.9, 0.8, 0.7], [0.8, 0.8, 0.5]), "t", "t"),
        ("fixed_suite", scores([0.9, 0.8, 0.7], [0.8, 0.7, 0.6]), "sign_flip", None),
        ("fixed_suite", scores([0.9, 0.8, 0.7], [0.9, 0.8, 0.7]), "t", None),
        ("fixed_suite", scores([0.9], [0.1]), None, None),
    ],
)
def test_each_question_and_outcome_has_its_test_and_interval(question, metric, test, interval):
    found = judged(metric, question=question).metrics[0]
    assert (found.p.test, found.difference.method) == (test, interval)


def test_epochs_that_differ_from_sample_to_sample_take_the_interval_over_samples():
    uneven = [
        PairedSample("a", SideOutcomes(3, 3), SideOutcomes(1, 3)),
        PairedSample("b", SideOutcomes(3, 3), SideOutcomes(1, 1, never_ran=2)),
        PairedSample("c", SideOutcomes(2, 3), SideOutcomes(1, 3)),
    ]
    found = judged(MetricPairs(ComparedMetric(name="m", gating=True), uneven)).metrics[0]
    assert (found.p.test, found.difference.method) == ("stratified_exact", "t")
    assert (found.baseline_epochs, found.candidate_epochs) == (3, 3)


def test_a_regression_is_suspected_until_fresh_trials_confirm_it():
    worse = single(10, 0, 90)
    assert judged(worse).stage == "suspected"
    assert judged(worse, confirmed=True).stage == "confirmed"
    assert judged(single(0, 10, 90)).stage is None


def test_gating_metrics_are_adjusted_together_and_the_others_apart():
    found = judged(
        single(7, 1, 92, name="a"),
        single(0, 0, 100, name="b"),
        single(7, 1, 92, name="c", gating=False),
    )
    first, second, third = (one.p for one in found.metrics)
    assert (first.regressed, first.adjusted_over) == (pytest.approx(0.03515625), 2)
    assert first.adjusted_regressed == pytest.approx(2 * 0.03515625)
    assert second.adjusted_regressed == 1.0
    assert (third.adjusted_regressed, third.adjusted_over) == (pytest.approx(0.03515625), 1)


def test_several_candidates_are_adjusted_together():
    found = judge_runs([[single(7, 1, 92)], [single(0, 0, 100)]])
    assert [one.metrics[0].p.adjusted_over for one in found] == [2, 2]
    assert found[0].metrics[0].verdict == "inconclusive"


@pytest.mark.parametrize(
    ("metrics", "verdict", "decided_by"),
    [
        ([single(0, 0, 149, name="a", margin=0.05), single(0, 9, 140, name="b")], "no_worse", "a"),
        ([single(5, 3, 92, name="a"), single(9, 0, 140, name="b")], "regressed", "b"),
        ([single(5, 3, 92, name="a"), single(0, 9, 140, name="b")], "inconclusive", "a"),
        ([single(0, 9, 9, name="a"), single(9, 0, 9, name="b", gating=False)], "improved", "a"),
        ([single(0, 9, 9, name="a"), single(0, 0, 0, name="b")], "invalid", "b"),
    ],
)
def test_the_suite_has_the_gravest_verdict_of_its_gating_metrics(metrics, verdict, decided_by):
    found = judged(*metrics)
    assert (found.verdict, found.decided_by) == (verdict, (decided_by,))


def test_without_a_gating_metric_nothing_is_concluded():
    found = judged(single(20, 0, 80, gating=False))
    assert (found.verdict, found.reason) == ("inconclusive", "no metric gates")
    assert found.metrics[0].verdict == "regressed"


def test_errors_fail_and_trials_that_never_ran_are_left_out():
    errored = judged(single(4, 2, 90, lost=["errored"] * 4)).metrics[0]
    assert (errored.p.regressed, errored.samples) == (pytest.approx(0.0546875), 100)
    # They fail in the test, and are not among the samples that are said to have regressed.
    assert (errored.regressed, errored.improved, errored.errored) == (4, 2, 4)
    assert errored.unchanged == 90
    unrun = judged(single(4, 2, 90, lost=["never_ran"] * 4)).metrics[0]
    assert (unrun.p.regressed, unrun.samples) == (pytest.approx(0.34375), 96)


@pytest.mark.parametrize("how", ["errored", "never_ran"])
def test_an_outage_neither_alarms_nor_passes(how):
    found = judged(single(0, 0, 90, margin=0.05, lost=[how] * 10))
    assert found.verdict == "inconclusive"
    missing = found.metrics[0].missing
    assert missing.decided
    assert (missing.if_failed, missing.if_passed) == ("regressed", "no_worse")
    assert missing.samples == tuple(f"s{n}" for n in range(90, 100))


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (["errored"] * 6, "regressed if the 6 errored trials fail, no worse if they pass"),
        (["never_ran"] * 6, "regressed if the 6 missing trials fail, no worse if they pass"),
    ],
)
def test_the_reason_says_how_the_verdict_hangs_on_missing_outcomes(lost, reason):
    assert judged(single(2, 0, 140, margin=0.05, lost=lost)).reason == reason


def test_missing_outcomes_of_the_baseline_are_named_by_whom_they_count_for():
    given = single(4, 0, 95, margin=0.05, lost=["errored"])
    both = [*given.samples, PairedSample("x", MISSING["errored"], SideOutcomes(0, 1))]
    found = judged(MetricPairs(given.metric, both))
    assert found.verdict == "inconclusive"
    assert found.reason == (
        "regressed if the 2 errored trials count against the candidate, inconclusive if they count "
        "for it"
    )


def test_a_regression_that_holds_every_way_stays_one():
    found = judged(single(20, 0, 79, lost=["errored"]))
    assert (found.verdict, found.metrics[0].missing.decided) == ("regressed", False)


def test_improved_if_some_pass_and_no_worse_if_they_fail_is_no_worse():
    found = judged(single(0, 5, 200, margin=0.05, lost=["errored"]))
    missing = found.metrics[0].missing
    assert {missing.if_failed, missing.if_passed} == {"no_worse", "improved"}
    assert found.verdict == "no_worse"


def test_missing_scores_without_a_range_are_left_out_with_a_warning():
    given = scores([0.9, 0.8, 0.7, 0.9], [0.8, 0.8, 0.6, 0.7], margin=0.5)
    lost = [*given.samples, PairedSample("x", SideOutcomes(0.5, 1), MISSING["errored"])]
    found = judged(MetricPairs(given.metric, lost)).metrics[0]
    assert (found.samples, found.missing.if_failed) == (4, None)
    assert any("range of m is not declared" in said for said in found.warnings)


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_a_run_without_a_graded_trial_is_invalid(side):
    passed = SideOutcomes(1, 1)
    both = {"baseline": passed, "candidate": passed} | {side: MISSING["errored"]}
    samples = [PairedSample(str(n), **both) for n in range(9)]
    found = judged(MetricPairs(ComparedMetric(name="m", gating=True), samples))
    assert found.verdict == "invalid"
    assert found.reason == f"no trial of the {side} is graded"


def test_runs_whose_graded_trials_share_no_sample_are_invalid():
    samples = [
        PairedSample("a", SideOutcomes(1, 1), MISSING["never_ran"]),
        PairedSample("b", MISSING["never_ran"], SideOutcomes(1, 1)),
    ]
    found = judged(MetricPairs(ComparedMetric(name="m", gating=True), samples))
    assert (found.verdict, found.reason) == ("invalid", "no sample has an outcome in both runs")


def test_too_few_changed_samples_to_alarm_are_said():
    found = judged(single(4, 0, 96)).metrics[0]
    assert found.p.least == pytest.approx(0.0625)
    assert found.warnings == (f"with 4 changed samples {TOO_FEW}",)


TOO_FEW = "no p value could be as low as 0.05"


@pytest.mark.parametrize(
    ("epochs", "candidate", "said"),
    [
        (1, [0, 1, 1], (f"with 1 changed sample {TOO_FEW}",)),
        (1, [1, 1, 1], (f"with no changed sample {TOO_FEW}",)),
        (2, [0, 2, 2], (f"with 1 changed sample {TOO_FEW}",)),
        (3, [2, 3, 3], (f"with 1 changed sample {TOO_FEW}",)),
        (3, [0, 3, 3], ()),
        (4, [1, 4, 4], (f"with 1 changed sample {TOO_FEW}",)),
        (4, [0, 4, 4], ()),
        (3, [2, 2, 3], (f"with 2 changed samples {TOO_FEW}",)),
    ],
)
def test_how_few_changed_samples_could_alarm_depends_on_their_epochs(epochs, candidate, said):
    samples = [
        PairedSample(str(n), SideOutcomes(epochs, epochs), SideOutcomes(passes, epochs))
        for n, passes in enumerate(candidate)
    ]
    (found,) = judged(MetricPairs(ComparedMetric(name="m", gating=True), samples)).metrics
    assert found.warnings == said


def test_numbers_where_low_is_good_are_shown_as_they_are_and_compared_turned_round():
    seconds = {"lower_is_better": True, "lowest": 0.0, "unit": "s"}
    found = judged(scores([1.0, 2.0, 3.0, 2.0], [2.0, 3.1, 4.0, 3.0], **seconds)).metrics[0]
    assert (found.verdict, found.unit) == ("regressed", "s")
    assert (found.baseline.value, found.candidate.value) == (2.0, pytest.approx(3.025))
    assert found.difference.value == pytest.approx(-1.025)
    assert (found.regressed, found.improved) == (4, 0)


@pytest.mark.parametrize(
    ("common", "unchanged", "fault"),
    [
        (0, 0, "no sample is in both runs"),
        (100, 90, None),
        (10, 9, None),
        (100, 89, "of 100 samples in both runs only 89 stayed unchanged; at least 90 % must"),
        (2, 1, "of 2 samples in both runs only 1 stayed unchanged; at least 90 % must"),
        (1, 0, "of 1 sample in both runs none stayed unchanged; at least 90 % must"),
    ],
)
def test_runs_are_compared_where_nine_samples_of_ten_are_unchanged(common, unchanged, fault):
    assert pairing_fault(common, unchanged) == fault


def test_runs_that_cannot_be_compared_are_invalid_with_a_reason():
    found = invalid("they measure different things")
    assert (found.verdict, found.reason) == ("invalid", "they measure different things")


def load(times, **metric):
    """Return the seconds of two runs, of which the second took so many times as long."""
    before = [1.0 + n / 100 for n in range(20)]
    after = [one * times for one in before]
    given = {"name": "seconds", "gating": False, "moves_together": True, "unit": "s"}
    samples = [
        PairedSample(f"s{n}", SideOutcomes(a, 1), SideOutcomes(b, 1))
        for n, (a, b) in enumerate(zip(before, after, strict=True))
    ]
    kind = {"kind": "score", "lower_is_better": True, "lowest": 0.0}
    return MetricPairs(ComparedMetric(**{**given, **kind, **metric}), samples)


def test_what_moves_together_is_shown_and_not_tested_unless_it_decides():
    found = judged(single(0, 0, 20), load(1.5)).metrics[1]
    assert (found.verdict, found.p) == ("inconclusive", None)
    assert found.difference.low is not None
    assert "not tested" in found.reason
    asked = judged(load(1.5, gating=True)).metrics[0]
    assert asked.verdict == "regressed"
    assert "fresh runs of both" in asked.warnings[0]


@pytest.mark.parametrize("times", [0.5, 0.99, 1.0, 1.2, 3.0])
def test_the_same_outcomes_give_the_same_p_however_long_they_took(times):
    others = [
        single(5, 0, 15),
        single(5, 0, 15, name="surfaced", gating=False),
        single(4, 1, 15, name="exact", gating=False),
    ]
    alone = judged(*others).metrics
    assert judged(*others, load(times)).metrics[:3] == alone


def test_power_is_told_of_what_decides_if_it_is_asked_for():
    both = (single(5, 3, 192, margin=0.02), single(5, 3, 192, name="other", gating=False))
    assert [one.power is None for one in judged(*both).metrics] == [False, True]
    assert [one.power for one in judged(*both, says_power=False).metrics] == [None, None]


@pytest.mark.parametrize(
    ("lost", "verdict", "reason"),
    [
        (SideOutcomes(2, 2), "no_worse", None),
        (SideOutcomes(1, 1, never_ran=1), "no_worse", "no worse whatever had come of the missing"),
        (SideOutcomes(1, 1, errored=1), "no_worse", None),
    ],
)
def test_what_holds_whatever_had_come_of_missing_trials_holds_without_them(lost, verdict, reason):
    sides = [SideOutcomes(2, 2)] * 99 + [lost]
    samples = [PairedSample(f"s{n}", SideOutcomes(2, 2), one) for n, one in enumerate(sides)]
    metric = MetricPairs(ComparedMetric(name="trial", gating=True, margin=0.02), samples)
    found = judged(metric)
    assert found.verdict == verdict
    assert (found.reason or "").startswith(reason or "")
    missing = found.metrics[0].missing
    assert missing is None or not missing.decided
