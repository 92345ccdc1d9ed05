"""The verdict on a run in a sentence."""

import pytest
from fakes.explained_runs import make_summary, model_summary

from harness.measuring.run_sentences import missed_gates, run_sentence, run_state
from harness.types.comparisons import ComparedRun, Comparison, Pairing
from harness.types.summaries import GateResult, Interval
from harness.types.verdicts import DifferenceInterval, MetricVerdict, SuiteVerdict


def gate(*, passed, value=0.5, parts=()):
    return GateResult(text="a gate", model="m", value=value, passed=passed, parts=parts)


def compared(verdict, *, model="m", **metric):
    numbers = {
        "baseline": Interval(value=0.9),
        "candidate": Interval(value=0.8),
        "difference": DifferenceInterval(value=-0.1),
    }
    judged = MetricVerdict(metric="trial", verdict=verdict, gating=True, **{**numbers, **metric})
    return Comparison(
        suite="s",
        baseline=ComparedRun(run_id="base", model="m"),
        candidate=ComparedRun(run_id="r-1", model=model),
        pairing=Pairing(paired=9),
        verdict=SuiteVerdict(
            verdict=verdict, question="fixed_suite", metrics=(judged,), decided_by=("trial",)
        ),
    )


MET, MISSED, OPEN = (gate(passed=passed) for passed in (True, False, None))


@pytest.mark.parametrize(
    ("fields", "state", "said"),
    [
        (
            {"passed": True},
            "passed",
            "PASSED: the run is complete, and has no gates; 1 of 2 trials did not pass.",
        ),
        (
            {"passed": True, "gates": (MET,)},
            "passed",
            "PASSED: every gate is met; 1 of 2 trials did not pass.",
        ),
        (
            {"gates": (MET, MISSED, OPEN)},
            "gate_missed",
            "FAILED: 1 of 3 gates missed; 1 of 2 trials did not pass.",
        ),
        (
            {"complete": False, "reasons": ("the disk is full", "and so on")},
            "incomplete",
            (
                "INCOMPLETE, and cannot be judged: the disk is full (and 1 further reason); "
                "1 of 2 trials did not pass."
            ),
        ),
        (
            {"complete": False, "planned": 9, "reasons": ("the disk is full",)},
            "incomplete",
            (
                "INCOMPLETE, and cannot be judged: the disk is full; "
                "2 of 9 planned trials ended, 1 of them did not pass."
            ),
        ),
        (
            {"complete": False, "planned": 9},
            "incomplete",
            (
                "INCOMPLETE, and cannot be judged: 2 of 9 planned trials ended; "
                "1 of 2 trials did not pass."
            ),
        ),
        (
            {"complete": False, "models": {"m": model_summary(trials=0, passed=0)}, "planned": 3},
            "incomplete",
            "INCOMPLETE, and cannot be judged: no trial of 3 ended.",
        ),
    ],
)
def test_a_run_is_told_by_the_gravest_thing(fields, state, said):
    summary = make_summary(**fields)
    assert (run_state(summary), run_sentence(summary)) == (state, said)


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("regressed", "regressed"),
        ("invalid", "incomplete"),
        ("inconclusive", "passed"),
        ("no_worse", "passed"),
        ("improved", "passed"),
    ],
)
def test_a_comparison_decides_beside_the_gates(verdict, state):
    assert run_state(make_summary(passed=True), [compared(verdict)]) == state


def test_a_regression_is_told_with_its_numbers():
    said = run_sentence(make_summary(passed=True), [compared("regressed")])
    assert said == (
        "REGRESSED: m against base: trial 90.0 % to 80.0 % (-10.0 points); "
        "the run is complete, and has no gates; 1 of 2 trials did not pass."
    )


@pytest.mark.parametrize(
    ("fields", "verdicts", "begin"),
    [
        ({"passed": True}, ["improved", "regressed"], "REGRESSED: "),
        ({"passed": True}, ["regressed", "invalid"], "INVALID: "),
        ({"passed": False, "gates": (MISSED,)}, ["regressed"], "REGRESSED: "),
        ({"passed": False, "gates": (MISSED,)}, ["inconclusive"], "FAILED: "),
        ({"complete": False, "reasons": ("cut off",)}, ["regressed"], "INCOMPLETE, "),
        ({"passed": True}, ["inconclusive"], "PASSED: "),
    ],
)
def test_the_gravest_thing_begins_the_sentence(fields, verdicts, begin):
    said = run_sentence(make_summary(**fields), [compared(one) for one in verdicts])
    assert said.startswith(begin)
    assert said.count("PASSED") == (begin == "PASSED: ")
    assert ("FAILED: 1 of 1 gate missed" in said) == ("gates" in fields)


def test_other_units_are_told_as_they_are():
    seconds = {"baseline": Interval(value=1.5), "candidate": Interval(value=3.0), "unit": "s"}
    said = run_sentence(make_summary(passed=True), [compared("regressed", **seconds)])
    assert "trial 1.5 to 3 s (+1.5 s);" in said


def test_of_many_comparisons_the_gravest_two_are_told():
    many = [compared(v, model=v) for v in ("improved", "no_worse", "regressed", "inconclusive")]
    said = run_sentence(make_summary(passed=True), many)
    assert said.startswith("REGRESSED: regressed against base: ")
    assert "; inconclusive INCONCLUSIVE against base: " in said
    assert said.endswith("; 2 further comparisons.")
    assert "IMPROVED" not in said


def test_of_a_group_the_gates_that_were_missed_are_told():
    group = gate(passed=False, value=None, parts=(MET, MISSED))
    assert [one.text for one in missed_gates([group, MET])] == ["a gate"]
    assert missed_gates([OPEN])[0].value == 0.5


def test_a_gate_that_is_not_judged_is_not_called_met():
    gates = tuple(
        GateResult(text=str(passed), model=None, value=None, passed=passed)
        for passed in (True, None)
    )
    assert run_sentence(make_summary(gates=gates, passed=True)).startswith(
        "PASSED: every gate that could be judged is met; "
    )
