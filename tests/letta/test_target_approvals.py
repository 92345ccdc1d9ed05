"""Tools that wait for somebody: approvals, and tools that run here and not on the server."""

import pytest
from fakes.letta_runs import events, only_trial, run_suite

STREAMS = ["off", "steps", "tokens"]
APPROVED = {
    "tools": "server_tools.py",
    "include_base_tools": False,
    "tool_rules": [{"type": "requires_approval", "tool_name": "roll_out"}],
}


def target_of(letta_url, **more):
    target = {"base_url": letta_url, "script": "scripted.yaml", "agent": APPROVED, **more}
    return {**target, "models": ["scripted/asks"]}


@pytest.mark.parametrize("stream", STREAMS)
def test_an_approved_call_is_made(letta_url, tmp_path, stream):
    target = target_of(letta_url, approvals="approve", stream=stream)
    trial = only_trial(run_suite(tmp_path, target, ["Roll it out."]))
    assert trial.status == "completed"
    kinds = [type(event).__name__ for event in events(trial)]
    assert kinds == [
        "UserMessage",
        "ToolCall",
        "SystemEvent",
        "SystemEvent",
        "ToolResult",
        "AssistantMessage",
    ]
    [result] = events(trial, "ToolResult")
    assert (result.name, result.ok, result.output) == ("roll_out", True, "rolled out 2.4.0")
    assert events(trial)[-1].text == "Done: rolled out 2.4.0."
    asked, given = events(trial, "SystemEvent")
    assert (asked.kind, given.kind) == ("approval_request", "approval_response")
    assert len(trial.trajectory.turns[0].steps) == 2


@pytest.mark.parametrize("stream", STREAMS)
def test_a_denied_call_is_a_failed_result_and_the_trial_goes_on(letta_url, tmp_path, stream):
    target = target_of(letta_url, approvals="deny", stream=stream)
    trial = only_trial(run_suite(tmp_path, target, ["Roll it out."]))
    assert trial.status == "completed"
    [result] = events(trial, "ToolResult")
    assert not result.ok
    assert "denied" in result.output
    assert events(trial)[-1].text == "I was not allowed to."


def test_without_a_policy_the_trial_fails_and_says_what_to_set(letta_url, tmp_path):
    trial = only_trial(run_suite(tmp_path, target_of(letta_url), ["Roll it out."]))
    assert (trial.status, trial.error.code) == ("target_error", "bad_request")
    assert "roll_out" in trial.error.message
    assert "target.approvals" in trial.error.message
    assert [call.name for call in events(trial, "ToolCall")] == ["roll_out"]


FIXTURE = """
import json

from harness import fixture


class Deployments(list):
    def snapshot(self):
        return list(self)


@fixture(scope="trial")
def deployments():
    yield Deployments()


def roll_out(version: str, deployments: Deployments) -> dict:
    '''Roll a release out.

    Args:
        version: Its version.
    '''
    if {raising}:
        raise RuntimeError("no room left")
    deployments.append(version)
    return {{"state": f"rolled out {{version}}"}}
"""


@pytest.mark.parametrize("stream", STREAMS)
def test_a_client_side_tool_runs_here_with_its_fixtures(letta_url, tmp_path, stream):
    (tmp_path / "client_tools.py").write_text(FIXTURE.format(raising=False), encoding="utf-8")
    agent = {"include_base_tools": False}
    target = target_of(letta_url, agent=agent, client_tools="client_tools.py", stream=stream)
    trial = only_trial(run_suite(tmp_path, target, ["Roll it out."]))
    assert trial.status == "completed"
    assert trial.snapshots["deployments"] == ["2.4.0"]
    [result] = events(trial, "ToolResult")
    assert result.structured == {"state": "rolled out 2.4.0"}
    assert (result.name, result.ok) == ("roll_out", True)
    assert events(trial)[-1].text == "Done: rolled out 2.4.0."


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("more", [{"approvals": "deny"}, {"client_tools": "client_tools.py"}])
def test_every_call_of_a_turn_is_answered_once(letta_url, tmp_path, stream, more):
    (tmp_path / "client_tools.py").write_text(FIXTURE.format(raising=False), encoding="utf-8")
    agent = {"include_base_tools": False} if "client_tools" in more else APPROVED
    target = target_of(letta_url, agent=agent, stream=stream, **more)
    run = run_suite(tmp_path, {**target, "models": ["scripted/asks-twice"]}, ["Roll it out."])
    trial = only_trial(run)
    assert trial.status == "completed"
    calls, results = events(trial, "ToolCall"), events(trial, "ToolResult")
    assert [call.arguments["version"] for call in calls] == ["1", "2"]
    assert [result.call_id for result in results] == [call.call_id for call in calls]
    assert len(trial.trajectory.turns[0].steps) == 3


def test_a_client_side_tool_that_raises_is_a_failed_result(letta_url, tmp_path):
    (tmp_path / "client_tools.py").write_text(FIXTURE.format(raising=True), encoding="utf-8")
    agent = {"include_base_tools": False}
    target = target_of(letta_url, agent=agent, client_tools="client_tools.py")
    trial = only_trial(run_suite(tmp_path, target, ["Roll it out."]))
    [result] = events(trial, "ToolResult")
    assert not result.ok
    assert "RuntimeError: no room left" in result.output
    assert trial.status == "completed"
