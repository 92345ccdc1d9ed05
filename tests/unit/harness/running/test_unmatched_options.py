"""Disallowed names that met nothing in a whole run."""

import json

import pytest
from fakes.conversations import read_conversation

import harness
from harness.system.json_values import compact_json

ALIKE = [{"user": "q"}, {"call": {"view": {}}}, {"result": "x"}, {"assistant": "ok"}]
OTHER = [{"user": "q"}, {"skill": "deploy"}, {"call": {"bash": {}}}, {"result": "x"}]


def warnings_of(graders, *conversations, tmp_path):
    samples = [{"id": str(i), "input": "q"} for i in range(len(conversations))]
    suite = harness.Suite.from_mapping({"name": "t", "samples": samples, "graders": graders})
    given = {str(i): read_conversation(events) for i, events in enumerate(conversations)}
    result = harness.grade(given, suite, out=tmp_path, progress=False)
    stored = json.loads((result.folder / "summary.json").read_text(encoding="utf-8"))
    assert stored["warnings"] == list(result.summary.warnings), compact_json(stored)
    return stored["warnings"]


@pytest.mark.parametrize(
    ("kind", "config", "warned"),
    [
        ("tool-calls", {"disallowed": ["bahs"]}, ["/bahs/"]),
        ("tool-calls", {"disallowed": ["bash", "viewer"]}, ["/viewer/"]),
        ("tool-calls", {"disallowed": [{"name": "view", "path": "secret"}]}, []),
        ("tool-calls", {"required": ["never"]}, []),
        ("skill-invocation", {"disallowed": ["deploy", "delpoy"]}, ['"delpoy"']),
        ("system-event", {"disallowed": ["compaction"]}, ['"compaction"']),
    ],
)
def test_a_disallowed_name_that_met_nothing_is_warned_of(kind, config, warned, tmp_path):
    graders = {"it": {"type": kind, "config": config}}
    assert warnings_of(graders, ALIKE, OTHER, tmp_path=tmp_path) == [
        f"it: disallowed {name} matched nothing in the whole run; is it spelt right?"
        for name in warned
    ]


def test_a_name_inside_a_combination_is_warned_of_too(tmp_path):
    inner = {"type": "tool-calls", "config": {"disallowed": ["bahs"]}}
    graders = {"it": {"type": "all-of", "config": {"graders": {"calls": inner}}}}
    assert warnings_of(graders, ALIKE, tmp_path=tmp_path) == [
        "it.calls: disallowed /bahs/ matched nothing in the whole run; is it spelt right?"
    ]


def test_a_turn_that_no_trial_reached_says_nothing_of_names(tmp_path):
    graders = {"it": {"type": "tool-calls", "turn": 5, "config": {"disallowed": ["bahs"]}}}
    assert warnings_of(graders, ALIKE, tmp_path=tmp_path) == []
