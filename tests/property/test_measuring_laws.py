"""Laws of the numbers."""

from collections import Counter
from itertools import product

from hypothesis import assume, example, given
from hypothesis import strategies as st

from harness.measuring.firm_means import firm_mean
from harness.measuring.gates import judge_gate
from harness.measuring.intervals import mean, wilson
from harness.measuring.pass_rates import pass_rate
from harness.measuring.summing import Tally, summarise
from harness.measuring.tallies import ModelTally
from harness.measuring.tally_parts import Part
from harness.types.suites import GateSpec, GraderSpec, Suite
from harness.types.trajectories import Usage
from harness.types.trials import Outcome

UNIT = st.floats(0, 1, allow_nan=False)
STATUSES = st.sampled_from(["completed", "agent_failure", "target_error", "grading_error"])
GRADES = st.one_of(
    st.builds(lambda score: (score, score >= 1.0, "graded"), UNIT),
    st.just((None, None, "skipped")),
    st.just((None, None, "error")),
)
KINDS = st.lists(st.sampled_from(["x", "y", "z"]), unique=True).map(tuple)
USAGES = st.builds(
    Usage,
    input_tokens=st.one_of(st.none(), st.integers(0, 10**18)),
    cost_usd=st.one_of(st.none(), st.floats(-1, 1e12)),
)


@st.composite
def outcomes(draw):
    count = draw(st.integers(1, 30))
    made = []
    for n in range(count):
        status = draw(STATUSES)
        score = draw(UNIT) if status == "completed" else 0.0
        broken = status in ("target_error", "grading_error")
        made.append(
            Outcome(
                sample_id=str(n // 2),
                model=draw(st.sampled_from(["a", "b"])),
                epoch=n % 2,
                status=status,
                passed=None if broken else score >= 0.5,
                score=None if broken else score,
                seconds=draw(st.floats(0, 100)),
                usage=draw(USAGES),
                steps=draw(st.one_of(st.none(), st.integers(0, 9))),
                tool_calls=draw(st.integers(0, 9)),
                slices={"kind": draw(KINDS)},
                grades={} if status == "target_error" else {"g": draw(GRADES)},
            )
        )
    return made


def summed(trials):
    spec = GraderSpec(name="g", kind="k", grader=object(), fingerprint="f")
    gate = GateSpec(metric="g", op="gte", value=0.5)
    suite = Suite(name="s", graders=(spec,), gates=(gate,), epochs=2)
    tally = Tally(["g"], ("a", "b"), epochs=2)
    for trial in trials:
        tally.add(trial)
    return summarise(tally, suite, run_id="r", planned=len(trials))


@given(UNIT, st.floats(1, 1e6))
def test_every_wilson_interval_holds_its_rate_and_stays_inside_0_and_1(rate, n):
    low, high = wilson(rate, n)
    assert 0 <= low <= rate <= high <= 1


@given(st.lists(UNIT, min_size=1, max_size=40))
def test_every_mean_lies_in_its_interval(values):
    found = mean(values)
    if found.low is not None:
        assert 0 <= found.low <= found.mean + 1e-12
        assert found.mean - 1e-12 <= found.high <= 1


TRIES = st.integers(1, 6).flatmap(lambda k: st.tuples(st.integers(0, k), st.just(k)))
"""How many trials of a sample passed, of how many."""


@given(st.lists(TRIES, min_size=2, max_size=30))
def test_a_pass_rate_over_epochs_holds_its_value(tries):
    rate = pass_rate(Counter(tries))
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


@given(st.lists(TRIES, min_size=2, max_size=12), st.integers(0, 11))
@example([(3, 3)] * 19 + [(2, 3)], 19)
@example([(0, 3)] * 19 + [(0, 3)], 19)
@example([(1, 6)] * 8 + [(5, 6)], 8)
def test_a_failure_that_becomes_a_pass_lowers_no_end_of_a_pass_rate(tries, place):
    passes, trials = tries[place % len(tries)]
    assume(passes < trials)
    better = [*tries]
    better[place % len(tries)] = (passes + 1, trials)
    before, after = pass_rate(Counter(tries)), pass_rate(Counter(better))
    assert after.low >= before.low - 1e-13
    assert after.high >= before.high - 1e-13


@given(st.lists(UNIT, min_size=1, max_size=12), st.integers(0, 11), UNIT)
def test_a_value_that_rises_lowers_no_end_of_a_mean_for_gates(values, place, value):
    better = [*values]
    better[place % len(values)] = max(value, values[place % len(values)])
    before, after = firm_mean(values), firm_mean(better)
    assert after.low >= before.low - 1e-12
    assert after.high >= before.high - 1e-12


@given(outcomes(), st.randoms())
def test_a_summary_does_not_depend_on_the_order_of_trials(trials, random):
    shuffled = list(trials)
    random.shuffle(shuffled)
    assert summed(trials) == summed(shuffled)


@given(outcomes())
def test_turning_a_pass_into_an_error_never_raises_a_number(trials):
    before = summed(trials)
    for place, trial in enumerate(trials):
        if trial.passed:
            broken = Outcome(
                sample_id=trial.sample_id,
                model=trial.model,
                epoch=trial.epoch,
                status="target_error",
            )
            after = summed([*trials[:place], broken, *trials[place + 1 :]])
            one, other = before.models[trial.model], after.models[trial.model]
            # Where all are errors there is no rate.
            assert (other.pass_rate.value or 0.0) <= one.pass_rate.value
            assert (other.score.mean or 0.0) <= one.score.mean + 1e-12
            break


@given(outcomes())
def test_a_slice_has_the_numbers_of_its_trials_summed_up_alone(trials):
    whole = summed(trials).models
    for model, kind in product("ab", "xyz"):
        own = [one for one in trials if one.model == model and kind in one.slices["kind"]]
        if not own:
            assert kind not in whole[model].slices.get("kind", {})
            continue
        alone, part = summed(own).models[model], whole[model].slices["kind"][kind]
        names = set(part.__struct_fields__) - {"graders"}
        assert {n: getattr(part, n) for n in names} == {n: getattr(alone, n) for n in names}
        assert part.graders.get("g", alone.graders["g"]) == alone.graders["g"]


@given(outcomes())
def test_every_pass_hat_k_is_at_most_pass_at_k_and_both_are_in_their_intervals(trials):
    for model in summed(trials).models.values():
        for tries in model.pass_at:
            least, all_of_them = tries.at_least_one, tries.all_of_them
            if least.mean is None:
                continue
            assert 0 <= all_of_them.mean <= least.mean <= 1
            for found in (least, all_of_them):
                assert found.low is None or found.low <= found.mean <= found.high


def tallied(passes, epochs):
    """Tally samples of so many epochs, of which so many trials pass."""
    made = ModelTally(("g",), epochs=epochs)
    for sample, passed in enumerate(passes):
        for epoch in range(epochs):
            is_pass = epoch < passed
            made.add(
                Outcome(
                    sample_id=str(sample),
                    model="m",
                    epoch=epoch,
                    status="completed",
                    passed=is_pass,
                    score=float(is_pass),
                    grades={"g": (float(is_pass), is_pass, "graded")},
                )
            )
    return {"m": Part(made)}


@given(
    st.integers(1, 4).flatmap(
        lambda epochs: st.tuples(
            st.just(epochs), st.lists(st.integers(0, epochs), min_size=1, max_size=25)
        )
    ),
    st.integers(0, 24),
    st.sampled_from(["trial", "g"]),
    st.sampled_from(["pass_rate", "mean", "median", "p90", "min", "pass@k", "pass^k"]),
    st.sampled_from([None, "low", "high"]),
)
@example((3, [3] * 19 + [2]), 19, "trial", "pass_rate", "low")
@example((1, [1] * 19 + [0]), 19, "g", "mean", "low")
@example((3, [3] * 19 + [2]), 19, "g", "pass^k", "low")
def test_no_gate_fails_a_better_result_than_one_that_it_passes(run, place, metric, how, end):
    epochs, passes = run
    place %= len(passes)
    assume(passes[place] < epochs)
    better = [*passes]
    better[place] += 1
    of_tries = how.startswith("pass") and how != "pass_rate"
    gate = GateSpec(
        metric=metric,
        aggregation=how,
        k=min(2, epochs) if of_tries else None,
        interval=end if how in {"pass_rate", "mean", "pass@k", "pass^k"} else None,
        op="gte",
        value=0.5,
    )
    before, after = (judge_gate(gate, tallied(of, epochs))[0].value for of in (passes, better))
    assert (before is None) == (after is None)
    assert before is None or after >= before - 1e-12
