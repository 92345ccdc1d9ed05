"""What grading records of other tools takes: memory for a large file, and time for many records.

The peak memory of the whole command is measured in a process of its own, on 200 MB of Chat
Completions conversations, one a line and as one list. Exits with 1 where a promise is not kept.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

REGRADE = Path(sys.executable).parent / "regrade"
MEGABYTES, MOST_MEGABYTES = 200, 300
SAMPLES, REPEATS = 2_500, 4
AGENTS = ("careful", "hasty")
MAP = "sample=instance_id,model=agent.name,outcome=resolved"
SUITE = """\
name: foreign
graders:
  told: {type: assistant-contains-tool-output, config: {tools: [lookup], pattern: 'id=(\\w+)'}}
gates: [{metric: recorded.resolved, model: careful, op: gte, value: 1}]
"""


def records(samples: int, *, padding: int) -> Iterator[bytes]:
    """Give conversations of two agents, each sample several times; `padding` makes them long."""
    chance = random.Random(7)
    for sample in range(samples):
        for _ in range(REPEATS):
            for agent in AGENTS:
                wrong = agent == "hasty" and chance.random() < 0.3
                yield json.dumps(record(sample, agent, padding, wrong=wrong)).encode() + b"\n"


def record(sample: int, agent: str, padding: int, *, wrong: bool) -> dict[str, object]:
    """Make one conversation: a question, a call, its result, an answer."""
    call = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "Look everything up. " + "x" * padding},
        {"role": "user", "content": f"Where is parcel {sample}?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"id=K{sample}"},
        {"role": "assistant", "content": "It is lost." if wrong else f"It is K{sample}."},
    ]
    fields = {"instance_id": f"parcel-{sample}", "agent": {"name": agent}, "resolved": not wrong}
    return {**fields, "messages": messages}


def write(path: Path, *, samples: int, padding: int = 0, megabytes: int | None = None) -> None:
    """Write records, up to so many megabytes: one a line, or as one list on one line (`.json`)."""
    is_list = path.suffix == ".json"
    with path.open("wb") as file:
        for number, line in enumerate(records(samples, padding=padding)):
            before = b"," if number else b"["
            file.write(before + line.rstrip() if is_list else line)
            if megabytes is not None and file.tell() > megabytes * 2**20:
                break
        file.write(b"]" if is_list else b"")


def spend(folder: Path, *words: str) -> tuple[float, float]:
    """Run a command; return its wall seconds and its peak memory in MiB."""
    started = time.perf_counter()
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen([REGRADE, *words], cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        text = (folder / "output.txt").read_text(encoding="utf-8")[-2000:]
        raise SystemExit(f"regrade {' '.join(words)} ended with {process.returncode}:\n{text}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - started, usage.ru_maxrss * unit / 2**20


def show(line: str) -> None:
    """Tell a number as soon as it is known."""
    Console().print(line, highlight=False)


def grade_large(folder: Path, name: str) -> float:
    """Grade a large file of a name; return the peak memory in MiB."""
    write(folder / name, samples=10**9, padding=4_500, megabytes=MEGABYTES)
    grade = ("grade", name, "--suite", ".", "--map", MAP, "--quiet")
    seconds, memory = spend(folder, *grade)
    show(f"{MEGABYTES} MB in {name}: {memory:.0f} MiB at most (promised: {MOST_MEGABYTES})")
    show(f"  graded in {seconds:.1f} s")
    (folder / name).unlink()
    return memory


def main() -> None:
    """Measure both, print them, and exit with 1 where memory is above what is promised."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
        memory = max(grade_large(folder, name) for name in ("large.jsonl", "large.json"))
        write(folder / "many.jsonl", samples=SAMPLES)
        for words in (
            ("grade", "many.jsonl", "--suite", ".", "--map", MAP, "--quiet"),
            ("export", "latest", "--to", "csv", "--out", "table.csv"),
            ("show", "latest"),
        ):
            seconds, _ = spend(folder, *words)
            show(f"{SAMPLES * REPEATS * len(AGENTS):,} records, {words[0]}: {seconds:.1f} s")
    sys.exit(memory > MOST_MEGABYTES)


if __name__ == "__main__":
    main()
