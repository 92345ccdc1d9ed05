"""The table of failures in the documents says what the table in the code does."""

import re

from meta.conftest import ROOT

from harness.types.errors import POLICIES

ROW = re.compile(r"^\| `(\w+)` " + r"\| ([^|]+) " * 5 + r"\|$", re.MULTILINE)


def documented():
    text = (ROOT / "docs/runs.md").read_text(encoding="utf-8")
    return {code: rest for code, *rest in ROW.findall(text)}


def told(policy):
    again = "in place" if policy.resent else "yes" if policy.retried else "no"
    graded = "yes" if policy.graded else "no"
    return [again, graded, policy.counted, str(policy.stops_after or "-")]


def test_every_kind_of_failure_is_documented_as_it_is():
    found = documented()
    assert list(found) == list(POLICIES)
    assert {code: rest[1:] for code, rest in found.items()} == {
        code: told(policy) for code, policy in POLICIES.items()
    }


def test_no_kind_of_failure_is_left_without_a_word():
    assert all(len(rest[0]) > 2 for rest in documented().values())
