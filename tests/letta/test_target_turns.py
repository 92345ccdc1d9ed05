"""Turns of agents on a real Letta server, and what is recorded of them."""

import msgspec
import pytest
from fakes.letta_runs import TRAIN, clean, events, only_trial, run_suite

MODEL = "scripted/"
PARALLEL = {"model_settings": {"provider_type": "openai", "parallel_tool_calls": True}}
STREAMS = ["off", "steps", "tokens"]


def inline(letta_url, model, **more):
    agent = {
        "system": "You look up release trains.",
        "tools": "server_tools.py",
        "include_base_tools": False,
        **more.pop("agent", {}),
    }
    return {
        "base_url": letta_url,
        "models": [MODEL + model],
        "script": "scripted.yaml",
        "agent": agent,
        **more,
    }


def record(trial):
    """Give a trajectory without the times, and with the ids that the server makes up replaced."""
    turns = msgspec.to_builtins(trial.trajectory)["turns"]
    for turn in turns:
        turn["events"] = [{k: v for k, v in e.items() if k != "at"} for e in turn["events"]]
        for event in turn["events"]:
            if event.get("structured"):
                # A traceback names a temporary file.
                event["structured"].pop("stderr", None)
    return turns


@pytest.mark.parametrize(
    ("model", "inputs", "agent"),
    [
        ("plain", "Hello.", {}),
        ("lookup", ["When does cart-api leave?", "And login-portal?"], {}),
        ("raiser", "Explode, please.", {}),
        ("parallel", "cart-api and login-portal", PARALLEL),
        ("parallel", "cart-api and login-portal", {}),
        ("bad_arguments", "When does cart-api leave?", {}),
        ("endless", "When does cart-api leave?", {}),
    ],
)
def test_blocking_steps_and_tokens_give_the_same_trajectory(
    letta_url, tmp_path, model, inputs, agent
):
    records = {}
    for stream in STREAMS:
        folder = tmp_path / stream
        folder.mkdir()
        target = inline(letta_url, model, agent=agent, stream=stream, max_steps=3)
        trial = only_trial(run_suite(folder, target, [{"id": "a", "input": inputs}]))
        records[stream] = (trial.status, record(trial), trial.usage)
    assert records["steps"] == records["off"]
    assert records["tokens"] == records["off"]


def test_parallel_calls_give_as_many_calls_and_results(letta_url, tmp_path):
    target = inline(letta_url, "parallel", agent=PARALLEL)
    trial = only_trial(run_suite(tmp_path, target, ["cart-api and login-portal"]))
    calls, results = events(trial, "ToolCall"), events(trial, "ToolResult")
    assert [call.arguments for call in calls] == [
        {"service": "cart-api"},
        {"service": "login-portal"},
    ]
    assert [result.call_id for result in results] == [call.call_id for call in calls]
    assert [result.name for result in results] == ["train_of"] * 2
    assert TRAIN in results[0].output
    assert TRAIN not in results[1].output


def test_a_raising_tool_is_a_failed_result_and_the_trial_goes_on(letta_url, tmp_path):
    trial = only_trial(run_suite(tmp_path, inline(letta_url, "raiser"), ["Explode, please."]))
    [result] = events(trial, "ToolResult")
    assert not result.ok
    assert "RuntimeError: boom: scripted" in result.output
    assert result.structured["stdout"] == ["before the bang\n"]
    assert "Traceback" in "".join(result.structured["stderr"])
    assert trial.status == "completed"
    assert events(trial)[-1].text.startswith("The tool failed")


def test_turns_are_a_conversation_with_the_same_agent(letta_url, tmp_path):
    sample = {"id": "a", "input": ["The code is 4711.", "What did I say first?"]}
    trial = only_trial(run_suite(tmp_path, inline(letta_url, "memory"), [sample]))
    assert len(trial.trajectory.turns) == 2
    assert "The code is 4711." in events(trial)[-1].text


def test_each_step_has_its_usage_and_the_model_that_was_served(letta_url, tmp_path):
    trial = only_trial(run_suite(tmp_path, inline(letta_url, "lookup")))
    first, second = trial.trajectory.turns[0].steps
    assert first.model == second.model == "scripted/lookup"
    assert second.stop_reason == "end_turn"
    assert first.usage.input_tokens < second.usage.input_tokens
    assert trial.usage == first.usage + second.usage
    assert trial.usage.cost_usd is None
    assert {event.step for event in events(trial, "ToolCall", "ToolResult")} == {0}
    assert events(trial, "AssistantMessage")[0].step == 1


def test_an_agent_that_uses_up_its_steps_has_failed(letta_url, tmp_path):
    trial = only_trial(run_suite(tmp_path, inline(letta_url, "endless", max_steps=2)))
    assert (trial.status, trial.error.code) == ("agent_failure", "max_steps")
    assert len(events(trial, "ToolCall")) == 2
    assert len(trial.trajectory.turns[0].steps) == 2


@pytest.mark.parametrize("stream", STREAMS)
def test_a_turn_without_a_message_of_the_agent_is_no_answer(letta_url, tmp_path, stream):
    target = inline(letta_url, "empty", stream=stream)
    trial = only_trial(run_suite(tmp_path, target))
    assert (trial.status, trial.error.code) == ("target_error", "bad_reply")


@pytest.mark.parametrize("stream", STREAMS)
def test_a_turn_that_is_over_time_is_cancelled_and_what_happened_is_kept(
    letta, letta_url, tmp_path, stream
):
    target = inline(letta_url, "endless", stream=stream, keep_agents=True)
    limits = {"turn_seconds": 2, "max_error_rate": 1}
    run = run_suite(tmp_path, target, limits=limits)
    trial = only_trial(run)
    agent_id = trial.snapshots["agent_state"]["id"]
    try:
        assert (trial.status, trial.error.code) == ("agent_failure", "turn_timeout")
        assert bool(events(trial, "ToolCall")) is (stream != "off")
        [found] = letta.runs.list(agent_id=agent_id, limit=10).items
        assert found.status == "cancelled"
    finally:
        clean(tmp_path, run)


def test_what_a_compaction_leaves_behind_is_no_answer(letta_url, tmp_path):
    said = [f"Tell me {number}: " + "more and more words " * 300 for number in range(6)]
    agent = {"context_window_limit": 4000}
    target = {**inline(letta_url, "", agent=agent), "models": ["openai-proxy/scripted/plain"]}
    trial = only_trial(run_suite(tmp_path, target, [{"id": "a", "input": said}]))
    assert trial.status == "completed"
    assert events(trial, "SystemEvent")
    for text, turn in zip(said, trial.trajectory.turns, strict=True):
        answers = [e.text for e in turn.events if type(e).__name__ == "AssistantMessage"]
        assert answers == [f"You said: {text}"]
