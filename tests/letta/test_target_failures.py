"""What goes wrong on a real Letta server: which of it is tried again, and what a user is told."""

import socket
from contextlib import ExitStack

import pytest
from fakes.letta_runs import (
    clean,
    command,
    events,
    history,
    only_trial,
    run_suite,
    tagged,
    write_suite,
)

INLINE = {"tools": "server_tools.py", "include_base_tools": False}
STREAMS = ["off", "steps", "tokens"]


def target_of(letta_url, model, **more):
    target = {"base_url": letta_url, "script": "scripted.yaml", "agent": INLINE, **more}
    return {**target, "models": [f"scripted/{model}"]}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("trouble", ["500", "429"])
def test_a_failure_in_the_second_step_is_tried_again_on_a_fresh_agent(
    letta, letta_url, tmp_path, stream, trouble
):
    target = target_of(letta_url, f"second-step-{trouble}", stream=stream, keep_agents=True)
    run = run_suite(tmp_path, target, retries={"attempts": 3})
    agents = tagged(letta, run)
    try:
        trial = only_trial(run)
        codes = [attempt.error and attempt.error.code for attempt in trial.attempts]
        assert codes == [{"500": "server_error", "429": "rate_limited"}[trouble], None]
        assert trial.passed
        assert len(events(trial, "UserMessage")) == 1
        assert len(agents) == 2
        for agent in agents:
            kinds = [message.message_type for message in history(letta, agent.id)]
            assert kinds.count("user_message") == 1
            assert kinds.count("tool_return_message") == 1
    finally:
        clean(tmp_path, run)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    ("model", "outcome"),
    [
        ("down", ("server_error", 2)),
        ("limited", ("rate_limited", 2)),
        ("no-credit", ("quota_exhausted", 1)),
        ("unauthorised", ("unauthorized", 1)),
        ("forbidden", ("forbidden", 1)),
        ("gone", ("not_found", 1)),
        ("malformed", ("bad_request", 1)),
        ("context", ("context_length", 1)),
        ("garbled", ("server_error", 2)),
        ("torn", ("server_error", 2)),
    ],
)
def test_a_failure_of_the_model_is_retried_where_that_can_help(
    letta_url, tmp_path, stream, model, outcome
):
    target = target_of(letta_url, model, stream=stream)
    trial = only_trial(run_suite(tmp_path, target, retries={"attempts": 2}))
    assert trial.status == "target_error"
    assert (trial.error.code, len(trial.attempts)) == outcome
    assert "\n" not in trial.error.message


def test_an_agent_that_still_waits_for_an_approval_is_not_asked_again(letta, letta_url, tmp_path):
    target = target_of(letta_url, "asks", keep_agents=True, agent={**INLINE, **NEEDS_APPROVAL})
    run = run_suite(tmp_path, target, retries={"attempts": 3})
    [agent] = tagged(letta, run)
    try:
        assert only_trial(run).error.code == "bad_request"
        again = {"base_url": letta_url, "agent_id": agent.id, "in_place": True}
        folder = tmp_path / "again"
        folder.mkdir()
        trial = only_trial(run_suite(folder, again, ["Hello."], retries={"attempts": 3}))
        assert trial.error.code == "bad_request"
        assert "waiting for approval" in trial.error.message
        assert len(trial.attempts) == 1
    finally:
        clean(tmp_path, run)


NEEDS_APPROVAL = {"tool_rules": [{"type": "requires_approval", "tool_name": "roll_out"}]}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def locked(start_letta):
    """Give a server that asks for a key."""
    with ExitStack() as stack:
        yield stack.enter_context(start_letta("--password", "open-sesame"))


UNKNOWN = "agent-123e4567-e89b-42d3-a456-426614174000"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"agent_id": UNKNOWN}, f"Agent with ID {UNKNOWN} not found"),
        ({"agent_id": UNKNOWN, "in_place": True}, f"Agent with ID {UNKNOWN} not found"),
        ({"agent_id": "nobody"}, "pattern 'agent-"),
        ({"models": ["openai-proxy/scripted/plian"]}, 'no model "openai-proxy/scripted/plian"'),
        ({"agent": {"model": "openai-proxy/none"}, "models": ["default"]}, "openai-proxy/none"),
        ({"agent": {"server_tools": ["no_such_tool"]}}, "no_such_tool"),
        ({"base_url": "http://127.0.0.1:{port}"}, "check base_url, and that the server runs"),
    ],
)
def test_what_every_trial_would_meet_ends_the_run_in_one_line_before_it_begins(
    letta_url, tmp_path, change, told
):
    target = {"base_url": letta_url, "models": ["openai-proxy/scripted/plain"], **change}
    target["base_url"] = target["base_url"].format(port=free_port())
    if "agent_id" not in target:
        target.setdefault("agent", {})
    path = write_suite(tmp_path, target)
    done = command("run", path, "--quiet", cwd=tmp_path)
    assert done.returncode == 3
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not (tmp_path / "runs").exists()


def test_a_malformed_agent_file_is_one_line_at_its_place(letta_url, tmp_path):
    (tmp_path / "agent.af").write_text('{"agents": [{"name"', encoding="utf-8")
    path = write_suite(tmp_path, {"base_url": letta_url, "agent_file": "agent.af"})
    done = command("run", path, "--quiet", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "agent.af: " in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_agent_file_that_the_server_refuses_ends_the_run_before_it_begins(letta_url, tmp_path):
    (tmp_path / "agent.af").write_text('{"agents": [{"name": 3}]}', encoding="utf-8")
    path = write_suite(tmp_path, {"base_url": letta_url, "agent_file": "agent.af"})
    done = command("run", path, "--quiet", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_suite_without_a_model_is_warned_of_by_its_place_and_ends_before_it_begins(
    letta_url, tmp_path
):
    path = write_suite(tmp_path, {"base_url": letta_url, "models": ["default"], "agent": {}})
    done = command("run", path, "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    warning, end = done.stderr.splitlines()
    assert "target.agent: no model is named" in warning
    assert end.startswith("no model is named; set target.models")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("key", [None, "wrong-key-value"])
def test_a_wrong_key_is_one_line_that_does_not_show_it(locked, tmp_path, key):
    target = {"base_url": locked.url, "models": ["openai-proxy/scripted/plain"], "agent": {}}
    path = write_suite(tmp_path, target)
    env = {} if key is None else {"LETTA_API_KEY": key}
    done = command("run", path, "--quiet", cwd=tmp_path, env=env)
    assert done.returncode == 3
    assert "401" in done.stderr
    assert "LETTA_API_KEY" in done.stderr
    assert done.stderr.count("\n") == 1
    assert key is None or key not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_right_key_is_sent_and_stored_nowhere(locked, tmp_path):
    target = {"base_url": locked.url, "models": ["openai-proxy/scripted/plain"], "agent": {}}
    path = write_suite(tmp_path, {**target, "api_key": "${MY_LETTA_KEY}"})
    done = command(
        "run", path, "--quiet", "--out", tmp_path / "runs", env={"MY_LETTA_KEY": "open-sesame"}
    )
    assert done.returncode == 0
    stored = [file.read_text(encoding="utf-8") for file in (tmp_path / "runs").rglob("*.json*")]
    assert stored
    assert "open-sesame" not in "".join(stored)


def test_letta_cloud_is_not_asked_without_a_key(tmp_path):
    path = write_suite(tmp_path, {"agent": {}, "models": ["openai/gpt-4.1"]})
    done = command("run", path, "--quiet", cwd=tmp_path)
    assert done.returncode == 3
    assert "LETTA_API_KEY is not set" in done.stderr
    assert not (tmp_path / "runs").exists()
