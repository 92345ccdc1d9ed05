"""Suites of the target `command`, whose agents are small programs."""

import json
import os
from contextlib import suppress
from pathlib import Path

import harness

PROGRAM = """
import json, os, signal, subprocess, sys, time


def tell(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def say(text):
    tell("assistant_message", text=text)


def turns():
    return map(json.loads, sys.stdin)


def start(source, *before, **options):
    subprocess.Popen([*before, sys.executable, "-S", "-c", source], **options)


SLEEP = "import time; time.sleep(600)"
DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"

"""


def command_suite(folder, source, target=None, samples=("Hello.",), **entries):
    """Write a suite whose agent is a program; `source` is what it does, with PROGRAM before it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.py").write_text(PROGRAM + source, encoding="utf-8")
    rows = [
        row if isinstance(row, dict) else {"id": f"s{index}", "input": row}
        for index, row in enumerate(samples)
    ]
    suite = {
        "name": "command",
        "target": {"kind": "command", "command": ["{python}", "-S", "agent.py"], **(target or {})},
        "samples": rows,
        "graders": {"spoke": {"kind": "tool", "function": "ascii_printable_only"}},
        "limits": {"max_error_rate": 1, "turn_seconds": 30},
        "retries": {"attempts": 1},
        **entries,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


def run_command_suite(folder, source, target=None, samples=("Hello.",), **entries):
    """Run a suite; give its trials in the order of the samples."""
    path = command_suite(folder, source, target, samples, **entries)
    run = harness.run(path, out=folder / "runs")
    return sorted(run.trials(), key=lambda trial: (trial.sample_id, trial.epoch))


def only_trial(folder, source, target=None, prompt="Hello.", **entries):
    """Run a suite of one sample; give its trial."""
    [trial] = run_command_suite(folder, source, target, [prompt], **entries)
    return trial


def events(trial):
    """Give the events as short texts, without the user's."""
    return [[_short(event) for event in turn.events[1:]] for turn in trial.trajectory.turns]


def _short(event):
    match type(event).__name__:
        case "AssistantMessage" | "Reasoning":
            return event.text
        case "ToolCall":
            return f"call {event.name} {event.arguments}"
        case "ToolResult":
            return f"{'ok' if event.ok else 'failed'} {event.name} {event.output}"
        case "ErrorEvent":
            return f"error {event.kind}: {event.message}"
        case _:
            return f"{event.kind}: {event.text}"


def working_in(folder):
    """Give the numbers of the processes that work in a folder, and have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if (entry / "cwd").readlink().is_relative_to(folder.resolve()):
                    found.append(int(entry.name))
    return found
