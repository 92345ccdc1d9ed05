"""Suites on the real Letta Code, and small programs that stand in for it where they misbehave."""

import json
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import harness

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, os, subprocess, sys, time

if "--version" in sys.argv:
    print("9.9.9 (Letta Code)")
    sys.exit()
if "connect" in sys.argv:
    sys.exit(CONNECT)


def tell(**record):
    print(json.dumps(record), flush=True)


def init(agent="agent-local-1", conversation="local-conv-1"):
    tell(type="system", subtype="init", agent_id=agent, conversation_id=conversation, model="m")


def say(text, id="m1"):
    content = [{"type": "text", "text": text}]
    tell(type="message", message_type="assistant_message", id=id, content=content)


def end(**fields):
    tell(type="message", message_type="stop_reason", stop_reason="end_turn")
    tell(type="result", **{"subtype": "success", "result": "", "usage": None, **fields})


"""


def write_program(folder, source, connect=0):
    """Write a program that behaves like Letta Code up to its first turn; give the command.

    `source` is what it does in a turn; it has the functions `init`, `say`, `end` and `tell`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "stand_in.py"
    path.write_text(PROGRAM.replace("CONNECT", repr(connect)) + source, encoding="utf-8")
    return shlex.join([sys.executable, "-S", str(path)])


@cache
def letta_code():
    """Give the path of the pinned command, which is installed where it is not there yet."""
    done = subprocess.run(
        [ROOT / "scripts" / "letta-code"], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def write_code_suite(folder, script, target=None, samples=("Hello.",), **entries):
    """Write a suite of Letta Code; `script` are the models by name, all of which are run."""
    folder.mkdir(parents=True, exist_ok=True)
    models = {"alike": "prompts", "models": script}
    (folder / "models.yaml").write_text(json.dumps(models), encoding="utf-8")
    rows = [
        row if isinstance(row, dict) else {"id": f"s{index}", "input": row}
        for index, row in enumerate(samples)
    ]
    suite = {
        "name": "code",
        "target": {
            "kind": "letta_code",
            "command": letta_code(),
            "backend": "local",
            "flags": "--no-system-info-reminder",
            "models": [f"scripted/{name}" for name in script],
            "script": "models.yaml",
            **(target or {}),
        },
        "samples": rows,
        "graders": {"spoke": {"kind": "tool", "function": "ascii_printable_only"}},
        "limits": {"max_error_rate": 1, "concurrency": 4},
        "retries": {"attempts": 1},
        **entries,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


def run_code_suite(folder, script, target=None, samples=("Hello.",), **entries):
    """Run a suite of Letta Code; give its trials by model (and sample, where there are several)."""
    path = write_code_suite(folder, script, target, samples, **entries)
    trials = list(harness.run(path, out=folder / "runs").trials())
    name = "{0.model}" if len(samples) == 1 else "{0.model} {0.sample_id}"
    return {name.format(trial).removeprefix("scripted/"): trial for trial in trials}


def shape(trial):
    """Give what happened as short texts: the user's turns, and what followed each."""
    return [[_short(event) for event in turn.events] for turn in trial.trajectory.turns]


def _short(event):
    match type(event).__name__:
        case "UserMessage":
            return f"user: {event.text}"
        case "AssistantMessage":
            return f"agent: {event.text}"
        case "ToolCall":
            return f"call {event.name}"
        case "ToolResult":
            return f"{'ok' if event.ok else 'failed'} {event.name}: {event.output.strip()}"
        case "ErrorEvent":
            return f"error: {event.message}"
        case _:
            return event.kind


def processes_with(text):
    """Give the numbers of the processes whose environment or arguments hold a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            held = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in held:
            found.append(int(entry.name))
    return found
