"""The numbers of a model and of its slices."""

import pytest

from harness.measuring.part_numbers import model_numbers
from harness.measuring.summing import Tally, summarise
from harness.measuring.tallies import ModelTally
from harness.measuring.tally_parts import Part
from harness.types.suites import GateSpec, Suite
from harness.types.trajectories import Usage
from harness.types.trials import Outcome


def outcome(sample_id="s", *, passed=True, epoch=0, status="completed", language="de", **fields):
    broken = status in {"target_error", "grading_error"}
    graded = (float(passed), passed, "graded")
    return Outcome(
        **{
            "sample_id": sample_id,
            "model": "m",
            "epoch": epoch,
            "status": status,
            "passed": None if broken else passed,
            "score": None if broken else float(passed),
            "seconds": 1.0,
            "grades": {} if status == "target_error" else {"g": graded},
            "slices": {"language": (language,)} if language else {},
            "tool_calls": 2,
            **fields,
        }
    )


def numbers(*outcomes, epochs=1, errors="fail"):
    tally = ModelTally(["g"], epochs=epochs, excludes=errors == "exclude")
    for one in outcomes:
        tally.add(one)
    return model_numbers(Part(tally), {})


def summed(*outcomes, slices=(), gates=()):
    tally = Tally(["g"], ["m"], epochs=1)
    for one in outcomes:
        tally.add(one)
    suite = Suite(name="s", slices=slices, gates=gates)
    return summarise(tally, suite, run_id="r", planned=None)


def test_a_slice_has_the_numbers_that_its_samples_have_by_themselves():
    german = [
        outcome("a"),
        outcome("b", passed=False),
        outcome("c", status="target_error"),
        outcome("d", status="agent_failure", passed=False),
    ]
    english = [outcome("e", language="en", seconds=9.0)]
    alone = numbers(*german)
    part = numbers(*english, *german).slices["language"]["de"]
    for name in part.__struct_fields__:
        assert getattr(part, name) == getattr(alone, name), name
    assert (part.trials, part.errors, part.passed) == (4, 1, 1)
    assert (part.pass_rate.value, part.pass_rate_if_errors_passed) == (0.25, 0.5)


@pytest.mark.parametrize("errors", ["fail", "exclude"])
def test_a_slice_of_several_epochs_has_them_too(errors):
    trials = [
        outcome(sample, epoch=epoch, passed=epoch < done, language=language)
        for sample, done, language in [("a", 3, "de"), ("b", 1, "de"), ("c", 0, "en")]
        for epoch in range(3)
    ]
    broken = outcome("d", status="grading_error", language="de")
    found = numbers(*trials, broken, epochs=3, errors=errors)
    part = found.slices["language"]["de"]
    assert part == found.slices["language"]["de"]
    assert part.samples == (3 if errors == "fail" else 2)
    tries = {one.k: one for one in part.pass_at}
    assert sorted(tries) == [2, 3]
    assert tries[3].at_least_one.mean == 1.0
    assert tries[3].all_of_them.mean == 0.5
    assert tries[3].left_out == (1 if errors == "fail" else 0)
    assert part.graders["g"].pass_at[0].k == 2


def test_pass_at_k_counts_an_errored_trial_as_a_failed_one():
    trials = [outcome(), outcome(epoch=1), outcome(epoch=2, status="target_error")]
    last = numbers(*trials, epochs=3).pass_at[-1]
    assert (last.k, last.all_of_them.mean, last.left_out) == (3, 0.0, 0)


def test_with_one_epoch_there_is_no_pass_at_k():
    assert numbers(outcome("a"), outcome("b")).pass_at == ()


def test_how_many_independent_trials_a_run_is_worth_is_told():
    halves = [outcome(s, epoch=e, passed=e == 0) for s in "abcd" for e in range(2)]
    assert numbers(*halves, epochs=2).effective_trials == 4
    assert numbers(outcome("a"), outcome("b")).effective_trials == 2
    assert numbers(*halves[:2], epochs=2).effective_trials is None


def test_what_trials_take_is_that_of_those_driven_to_their_end():
    used = Usage(input_tokens=10, output_tokens=5, cost_usd=0.5)
    found = numbers(
        outcome("a", seconds=1.0, usage=used, steps=2),
        outcome("b", seconds=3.0, usage=Usage(output_tokens=7)),
        outcome("c", seconds=100.0, status="target_error", usage=used),
        outcome("d", seconds=2.0, status="agent_failure", passed=False, tool_calls=5),
    ).per_trial
    seconds = found["seconds"]
    assert (seconds.mean, seconds.p50, seconds.total) == (2.0, 2.0, 106.0)
    assert (seconds.trials, seconds.unknown) == (3, 0)
    assert (found["tokens"].mean, found["tokens"].total, found["tokens"].unknown) == (11, 37, 1)
    assert (found["cost_usd"].mean, found["cost_usd"].low, found["cost_usd"].total) == (
        0.5,
        None,
        1,
    )
    assert (found["steps"].trials, found["steps"].unknown) == (1, 2)
    assert found["tool_calls"].mean == 3.0


def test_a_record_that_does_not_say_how_long_it_took_is_no_trial_of_0_s():
    seconds = numbers(outcome("a", seconds=0.0), outcome("b", seconds=2.0)).per_trial["seconds"]
    assert (seconds.mean, seconds.unknown) == (2.0, 1)


@pytest.mark.parametrize("cost", [-1.0, 1e12])
def test_a_cost_that_nobody_believes_is_unknown(cost):
    found = numbers(outcome(usage=Usage(cost_usd=cost))).per_trial["cost_usd"]
    assert (found.mean, found.total, found.unknown) == (None, None, 1)


def test_epochs_of_a_sample_are_averaged_before_what_it_takes_is():
    trials = [
        outcome("a", seconds=1.0),
        outcome("a", epoch=1, seconds=3.0),
        outcome("b", seconds=8.0),
    ]
    seconds = numbers(*trials, epochs=2).per_trial["seconds"]
    assert (seconds.mean, seconds.p50, seconds.samples, seconds.trials) == (5.0, 3.0, 2, 3)


def test_what_could_not_be_sliced_is_said():
    each = [outcome(str(n), language=str(n)) for n in range(101)]
    warnings = summed(*each, slices=("language", "difficulty")).warnings
    assert warnings == (
        "slices: language has more than 100 values; the run is not sliced by it",
        "slices: no sample of this run has difficulty",
    )


def test_of_how_many_trials_it_is_unknown_what_a_gate_asks_for_is_said():
    gate = GateSpec(metric="cost_usd", aggregation="sum", op="lte", value=5)
    known = outcome("a", usage=Usage(cost_usd=1.0))
    summary = summed(known, outcome("b"), gates=(gate,))
    assert summary.gates[0].passed
    assert "cost_usd is not known of 1 of 2 trials of m" in summary.warnings
