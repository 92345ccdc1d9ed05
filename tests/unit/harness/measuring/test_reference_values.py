"""Every number agrees with its reference value, made with scipy, statsmodels or by hand."""

import json
import math
from collections import Counter
from pathlib import Path
from statistics import NormalDist

import pytest

from harness.measuring.beta_intervals import clopper_pearson, failure_rate_bound, jeffreys
from harness.measuring.change_points import change_point
from harness.measuring.cluster_errors import cluster_error, cluster_mean
from harness.measuring.flakiness import (
    SampleNights,
    chance_of_mixed,
    chance_of_so_few,
    disagreement,
    expected_flips,
    mean_of,
)
from harness.measuring.intervals import wilson
from harness.measuring.multiplicity import benjamini_hochberg, holm
from harness.measuring.paired_differences import Moves, spread_of
from harness.measuring.paired_intervals import (
    fixed_suite_error,
    no_worse_p,
    t_interval,
    tango_interval,
    tango_score,
)
from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
    filled,
    paired_passes,
)
from harness.measuring.paired_tests import mcnemar, paired_t, sign_flip, stratified_exact
from harness.measuring.pass_at_k import pass_at_k, pass_at_k_over, pass_at_least, pass_hat_k
from harness.measuring.pass_rates import effective_trials, pass_rate
from harness.measuring.power import (
    TrialNoise,
    detectable_from_churn,
    mcnemar_power,
    population_detectable,
    population_samples,
)
from harness.measuring.variance_parts import sample_variance, variance_of_mean, variance_parts

FILE = Path(__file__).parents[3] / "data" / "statistics" / "reference.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def ends(pair):
    return dict(zip(("low", "high"), pair, strict=True))


def given_wilson(passes, trials, confidence):
    assert confidence == 0.95
    return ends(wilson(passes / trials, trials))


def given_clopper_pearson(passes, trials, confidence):
    return ends(clopper_pearson(passes, trials, confidence=confidence))


def given_jeffreys(passes, trials, confidence):
    return ends(jeffreys(passes, trials, confidence=confidence))


def given_failure_rate_bound(clean_trials, confidence):
    return {"bound": failure_rate_bound(clean_trials, confidence=confidence)}


def given_wilson_n_eff(passes, epochs, confidence):
    assert confidence == 0.95
    means = [c / k for c, k in zip(passes, epochs, strict=True)]
    tries = Counter(zip(passes, epochs, strict=True))
    rate = pass_rate(tries)
    return {
        "rate": rate.value,
        "se": math.sqrt(sample_variance(means) / len(means)),
        "n_eff": effective_trials(tries),
        "low": rate.low,
        "high": rate.high,
    }


def given_variance_split(passes, epochs):
    parts = variance_parts(passes, epochs)
    return {
        "within": parts.within,
        "variance_of_sample_rates": sample_variance([c / epochs for c in passes]),
        "between": parts.between,
        "icc": parts.correlation,
        "design_effect": parts.design_effect,
    }


def given_variance_by_epochs(between, within, epochs):
    return {"variance": [variance_of_mean(between, within, k) for k in epochs]}


def given_cluster_mean(scores, clusters, confidence):
    assert confidence == 0.95
    count = len(set(clusters))
    found = cluster_mean(scores, clusters)
    return {
        "mean": found.mean,
        "se_naive": math.sqrt(sample_variance(scores) / len(scores)),
        "se_cluster_plain": cluster_error(scores, clusters) * math.sqrt((count - 1) / count),
        "se_cluster": cluster_error(scores, clusters),
        "df": count - 1,
        "low": found.low,
        "high": found.high,
    }


def given_pass_k(trials, passes, k):
    return {
        "pass_at_k": pass_at_k(passes, trials, k),
        "pass_hat_k": pass_hat_k(passes, trials, k),
    }


def given_suite_pass_k(statistic, trials, passes, k, confidence):
    assert (statistic, confidence) == ("pass_hat_k", 0.95)
    samples = list(zip(passes, trials, strict=True))
    each = [pass_hat_k(*sample, k) for sample in samples]
    found = pass_at_k_over(samples, k).all_of_them
    assert (found.low, found.high) == (0.0, 1.0)  # cut to what the chance can be
    spread = spread_of(pairs_of(each))
    low, high = t_interval(spread, is_pass=False, confidence=confidence)
    return {
        "per_sample": each,
        "mean": found.mean,
        "se": spread.error,
        "low": low,
        "high": high,
    }


def given_at_least_m_of_k(trials, passes, k, m):
    return {"probability": pass_at_least(m, passes, trials, k=k)}


def given_mcnemar(regressed, improved):
    p = mcnemar(regressed, improved)
    return {
        "p_regress": p.regress,
        "p_improve": p.improve,
        "p_two_sided": p.two_sided,
        "p_mid_two_sided": p.mid_two_sided,
    }


def given_stratified_exact(baseline_passes, baseline_epochs, candidate_passes, candidate_epochs):
    p = stratified_exact(
        pairs(baseline_passes, baseline_epochs, candidate_passes, candidate_epochs)
    )
    return {
        "p_regress": p.regress,
        "p_improve": p.improve,
        "p_two_sided": p.two_sided,
        "p_mid_regress": p.mid_regress,
    }


def given_sign_flip(baseline, candidate):
    p = sign_flip(scores(baseline, candidate))
    return {"p_regress": p.regress, "p_improve": p.improve, "p_two_sided": p.two_sided}


def given_paired_t(baseline, candidate, confidence):
    spread = spread_of(scores(baseline, candidate))
    p = paired_t(spread)
    low, high = t_interval(spread, is_pass=False, confidence=confidence)
    return {
        "mean": spread.mean,
        "p_two_sided": p.two_sided,
        "p_regress": p.regress,
        "low": low,
        "high": high,
    }


def given_holm(p):
    return {"adjusted": holm(p)}


def given_benjamini_hochberg(p):
    return {"adjusted": benjamini_hochberg(p)}


def given_tango(improved, regressed, pairs, confidence):
    moves = Moves(regressed, improved, pairs - regressed - improved)
    low, high = tango_interval(moves, confidence=confidence)
    return {"difference": (improved - regressed) / pairs, "low": low, "high": high}


def given_no_worse(improved, regressed, pairs, margin):
    moves = Moves(regressed, improved, pairs - regressed - improved)
    return {"z": tango_score(-margin, moves), "p": no_worse_p(margin, moves)}


def given_fixed_suite_interval(
    baseline_passes, baseline_epochs, candidate_passes, candidate_epochs, confidence
):
    both = pairs(baseline_passes, baseline_epochs, candidate_passes, candidate_epochs)
    difference, error = spread_of(both).mean, fixed_suite_error(both)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return {
        "difference": difference,
        "se": error,
        "low": difference - z * error,
        "high": difference + z * error,
    }


def given_missing_outcomes(samples, regressed, improved, candidate_errors_on_baseline_passes):
    errors = candidate_errors_on_baseline_passes
    moved = [(1, 0)] * regressed + [(0, 1)] * improved
    stayed = [(1, 1)] * (samples - regressed - improved - errors)
    whole = [
        PairedSample(str(n), SideOutcomes(a, 1), SideOutcomes(b, 1))
        for n, (a, b) in enumerate(moved + stayed)
    ]
    broken = [
        PairedSample(f"e{n}", SideOutcomes(1, 1), SideOutcomes(0, 0, errored=1))
        for n in range(errors)
    ]
    metric = ComparedMetric(name="trial")
    complete = filled(MetricPairs(metric, whole), "left_out")
    failed = filled(MetricPairs(metric, whole + broken), "left_out")
    passed = filled(MetricPairs(metric, whole + broken), "if_passed")
    assert failed == filled(MetricPairs(metric, whole + broken), "if_failed")
    return {
        "complete_pairs": sum(count for _, count in complete),
        "difference_complete": spread_of(complete).mean,
        "p_regress_complete": stratified_exact(complete).regress,
        "difference_as_failures": spread_of(failed).mean,
        "p_regress_as_failures": stratified_exact(failed).regress,
        "difference_as_passes": spread_of(passed).mean,
        "p_regress_as_passes": stratified_exact(passed).regress,
    }


def noise(between, within_a, epochs_a, within_b, epochs_b):
    return TrialNoise(
        between=between,
        within_baseline=within_a,
        within_candidate=within_b,
        baseline_epochs=epochs_a,
        candidate_epochs=epochs_b,
    )


def given_sample_size(difference, alpha_two_sided, power, **parts):
    assert (alpha_two_sided, power) == (0.05, 0.8)
    of_one = population_detectable(noise(**parts), 1)
    return {
        "n_exact": (of_one / difference) ** 2,
        "n": population_samples(noise(**parts), difference),
    }


def given_mde_population(samples, alpha_two_sided, power, **parts):
    assert (alpha_two_sided, power) == (0.05, 0.8)
    return {"mde": population_detectable(noise(**parts), samples)}


def given_mde_paired(pairs, churn, alpha, power):
    assert (alpha, power) == (0.05, 0.8)
    two_sided = population_detectable(TrialNoise(between=churn), pairs)
    return {"mde_one_sided": detectable_from_churn(churn, pairs), "mde_two_sided": two_sided}


def given_power_mcnemar(pairs, p_regress, p_improve, alpha):
    return {"power": mcnemar_power(pairs, regress=p_regress, improve=p_improve, alpha=alpha)}


def given_expected_flips(groups, direction, at_least):
    rates = [one["pass_probability"] for one in groups for _ in range(one["samples"])]
    flips = expected_flips(rates, both_ways=direction == "either")
    return {"mean": mean_of(flips), "p_at_least": [flips.at_least(k) for k in at_least]}


def given_flaky_or_regressed(history_passes, history_trials, passes, trials):
    night = SampleNights("s", history_passes, history_trials, passes, trials)
    return {"p": chance_of_so_few(night)}


def given_flip_probability(passes, trials):
    return {"probability": disagreement(passes, trials)}


def given_flaky_probability(passes, trials, low, high):
    return {"probability": chance_of_mixed(passes, trials, low=low, high=high)}


def given_changepoint(outcomes):
    found = change_point([(passed, 1 - passed) for passed in outcomes])
    return {"bayes_factor": found.bayes_factor, "runs_before_change": found.nights_before}


def pairs(baseline_passes, baseline_epochs, candidate_passes, candidate_epochs):
    count = len(baseline_passes)
    before, after = (
        [epochs] * count if isinstance(epochs, int) else epochs
        for epochs in (baseline_epochs, candidate_epochs)
    )
    return paired_passes(
        list(zip(baseline_passes, before, strict=True)),
        list(zip(candidate_passes, after, strict=True)),
    )


def scores(baseline, candidate):
    return paired_passes([(x, 1) for x in baseline], [(x, 1) for x in candidate])


def pairs_of(values):
    return scores([0.0] * len(values), values)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_number_agrees_with_its_reference_value(row):
    found = globals()[f"given_{row['id'].partition(':')[0]}"](**row["inputs"])
    for name, expected in row["expected"].items():
        assert found[name] == pytest.approx(expected, rel=1e-6, abs=1e-6), name


def test_the_reference_values_are_of_every_kind():
    kinds = {row["id"].partition(":")[0] for row in ROWS}
    assert {f"given_{kind}" for kind in kinds} == {n for n in globals() if n.startswith("given_")}
