"""Stored and foreign trajectories, graded without an agent."""

import json

import pytest

import harness
from harness.types.suites import Suite


def event(kind, at=None, turn=0, **data):
    times = {} if at is None else {"timestamp": f"2031-02-03T04:05:{at:02}Z"}
    return {"type": kind, "turn": turn, "data": data, **times}


def result(*times, **stated):
    events = [
        event("user_message", times[0], content="Where is it?"),
        event("assistant_message", times[1], content="In Porto."),
        event("turn_end", turnId=0),
    ]
    trajectory = {"id": "t", "events": events, "output": "In Porto."}
    if "tokens" in stated:
        tokens = {"inputTokens": stated.pop("tokens"), "outputTokens": 1}
        trajectory["metrics"] = {"tokenUsage": tokens}
    head = {"type": "trial-result", "stimulus": "s", "model": "m", "status": "success"}
    return {**head, **stated, "trajectory": trajectory}


def graded(folder, record, kind, config, **more):
    path = folder / "results.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    suite = Suite.from_mapping(
        {"name": "s", "graders": {"it": {"type": kind, "config": config, **more}}}
    )
    run = harness.grade(path, suite, out=folder / "runs")
    again = harness.grade(run, suite, out=folder / "runs")
    (first,), (second,) = run.trials(), again.trials()
    assert first.grades == second.grades
    return first.grades["it"].evidence


NEITHER = "the record does not say how"


@pytest.mark.parametrize(
    ("record", "turn", "said"),
    [
        (result(None, None, durationMs=2500), None, "2.5s (within max of 5s)"),
        (result(None, None, durationMs=8000), None, "8s exceeds max of 5s"),
        (result(0, 3, durationMs=8000), None, "8s exceeds max of 5s"),
        (result(0, 3), None, "3s (within max of 5s)"),
        (result(0, 3, durationMs=8000), 0, "3s (within max of 5s)"),
        (result(None, None), None, f"{NEITHER} long"),
        (result(None, None, durationMs=8000), 0, f"{NEITHER} long"),
    ],
)
def test_a_time_that_the_record_states_is_that_of_the_conversation(tmp_path, record, turn, said):
    more = {} if turn is None else {"turn": turn}
    assert said in graded(tmp_path, record, "wall-time", {"max": "5s"}, **more)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (result(0, 1, tokens=8), "9 tokens (within budget of 9)"),
        (result(0, 1, tokens=9), "10 tokens exceeds max of 9"),
        (result(0, 1), f"{NEITHER} many tokens"),
    ],
)
def test_tokens_that_the_record_states_are_those_of_the_conversation(tmp_path, record, said):
    assert said in graded(tmp_path, record, "token-budget", {"max": 9})
