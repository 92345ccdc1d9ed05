"""Runs against a real Letta server that dies, or that is not left in peace, or that are killed."""

import asyncio
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from statistics import median

import pytest
from fakes.letta_runs import command, events, run_suite, tagged, write_own_tools, write_suite
from letta_client import Letta

import harness

TOOLS = {"tools": "server_tools.py", "include_base_tools": False}
PATIENT = 60


def target_of(url, model, **more):
    target = {"base_url": url, "script": "scripted.yaml", "agent": TOOLS, **more}
    return {**target, "models": [f"scripted/{model}"]}


@pytest.fixture(scope="module")
def own_server(start_letta):
    """Give a server that may be killed."""
    with ExitStack() as stack:
        yield stack.enter_context(start_letta())


def wait_for(condition):
    """Wait until something is so, for a bounded time."""
    end = time.monotonic() + PATIENT
    while not condition():
        assert time.monotonic() < end, "it never was so"
        time.sleep(0.05)


def stored(folder):
    """Count the trials that are stored in the one run of a folder."""
    return sum(
        len(file.read_bytes().splitlines()) for file in (folder / "runs").rglob("trials.jsonl")
    )


def test_a_server_that_is_killed_and_restarted_costs_no_finished_trial(own_server, tmp_path):
    inputs = [f"Question {number}." for number in range(60)]
    path = write_suite(
        tmp_path,
        target_of(own_server.url, "unhurried"),
        inputs,
        limits={"concurrency": 8, "turn_seconds": 60, "max_error_rate": 1},
        retries={"attempts": 30},
    )
    before = []

    def kill_and_restart():
        wait_for(lambda: stored(tmp_path) >= 10)
        own_server.kill()
        before.extend(line.sample_id for run in _runs(tmp_path) for line in run.trials())
        own_server.restart()

    killer = threading.Thread(target=kill_and_restart)
    killer.start()
    run = harness.run(path, out=tmp_path / "runs")
    killer.join()
    trials = list(run.trials())
    assert len(before) >= 10
    assert sorted(trial.sample_id for trial in trials) == sorted(f"s{n}" for n in range(60))
    assert {trial.status for trial in trials} == {"completed"}
    assert max(len(trial.attempts) for trial in trials) > 1
    codes = {a.error.code for trial in trials for a in trial.attempts if a.error}
    assert codes <= {"connection_lost", "connection_refused", "stream_cut", "server_error"}
    with Letta(base_url=own_server.url, api_key="unused") as client:
        assert tagged(client, run) == []


def _runs(folder):
    return [harness.load_run(found) for found in (folder / "runs").glob("[!.]*")]


def test_two_hundred_trials_at_concurrency_sixteen_end_without_a_stall(letta, letta_url, tmp_path):
    inputs = [f"When does cart-api leave, number {number}?" for number in range(200)]
    run = run_suite(
        tmp_path,
        target_of(letta_url, "lookup"),
        inputs,
        limits={"concurrency": 16, "turn_seconds": 120},
    )
    trials = list(run.trials())
    assert run.passed
    assert len(trials) == 200
    assert all(len(trial.attempts) == 1 for trial in trials)
    assert all(len(events(trial, "ToolResult")) == 1 for trial in trials)
    seconds = sorted(trial.timing.target_seconds for trial in trials)
    # A stall of the server is a minute.
    assert seconds[-1] < median(seconds) + 50
    assert tagged(letta, run) == []


def start(path, folder):
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "run", path, "--quiet", "--out", folder / "runs"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run_id_of(folder):
    wait_for(lambda: any((folder / "runs").glob("*/manifest.json")))
    [found] = (folder / "runs").glob("[!.]*")
    return found.name


def agents_of(letta, run_id):
    tags = ["regrade", f"regrade-run:{run_id}"]
    return list(letta.agents.list(tags=tags, match_all_tags=True, order="asc", limit=100).items)


def test_what_a_killed_run_left_is_cleaned_and_nothing_else(letta, letta_url, tmp_path):
    write_own_tools(tmp_path)
    path = write_suite(tmp_path, target_of(letta_url, "hangs"), ["One.", "Two.", "Three."])
    bystander = letta.agents.create(
        name="bystander", model="openai-proxy/scripted/plain", tags=["regrade"]
    )
    process = start(path, tmp_path)
    try:
        run_id = run_id_of(tmp_path)
        wait_for(lambda: len(agents_of(letta, run_id)) == 3)
        process.kill()
        process.wait()
        assert len(agents_of(letta, run_id)) == 3
        done = command("clean", run_id, "--out", tmp_path / "runs")
        assert done.returncode == 0
        assert done.stdout.count("deleted agent ") == 3
        assert done.stdout.count("deleted tool ") == 4
        assert agents_of(letta, run_id) == []
        assert letta.agents.retrieve(bystander.id).name == "bystander"
        again = command("clean", tmp_path / "runs" / run_id)
        assert (again.returncode, again.stdout) == (0, "nothing was left\n")
    finally:
        process.kill()
        process.wait()
        letta.agents.delete(bystander.id)


def test_a_run_that_is_interrupted_deletes_its_agents(letta, letta_url, tmp_path):
    path = write_suite(tmp_path, target_of(letta_url, "hangs"), ["One.", "Two."])
    process = start(path, tmp_path)
    try:
        run_id = run_id_of(tmp_path)
        wait_for(lambda: len(agents_of(letta, run_id)) == 2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENT) == 130
        assert agents_of(letta, run_id) == []
    finally:
        process.kill()
        process.wait()


def test_a_run_without_a_directory_is_cleaned_by_its_name_and_its_suite(letta, letta_url, tmp_path):
    path = write_suite(tmp_path, target_of(letta_url, "plain"))
    made = letta.agents.create(
        name="left",
        model="openai-proxy/scripted/plain",
        tags=["regrade", "regrade-run:lost-run-1"],
    )
    done = command("clean", "lost-run-1", "--suite", path, cwd=tmp_path)
    assert done.returncode == 0
    assert made.id in done.stdout
    assert command("clean", "lost-run-1", cwd=tmp_path).returncode == 2


def test_two_runs_share_their_tools_and_the_last_one_deletes_them(letta, letta_url, tmp_path):
    target = target_of(letta_url, "lookup")
    folders = [tmp_path / name for name in ("one", "two")]
    paths = []
    tools = write_own_tools(tmp_path)
    for folder in folders:
        folder.mkdir()
        for file in ("server_tools.py", "scripted.yaml"):
            shutil.copy(tmp_path / file, folder)
        paths.append(write_suite(folder, target, [f"About cart-api, {n}?" for n in range(6)]))

    async def both():
        return await asyncio.gather(
            *(harness.run_async(p, out=p.parent / "runs", concurrency=1) for p in paths)
        )

    runs = asyncio.run(both())
    assert all(run.passed for run in runs)
    assert [letta.tools.list(name=name, limit=10).items for name in tools] == [[]] * len(tools)
