from datetime import date

import pytest
from fakes.stored_nights import an_outcome
from fakes.suites import fake_suite

from harness.measuring.summing import summarise
from harness.running.gated_trials import GatedTrials
from harness.running.run_manifests import judging_of
from harness.storing.night_outcomes import outcome_key
from harness.types.quarantines import QuarantineEntry
from harness.types.suites import GateSpec

TODAY = date(2031, 5, 10)
GATE = GateSpec(metric="trial", op="gte", value=1.0)


def entry(sample, **fields):
    made = {"since": date(2031, 5, 1), "ends": date(2031, 5, 15), **fields}
    return QuarantineEntry(sample=sample, **made)


def suite_with(*entries):
    return fake_suite(lambda context, text: "ok", gates=(GATE,), quarantine=entries)


def gated(suite, failing=("s0",)):
    trials = GatedTrials(suite, ("m",), TODAY)
    for n in range(20):
        trials.add(an_outcome(f"s{n}", f"s{n}" not in failing))
    return trials


def passes(suite, trials):
    found = trials.settle()
    tally = found.tally
    assert tally is not None
    return summarise(tally, suite, run_id="r", planned=None, gated=tally).gates[0].passed


def test_without_an_entry_the_gates_are_about_all_trials():
    assert gated(suite_with()).settle().tally is None


def test_a_quarantined_sample_is_in_no_gate_and_that_is_said():
    suite = suite_with(entry("s0"))
    trials = gated(suite)
    assert passes(suite, trials)
    assert trials.settle().remarks == ("in quarantine, and in no gate on m: s0 (until 2031-05-15)",)
    assert trials.settle().tally.trials == 19


@pytest.mark.parametrize(
    "given",
    [
        entry("s0", ends=TODAY),
        entry("s0", since=date(2031, 5, 11)),
        entry("s0", key="another key"),
        entry("s0", model="other"),
        entry("s1"),
    ],
)
def test_a_sample_whose_entry_does_not_hold_is_gated(given):
    suite = suite_with(given)
    trials = gated(suite)
    assert not passes(suite, trials)
    assert trials.settle().tally.trials == 20 - (given.sample == "s1")


def test_an_entry_with_the_key_of_the_sample_holds():
    suite = suite_with(entry("s0"))
    key = outcome_key(an_outcome("s0", False), judging_of(suite))
    suite = suite_with(entry("s0", key=key))
    assert passes(suite, gated(suite))


def test_of_too_many_entries_the_first_hold_and_the_others_are_named():
    suite = suite_with(*(entry(f"s{n}") for n in range(3)))
    trials = gated(suite, failing=("s2",))
    assert not passes(suite, trials)
    assert trials.settle().remarks[1] == "not in quarantine, as only 2 samples may be: s2"


def test_of_a_sample_without_a_grade_the_entry_holds():
    suite = suite_with(entry("s0", key="whatever it is"))
    trials = GatedTrials(suite, ("m",), TODAY)
    for n in range(20):
        trials.add(an_outcome(f"s{n}", None if n == 0 else True))
    assert passes(suite, trials)
