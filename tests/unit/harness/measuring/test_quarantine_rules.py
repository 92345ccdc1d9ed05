from datetime import date

import pytest

from harness.measuring.quarantine_rules import quarantine_limit, rule_quarantine
from harness.types.quarantines import QuarantineEntry

TODAY = date(2031, 5, 10)
KEYS = {f"s{n}": f"key{n}" for n in range(30)}


def entry(sample, **fields):
    made = {"since": date(2031, 5, 1), "ends": date(2031, 5, 15), **fields}
    return QuarantineEntry(sample=sample, **made)


@pytest.mark.parametrize(("samples", "limit"), [(0, 0), (9, 0), (10, 1), (29, 2), (30, 3)])
def test_a_tenth_of_the_samples_may_be_quarantined(samples, limit):
    assert quarantine_limit(samples) == limit


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (entry("s1", ends=TODAY), "ended on 2031-05-10"),
        (entry("s1", since=date(2031, 5, 11)), "begins on 2031-05-11"),
        (entry("gone"), "no such sample any more"),
        (entry("s1", key="other"), "the sample or its graders have changed"),
    ],
)
def test_what_holds_no_longer_or_not_yet_is_said(given, why):
    found = rule_quarantine([given], "m", KEYS, TODAY)
    assert found.in_force == {}
    assert found.ended == (f"{given.sample} ({why})",)


@pytest.mark.parametrize("given", [entry("s1"), entry("s1", key="key1"), entry("s1", model="m")])
def test_an_entry_holds_until_its_day(given):
    assert rule_quarantine([given], "m", KEYS, TODAY).in_force == {"s1": date(2031, 5, 15)}


def test_an_entry_of_another_model_says_nothing():
    found = rule_quarantine([entry("s1", model="other")], "m", KEYS, TODAY)
    assert (found.in_force, found.ended, found.beyond) == ({}, (), ())


def test_entries_beyond_the_limit_are_named():
    found = rule_quarantine([entry(f"s{n}") for n in range(5)], "m", KEYS, TODAY)
    assert list(found.in_force) == ["s0", "s1", "s2"]
    assert found.beyond == ("s3", "s4")
