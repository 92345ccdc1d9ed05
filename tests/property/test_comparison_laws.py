"""Laws of comparing two runs, and other people's arithmetic on the same inputs."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.measuring.intervals import wilson
from harness.measuring.multiplicity import benjamini_hochberg, holm
from harness.measuring.paired_differences import Moves, moves_of, spread_of
from harness.measuring.paired_intervals import fixed_suite_interval, tango_interval, tango_score
from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
    paired_passes,
)
from harness.measuring.paired_tests import mcnemar, paired_t, sign_flip, stratified_exact
from harness.measuring.pass_at_k import pass_at_k, pass_at_least, pass_hat_k
from harness.measuring.suite_verdicts import judge_runs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # statsmodels' own, of its own imports
    from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
QUESTIONS = st.sampled_from(["fixed_suite", "population"])
SWAPPED = {"regressed": "improved", "improved": "regressed"}


@st.composite
def counts(draw, most=6):
    trials = draw(st.integers(1, most))
    return draw(st.integers(0, trials)), trials


@st.composite
def runs(draw):
    both = draw(st.lists(st.tuples(counts(), counts()), min_size=1, max_size=12))
    return [one for one, _ in both], [other for _, other in both]


@st.composite
def sides(draw, *, is_pass):
    graded = draw(st.integers(0, 4))
    values = st.integers(0, 1) if is_pass else st.integers(0, 10).map(lambda n: n / 10)
    total = sum(draw(values) for _ in range(graded))
    return SideOutcomes(total, graded, draw(st.integers(0, 1)), draw(st.integers(0, 1)))


@st.composite
def metrics(draw):
    is_pass = draw(st.booleans())
    metric = ComparedMetric(
        name="m",
        kind="pass" if is_pass else "score",
        gating=draw(st.booleans()),
        margin=draw(st.sampled_from([None, 0.05, 0.5])),
        lowest=0.0,
        highest=draw(st.sampled_from([None, 1.0])),
        lower_is_better=draw(st.booleans()),
    )
    side = sides(is_pass=is_pass)
    samples = draw(st.lists(st.tuples(side, side), max_size=15))
    return MetricPairs(metric, [PairedSample(str(n), *both) for n, both in enumerate(samples)])


CANDIDATES = st.lists(st.lists(metrics(), min_size=1, max_size=3), min_size=1, max_size=2)


def changed(candidates, change):
    return [
        [MetricPairs(one.metric, [change(sample) for sample in one.samples]) for one in candidate]
        for candidate in candidates
    ]


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_statsmodels(passed):
    passes, trials = passed
    theirs = proportion_confint(passes, trials, method="wilson")
    assert wilson(passes / trials, trials) == pytest.approx(theirs, abs=1e-9)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_statsmodels(regressed, improved):
    table = [[7, regressed], [improved, 9]]
    theirs = mcnemar_of_statsmodels(table, exact=True).pvalue if regressed + improved else 1.0
    assert mcnemar(regressed, improved).two_sided == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=20)  # statsmodels collects garbage at every call
@given(P_VALUES)
def test_holm_agrees_with_statsmodels(p_values):
    theirs = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(theirs), abs=1e-12)


@given(P_VALUES)
def test_benjamini_hochberg_agrees_with_scipy(p_values):
    theirs = stats.false_discovery_control(p_values, method="bh")
    assert benjamini_hochberg(p_values) == pytest.approx(list(theirs), abs=1e-12)


@given(runs())
def test_the_stratified_test_is_a_convolution_of_hypergeometrics(both):
    whole, seen = np.ones(1), 0
    for (a, before), (b, after) in zip(*both, strict=True):
        chances = stats.hypergeom.pmf(np.arange(after + 1), before + after, a + b, after)
        whole, seen = np.convolve(whole, chances), seen + b
    found = stratified_exact(paired_passes(*both))
    assert found.regress == pytest.approx(whole[: seen + 1].sum(), abs=1e-9)
    assert found.improve == pytest.approx(whole[seen:].sum(), abs=1e-9)


@given(counts(), counts())
def test_the_stratified_test_of_one_sample_is_fishers(before, after):
    table = [[after[0], after[1] - after[0]], [before[0], before[1] - before[0]]]
    found = stratified_exact(paired_passes([before], [after]))
    theirs = stats.fisher_exact(table, alternative="less").pvalue
    assert found.regress == pytest.approx(theirs, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=80))
def test_at_one_epoch_all_three_exact_tests_are_one(both):
    pairs = paired_passes([(a, 1) for a, _ in both], [(b, 1) for _, b in both])
    moves = moves_of(pairs)
    exact = mcnemar(moves.regressed, moves.improved)
    for other in (stratified_exact(pairs), sign_flip(pairs)):
        assert (other.regress, other.improve) == pytest.approx(
            (exact.regress, exact.improve), abs=1e-9
        )


@given(runs())
def test_sign_flip_counts_every_pattern_of_signs(both):
    pairs = paired_passes(*both)
    differences = [
        round(pair.difference * 3600) for pair, count in pairs for _ in range(count)
    ]  # 3600: a multiple of every product of numbers of epochs here
    seen = sum(differences)
    sums = [
        sum(sign * abs(d) for sign, d in zip(signs, differences, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    found = sign_flip(pairs)
    assert found.regress == pytest.approx(sum(s <= seen for s in sums) / len(sums), abs=1e-9)
    assert found.improve == pytest.approx(sum(s >= seen for s in sums) / len(sums), abs=1e-9)


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=2, max_size=20))
def test_the_t_test_agrees_with_scipy(values):
    spread = spread_of(paired_passes([(0.0, 1)] * len(values), [(x, 1) for x in values]))
    found = paired_t(spread)
    if len(set(values)) == 1:
        assert (found.regress if found else None) == (1.0 if values[0] == 0 else None)
    else:
        theirs = stats.ttest_1samp(values, 0, alternative="less").pvalue
        assert found.regress == pytest.approx(theirs, abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 500))
def test_tangos_interval_holds_its_difference_and_mirrors(regressed, improved, unchanged):
    moves = Moves(regressed, improved, unchanged)
    if not moves.samples:
        return
    low, high = tango_interval(moves)
    assert -1 <= low < high <= 1
    assert low <= (improved - regressed) / moves.samples <= high
    mirrored = tango_interval(Moves(improved, regressed, unchanged))
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 500))
def test_tangos_score_falls_as_the_supposed_difference_grows(regressed, improved, unchanged):
    moves = Moves(regressed, improved, unchanged)
    found = [tango_score(step / 20, moves) for step in range(-20, 21)]
    assert all(one >= other - 1e-9 for one, other in itertools.pairwise(found))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_a_fixed_suite_interval_holds_its_difference_and_has_a_width(both):
    pairs = paired_passes([(a, 4) for a, _ in both], [(b, 4) for _, b in both])
    low, high = fixed_suite_interval(pairs)
    assert -1 <= low <= spread_of(pairs).mean <= high <= 1
    assert low < high


@given(counts(most=12))
def test_pass_hat_k_is_at_most_pass_at_k_and_both_are_monotone(passed):
    passes, trials = passed
    at_least_one = [pass_at_k(passes, trials, k) for k in range(1, trials + 1)]
    all_of_them = [pass_hat_k(passes, trials, k) for k in range(1, trials + 1)]
    assert all(a <= b + 1e-12 for a, b in zip(all_of_them, at_least_one, strict=True))
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(at_least_one))
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(all_of_them))
    for k in range(1, trials + 1):
        assert pass_at_least(1, passes, trials, k=k) == pytest.approx(at_least_one[k - 1])
        assert pass_at_least(k, passes, trials, k=k) == pytest.approx(all_of_them[k - 1])


@given(CANDIDATES, QUESTIONS)
def test_a_run_against_itself_is_never_regressed_or_improved(candidates, question):
    same = changed(candidates, lambda one: PairedSample(one.sample_id, one.baseline, one.baseline))
    for suite in judge_runs(same, question=question):
        assert suite.verdict not in SWAPPED
        for metric in suite.metrics:
            assert metric.verdict not in SWAPPED
            assert metric.difference is None or metric.difference.value == 0


@given(CANDIDATES, QUESTIONS)
def test_swapping_the_runs_swaps_regressed_and_improved(candidates, question):
    turned = changed(
        candidates, lambda one: PairedSample(one.sample_id, one.candidate, one.baseline)
    )
    found = judge_runs(candidates, question=question)
    for suite, other in zip(found, judge_runs(turned, question=question), strict=True):
        for one, two in zip(suite.metrics, other.metrics, strict=True):
            assert SWAPPED.get(one.verdict) == (two.verdict if two.verdict in SWAPPED else None)
            assert (one.regressed, one.improved) == (two.improved, two.regressed)
            if one.p is not None:
                assert one.p.regressed == pytest.approx(two.p.improved, abs=1e-9)
                assert one.difference.value == pytest.approx(-two.difference.value, abs=1e-12)


@given(CANDIDATES, QUESTIONS, st.randoms())
def test_the_order_of_samples_changes_nothing(candidates, question, random):
    mixed = [
        [MetricPairs(one.metric, random.sample(one.samples, len(one.samples))) for one in candidate]
        for candidate in candidates
    ]
    assert judge_runs(mixed, question=question) == judge_runs(candidates, question=question)


@given(CANDIDATES, QUESTIONS)
def test_a_verdict_says_no_more_than_every_way_of_filling_in_what_is_missing(candidates, question):
    for suite in judge_runs(candidates, question=question):
        for metric in suite.metrics:
            missing = metric.missing
            if missing is None or missing.if_failed is None:
                continue
            # What nobody can say without them may still be said whatever had come of them.
            left_out = {missing.left_out} - {"inconclusive"}
            ways = {*left_out, missing.if_failed, missing.if_passed}
            if metric.verdict in SWAPPED:
                assert ways == {metric.verdict}
            if metric.verdict == "no_worse":
                assert ways <= {"no_worse", "improved"}


@given(CANDIDATES, QUESTIONS)
def test_every_interval_holds_its_difference_and_no_number_is_foreign(candidates, question):
    for suite in judge_runs(candidates, question=question):
        for metric in suite.metrics:
            found = metric.difference
            if found is not None and found.low is not None:
                assert found.low - 1e-9 <= found.value <= found.high + 1e-9
            if metric.p is not None:
                assert 0 <= metric.p.regressed <= metric.p.adjusted_regressed <= 1
                assert 0 <= metric.p.improved <= metric.p.adjusted_improved <= 1
            if metric.power is not None and metric.power.detectable is not None:
                assert math.isfinite(metric.power.detectable)
                assert metric.power.detectable > 0
