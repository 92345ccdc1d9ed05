"""Graders that cannot work: they stop a run that they decide, whatever its numbers are."""

import pytest
from fakes.stub_graders import StubGrader, grader_spec

from harness.measuring.faulty_graders import FaultyGraders
from harness.measuring.summing import Tally, summarise
from harness.types.suites import GateGroup, GateSpec, Scoring, Suite, WeightedGate
from harness.types.trials import Outcome

FAULT = "config.pattern: invalid pattern"
ON_G = GateSpec(metric="g", op="gte", value=0.0)
ON_TRIAL = GateSpec(metric="trial", op="gte", value=0.0)


def spec(name="g", **more):
    return grader_spec(StubGrader(), name, **more)


def summed(suite, of_samples=()):
    names = [one.name for one in suite.graders]
    tally = Tally(names, ("m",), epochs=1)
    grades = dict.fromkeys(names, (0.0, False, "graded"))
    tally.add(
        Outcome(
            sample_id="s",
            model="m",
            epoch=0,
            status="completed",
            passed=False,
            score=0.0,
            grades=grades,
        )
    )
    return summarise(tally, suite, run_id="r", planned=1, of_samples=of_samples)


@pytest.mark.parametrize("role", ["required", "scored"])
def test_a_grader_that_decides_and_cannot_work_stops_the_run(role):
    summary = summed(Suite(name="s", graders=(spec(role=role, fault=FAULT), spec("h"))))
    assert (summary.complete, summary.passed) == (False, False)
    assert summary.reasons == (f"the grader g cannot work: {FAULT}",)


@pytest.mark.parametrize(
    "gate",
    [
        *(GateSpec(metric="g", op=op, value=0.0) for op in ("gte", "lte", "eq")),
        *(GateSpec(metric="g", op=op, value=1.0) for op in ("lt", "lte")),
        GateSpec(metric="g", op="lte", value=0.0, aggregation="max", pooled=True),
        WeightedGate(weights={"h": 1.0, "g": 0.0}, op="lte", value=1.0),
        GateGroup(needs="all", gates=(ON_TRIAL, ON_G)),
    ],
)
def test_no_gate_on_a_grader_that_cannot_work_is_met_and_it_stops_the_run(gate):
    graders = (spec(role="observed", fault=FAULT), spec("h"))
    summary = summed(Suite(name="s", graders=graders, gates=(gate,)))
    assert [one.passed for one in summary.gates] == [False]
    assert (summary.complete, summary.passed) == (False, False)
    assert len(summary.reasons) == 1


def test_an_alternative_that_can_be_judged_does_not_let_such_a_run_pass():
    gate = GateGroup(needs="any", gates=(ON_TRIAL, ON_G))
    graders = (spec(role="observed", fault=FAULT), spec("h"))
    summary = summed(Suite(name="s", graders=graders, gates=(gate,)))
    assert (summary.complete, summary.passed) == (False, False)


@pytest.mark.parametrize("op", ["gte", "lte"])
def test_no_gate_on_trials_is_met_that_such_a_grader_decides(op):
    gate = GateSpec(metric="trial", op=op, value=0.0)
    summary = summed(Suite(name="s", graders=(spec(fault=FAULT),), gates=(gate,)))
    assert [one.passed for one in summary.gates] == [False]


@pytest.mark.parametrize("gates", [(), (ON_TRIAL,), (GateSpec(metric="h", op="gte", value=0.0),)])
def test_one_that_observes_and_is_in_no_gate_stops_nothing(gates):
    graders = (spec(role="observed", fault=FAULT), spec("h"))
    summary = summed(Suite(name="s", graders=graders, gates=gates))
    assert (summary.complete, summary.passed, summary.reasons) == (True, True, ())


def test_one_that_the_rule_of_trials_names_decides():
    graders = (spec(role="observed", fault=FAULT), spec("h"))
    suite = Suite(name="s", graders=graders, scoring=Scoring(rule=ON_G))
    assert not summed(suite).complete


@pytest.mark.parametrize(("role", "complete"), [("required", False), ("observed", True)])
def test_a_grader_of_a_single_sample_counts_alike(role, complete):
    suite = Suite(name="s", graders=(spec("h"),), gates=(ON_TRIAL,))
    summary = summed(suite, [spec("own", role=role, fault=FAULT)])
    assert summary.complete is complete
    assert summary.gates[0].passed is complete


def test_of_many_the_first_twenty_are_named():
    reasons = FaultyGraders(
        Suite(name="s"), [spec(f"g{n}", fault=FAULT) for n in range(25)]
    ).reasons()
    assert len(reasons) == 21
    assert reasons[-1] == "5 further graders cannot work"
