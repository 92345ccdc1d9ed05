"""Runs that are killed, interrupted or refused, and then gone on with: real processes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

COMMAND = (sys.executable, "-m", "harness.cli")
AGENT = """
import asyncio, os

async def quick(sample):
    note(sample)
    await asyncio.sleep(0.03)
    return f"answer to {sample.input}"

async def slow(sample):
    note(sample)
    if sample.id not in ("s0", "s1"):
        await asyncio.sleep(60)
    return "answer"

def note(sample):
    with open("driven.log", "a", encoding="utf-8") as log:
        log.write(sample.id + "\\n")
"""
SUITE = """
name: nightly
dataset: samples.jsonl
target: {kind: python, agent: "agent.py:AGENT"}
graders:
  right: {kind: tool, function: contains}
limits: {concurrency: 3}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    use(tmp_path, "quick")
    rows = [
        {"id": f"s{n}", "input": f"question {n}", "ground_truth": "answer" if n % 3 else "else"}
        for n in range(40)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "samples.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def use(folder, agent):
    (folder / "suite.yaml").write_text(SUITE.replace("AGENT", agent), encoding="utf-8")


def start(folder, *words, **options):
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=folder,
        text=True,
        encoding="utf-8",
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def regrade(folder, *words):
    process = start(folder, *words)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def stored(folder):
    """Give the stored trials of the only run."""
    lines = (only_run(folder) / "trials.jsonl").read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def only_run(folder):
    (run,) = (path for path in (folder / "runs").iterdir() if not path.name.startswith("."))
    return run


def count(folder):
    runs = folder / "runs"
    return sum(path.read_bytes().count(b"\n") for path in runs.glob("[!.]*/trials.jsonl"))


def wait_for_trials(folder, process, wanted):
    wait_for(lambda: count(folder) >= wanted or process.poll() is not None)


def facts(trials):
    return sorted((t["sample_id"], t["status"], t["score"], t["passed"]) for t in trials)


def test_a_run_that_is_killed_again_and_again_ends_as_if_it_had_never_been(folder):
    chance = random.Random(5)
    process = start(folder, "run", ".", "--quiet")
    for _ in range(3):
        wait_for_trials(folder, process, count(folder) + chance.randrange(1, 9))
        process.kill()
        process.communicate()
        before = facts(stored(folder))
        process = start(folder, "run", "--resume", "latest", "--quiet")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    after = facts(stored(folder))
    assert Counter(before) - Counter(after) == Counter()
    assert after == facts(straight_run(folder))
    # A trial is driven again only where it was under way when the run was killed.
    driven = Counter((folder / "driven.log").read_text("utf-8").split())
    assert sum(driven.values()) <= 40 + 3 * 3 + 40
    assert "40 trials on 1 model" in out


def straight_run(folder):
    code, _, _ = regrade(folder, "run", ".", "--quiet", "--out", "others")
    assert code == 0
    (log,) = (folder / "others").glob("*/trials.jsonl")
    return [json.loads(line) for line in log.read_bytes().splitlines()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_in_order_and_going_on_completes_it(folder, number):
    use(folder, "slow")
    process = start(folder, "run", ".", "--quiet")
    wait_for(lambda: (folder / "runs").exists() and count(folder) >= 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert "regrade run --resume" in out
    statuses = Counter(trial["status"] for trial in stored(folder))
    assert statuses == {"completed": 2, "interrupted": 3}
    cut_off = next(trial for trial in stored(folder) if trial["status"] == "interrupted")
    assert cut_off["trajectory"]["turns"][0]["events"][0]["type"] == "user_message"
    _, shown, _ = regrade(folder, "show", "latest", cut_off["sample_id"])
    assert "interrupted" in shown
    use(folder, "quick")
    code, out, err = regrade(folder, "run", "--resume", "latest", "--quiet")
    assert code == 0, err
    assert "the target has changed" in err
    lines = len(stored(folder))
    assert regrade(folder, "run", "--resume", "latest", "--quiet")[0] == 0
    assert len(stored(folder)) == lines


def test_the_second_signal_ends_at_once_and_damages_nothing(folder):
    stubborn = AGENT + (
        "\nasync def stubborn(sample):\n    note(sample)\n    while True:\n        try:\n"
        "            await asyncio.sleep(60)\n        except asyncio.CancelledError:\n"
        "            pass\n"
    )
    (folder / "agent.py").write_text(stubborn, encoding="utf-8")
    use(folder, "stubborn")
    process = start(folder, "run", ".", "--quiet")
    wait_for((folder / "driven.log").exists)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: process.poll() is not None or process.send_signal(signal.SIGINT))
    process.communicate()
    assert process.returncode == 130
    use(folder, "quick")
    code, _, err = regrade(folder, "run", "--resume", "latest", "--quiet")
    assert code == 0, err


def test_a_second_process_is_kept_out_in_one_line(folder):
    use(folder, "slow")
    process = start(folder, "run", ".", "--quiet")
    wait_for(lambda: (folder / "runs").exists() and count(folder) >= 2)
    try:
        code, _, err = regrade(folder, "run", "--resume", "latest")
        assert code == 3
        assert len(err.splitlines()) == 1
        assert f"another process writes to this run: process {process.pid} on " in err
        code, _, err = regrade(folder, "clean", "latest")
        assert (code, f"process {process.pid}" in err) == (2, True)
        code, out, _ = regrade(folder, "show", "latest")
        assert f"still under way: process {process.pid}" in " ".join(out.split())
    finally:
        process.kill()
        process.communicate()
    shown = " ".join(regrade(folder, "show", "latest")[1].split())
    assert "it ended before its summary was written" in shown


@pytest.mark.parametrize("words", [("--retry-errors",), ("--salvage", "."), ()])
def test_going_on_needs_a_run(folder, words):
    code, _, err = regrade(folder, "run", *words)
    assert code == 2
    assert "--resume" in err


def test_a_damaged_log_is_one_line_and_salvaged_when_asked(folder):
    assert regrade(folder, "run", ".", "--quiet")[0] == 0
    log = only_run(folder) / "trials.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:3], lines[3][:200], *lines[4:]]))
    for words in (("run", "--resume", "latest"), ("grade", "latest")):
        code, _, err = regrade(folder, *words, "--quiet")
        assert (code, len(err.splitlines())) == (3, 1)
        assert "trials.jsonl:4: the line is no trial" in err
        assert "--salvage" in err
    code, out, _ = regrade(folder, "grade", "latest", "--salvage", "--quiet", "--out", "graded")
    assert (code, "39 trials of 40 planned" in out) == (3, True)
    code, out, err = regrade(folder, "run", "--resume", "latest", "--salvage", "--quiet")
    assert (code, "40 trials on" in out) == (0, True), err
    assert (only_run(folder) / "damaged.jsonl").read_bytes() == lines[3][:200] + b"\n"


def test_a_full_disk_ends_the_run_in_order_and_going_on_completes_it(folder):
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000));"
        "from harness.cli import main; sys.argv[0] = 'regrade'; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", limited, "run", ".", "--quiet"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert process.returncode == 3, process.stderr
    assert "cannot write the results" in process.stdout
    assert "regrade run --resume" in process.stdout
    kept = facts(stored(folder))
    assert 2 < len(kept) < 40
    assert regrade(folder, "run", "--resume", "latest", "--quiet")[0] == 0
    assert Counter(kept) - Counter(facts(stored(folder))) == Counter()
    assert facts(stored(folder)) == facts(straight_run(folder))


@pytest.mark.parametrize("closed", [("stdout", "stderr"), ("stderr",)])
def test_a_reader_that_goes_away_does_not_lose_the_run(folder, closed):
    with start(folder, "run", ".") as process:
        for name in closed:
            getattr(process, name).close()
        process.wait(timeout=120)
    assert process.returncode == 0
    assert len(stored(folder)) == 40
    assert (only_run(folder) / "summary.json").is_file()


def test_a_run_whose_terminal_is_lost_ends_in_order(folder):
    use(folder, "slow")
    terminal, side = os.openpty()
    process = start(folder, "run", ".", stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    wait_for(lambda: (folder / "runs").exists() and count(folder) >= 2)
    os.close(terminal)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=30) == 130
    assert (only_run(folder) / "summary.json").is_file()
