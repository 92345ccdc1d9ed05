"""Letta Code where something fails: models, time limits, Ctrl-C, the command itself."""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from fakes.letta_code_runs import (
    processes_with,
    run_code_suite,
    shape,
    write_code_suite,
)
from fakes.letta_runs import command

LEFT = "left-by-an-agent"
"""Stands in the arguments of every process that the agent of these tests starts."""

STUCK = f"tail -F {{mark}}{LEFT} & setsid tail -F {{mark}}{LEFT} & tail -F {{mark}}{LEFT}"


def stuck(mark):
    """Give the rules of a model whose command never ends, and leaves others behind."""
    call = {"Bash": {"command": STUCK.format(mark=mark), "description": "x"}}
    return [{"when": {"replies": 0}, "call": call}, {"say": "Never."}]


def wait_until(holds, seconds=60):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came to it"
        time.sleep(0.05)


def test_failures_of_the_model_are_told_apart(tmp_path):
    script = {
        "malformed": [{"status": 400, "say": "The request is malformed."}],
        "refused": [{"status": 401, "code": "invalid_api_key", "say": "Incorrect API key."}],
        "long": [{"status": 400, "code": "context_length_exceeded", "say": "Too long."}],
        "limited": [{"status": 429, "say": "Slow down."}],
        "broken": [{"status": 500, "say": "Broken down."}],
        "garbled": [{"garbage": "<html>502</html>"}],
        "hiccup": [{"status": 500, "say": "Once.", "times": 1}, {"say": "Here I am."}],
    }
    limits = {"max_error_rate": 1, "concurrency": 8}
    trials = run_code_suite(tmp_path, script, limits=limits)
    assert {name: trial.error and trial.error.code for name, trial in trials.items()} == {
        "malformed": "bad_request",
        "refused": "unauthorized",
        "long": "context_length",
        "limited": "rate_limited",
        "broken": "server_error",
        "garbled": "bad_reply",
        "hiccup": None,
    }
    statuses = {name: trial.status for name, trial in trials.items()}
    assert statuses.pop("hiccup") == "completed"
    assert set(statuses.values()) == {"target_error"}
    told = trials["refused"].error.message
    assert told.startswith("letta: 401: [invalid_api_key] ")
    assert "Incorrect API key.; check the key" in told
    assert trials["broken"].error.message == (
        "letta: 500: [server_error] Broken down. (the command itself has asked 16 times)"
    )
    assert shape(trials["hiccup"]) == [["user: Hello.", "retry", "agent: Here I am."]]


def test_at_the_limit_all_that_the_agent_started_ends_and_what_it_did_stays(tmp_path):
    mark = str(tmp_path / "x")
    limits = {"max_error_rate": 1, "turn_seconds": 8}
    script = {"stuck": stuck(mark), "hangs": [{"seconds": 3600, "say": "Too late."}]}
    trials = run_code_suite(tmp_path, script, limits=limits)
    for trial in trials.values():
        assert (trial.error.code, trial.status) == ("turn_timeout", "agent_failure")
    assert shape(trials["stuck"]) == [["user: Hello.", "call Bash"]]
    assert shape(trials["hangs"]) == [["user: Hello."]]
    assert trials["stuck"].usage.input_tokens
    assert processes_with(mark + LEFT) == []


def test_an_interrupted_run_leaves_no_process_and_no_folder(tmp_path):
    mark, temporary = str(tmp_path / "x"), tmp_path / "temporary"
    temporary.mkdir()
    suite = write_code_suite(tmp_path, {"stuck": stuck(mark)})
    run = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "run", suite, "--out", tmp_path / "runs"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # The shell's own arguments hold the mark too.
        wait_until(lambda: len(processes_with(mark + LEFT)) >= 3)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
    finally:
        run.kill()
        run.wait()
    assert processes_with(mark + LEFT) == []
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"command": "no-such-letta"}, 'the command "no-such-letta" of Letta Code is not there'),
        ({"command": "./letta"}, 'the command "./letta" of Letta Code is not there'),
        (
            {"command": shlex.quote(sys.executable)},
            "is not Letta Code: asked for its version, it says: Python",
        ),
    ],
)
def test_without_the_command_a_run_ends_at_once_with_one_line(tmp_path, options, told):
    suite = write_code_suite(tmp_path, {"plain": [{"say": "Hi."}]}, options)
    done = command("run", suite, "--out", tmp_path / "runs")
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert told in line
    assert "pip install letta==" in line
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"flags": "--no-such-flag"}, "permission_mode: Error: Unknown option '--no-such-flag'"),
        ({"permission_mode": "foo"}, "Invalid permission mode: foo. Valid modes: unrestricted"),
        ({"backend": "server", "base_url": "http://127.0.0.1:9", "models": ["openai/gpt-4.1"]},
         "GET http://127.0.0.1:9/v1/models/: "),
        ({"backend": "server"}, "scripted/plain is served to the local backend only"),
    ],
)  # fmt: skip
def test_what_no_trial_could_be_driven_with_ends_a_run_before_the_first(tmp_path, options, told):
    suite = write_code_suite(tmp_path, {"plain": [{"say": "Hi."}]}, options)
    done = command("run", suite, "--out", tmp_path / "runs")
    assert done.returncode == 3
    assert told in done.stderr.splitlines()[-1]
    assert not (tmp_path / "runs").exists()


def test_a_model_that_the_server_does_not_have_is_found_before_any_trial(letta_url, tmp_path):
    options = {"backend": "server", "base_url": letta_url, "models": ["openai-proxy/scripted/plan"]}
    done = command("run", write_code_suite(tmp_path, {}, options), "--out", tmp_path / "runs")
    assert done.returncode == 3
    assert 'has no model "openai-proxy/scripted/plan"; did you mean' in done.stderr


def test_variables_to_pass_on_that_are_not_set_are_told(tmp_path):
    suite = write_code_suite(tmp_path, {"plain": [{"say": "Hi."}]}, {"pass_env": ["NO_SUCH_ONE"]})
    done = command("run", suite, "--out", tmp_path / "runs")
    assert done.returncode == 0
    assert "pass_env: the environment variable NO_SUCH_ONE is not set" in done.stdout + done.stderr


def test_what_the_command_refuses_is_said_by_its_first_line(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = {"models": ["nowhere/nothing", "openai/gpt-4.1"]}
    trials = run_code_suite(tmp_path, {"plain": [{"say": "Hi."}]}, options)
    found = {model: trial.error for model, trial in trials.items()}
    assert {name: error.code for name, error in found.items()} == {
        "nowhere/nothing": "not_found",
        "openai/gpt-4.1": "unauthorized",
    }
    assert 'provider "nowhere" is not registered' in found["nowhere/nothing"].message
    assert "Provider is not configured: openai" in found["openai/gpt-4.1"].message
