"""Suites on a real Letta server: written into a folder, run, and what the server has afterwards."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import harness

DATA = Path(__file__).parents[1] / "data" / "letta_target"
TRAIN = "rt_4f1c09a2b7d3e658"
TOOLS = ("train_of", "owner_of", "roll_out", "go_bang")
QUIET = {"max_error_rate": 1, "concurrency": 4}


def write_suite(folder, target, inputs=("When does cart-api leave?",), **entries):
    """Write a suite with the tools beside it; `inputs` are those of its samples, or whole rows."""
    for name in ("server_tools.py", "scripted.yaml"):
        if not (folder / name).exists():
            shutil.copy(DATA / name, folder)
    rows = [
        row if isinstance(row, dict) else {"id": f"s{index}", "input": row}
        for index, row in enumerate(inputs)
    ]
    suite = {
        "name": "letta-test",
        "target": {"kind": "letta", **target},
        "samples": rows,
        "graders": {"spoke": {"kind": "tool", "function": "ascii_printable_only"}},
        "limits": QUIET,
        "retries": {"attempts": 1},
        **entries,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


def write_own_tools(folder):
    """Write the tools under names that no other test has: runs share tools of one name."""
    ending = f"_{uuid4().hex[:8]}"
    for name in ("server_tools.py", "scripted.yaml"):
        text = (DATA / name).read_text(encoding="utf-8")
        for tool in TOOLS:
            text = re.sub(rf"\b{tool}\b", tool + ending, text)
        (folder / name).write_text(text, encoding="utf-8")
    return [tool + ending for tool in TOOLS]


def run_suite(folder, target, inputs=("When does cart-api leave?",), **entries):
    """Run a suite in this process, and give the run."""
    return harness.run(write_suite(folder, target, inputs, **entries), out=folder / "runs")


def clean(folder, run):
    """Delete what a run of the suite in a folder left; give a line for each thing."""
    target = harness.Suite.from_yaml(folder / "suite.yaml").target.target
    return asyncio.run(target.clean(run.folder.name))


def only_trial(run):
    """Give the one trial of a run."""
    [trial] = run.trials()
    return trial


def command(*words, env=None, cwd=None):
    """Run `regrade` as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=120,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )


def events(trial, *kinds):
    """Give the events of all turns, of the named classes only where there are any."""
    found = list(trial.trajectory.events())
    return [event for event in found if type(event).__name__ in kinds] if kinds else found


def tagged(client, run):
    """Give the agents on the server that bear the tag of a run."""
    tags = ["regrade", f"regrade-run:{run.folder.name}"]
    page = client.agents.list(tags=tags, match_all_tags=True, order="asc", limit=100)
    return list(page)


def history(client, agent_id):
    """Give the messages of an agent, the oldest first."""
    return list(client.agents.messages.list(agent_id, order="asc", limit=100))
