"""What Regrade costs beside the agents it drives, each as a ratio to a plain reference.

Measured are whole commands in processes of their own. Rates are per second of processor time, so
that a busy machine does not change them; a run's fixed cost (starting up) is measured by itself
and taken off. Exits with 1 where a promise is not kept.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

REGRADE = Path(sys.executable).parent / "regrade"
FEW, MANY = 10_000, 100_000
WAVES = 20
CONCURRENCIES = ((20, 1.0, 1.03), (200, 1.0, 1.03), (1_000, 1.0, 1.03), (200, 0.1, 1.05))
"""How many agents at once, how long each takes in seconds, the promised ratio."""

AGENT = """\
import asyncio

async def at_once(sample):
    return "the answer to " + sample.input

async def slow(sample):
    await asyncio.sleep({seconds})
    return "the answer to " + sample.input
"""

SUITE = """\
name: overhead
dataset: samples.jsonl
target: {{kind: python, agent: "agent.py:{agent}"}}
graders:
  answers: {{kind: tool, function: contains, extractor: last_assistant}}
limits: {{concurrency: {concurrency}}}
gates: [{{metric: answers, op: eq, value: 1}}]
"""

REFERENCE = """\
import asyncio, json, sys
from types import SimpleNamespace
from agent import at_once

async def main():
    gate = asyncio.Semaphore(20)
    with open("samples.jsonl", encoding="utf-8") as rows, open("out.jsonl", "w") as out:
        async def trial(row):
            async with gate:
                sample = SimpleNamespace(**json.loads(row))
                async with asyncio.timeout(120):
                    text = await at_once(sample)
                passed = sample.ground_truth in text
                messages = [{"role": "user", "content": sample.input},
                            {"role": "assistant", "content": text}]
                out.write(json.dumps({"id": sample.id, "passed": passed, "messages": messages}))
                out.write("\\n")
                out.flush()
        batch = []
        for row in rows:
            batch.append(trial(row))
            if len(batch) == 1000:
                await asyncio.gather(*batch)
                batch = []
        await asyncio.gather(*batch)

asyncio.run(main())
"""


@dataclass(frozen=True)
class Spent:
    """What a process took: wall and processor seconds, and its peak memory in MiB."""

    wall: float
    processor: float
    memory: float


@dataclass(frozen=True)
class Line:
    """A line of the table; without a promise it is for the eyes."""

    what: str
    measured: str
    promised: str = ""
    kept: bool = True


def spend(command: list[str], folder: Path) -> Spent:
    """Run a command to its end; its resources are those of the process and its children."""
    started = time.perf_counter()
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        text = (folder / "output.txt").read_text(encoding="utf-8")[-2000:]
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{text}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20)


def run_suite(samples: int, *, agent: str, concurrency: int = 20, seconds: float = 0.0) -> Spent:
    """Run a suite of so many samples with a Python agent."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, samples, AGENT.format(seconds=seconds))
        suite = SUITE.format(agent=agent, concurrency=concurrency)
        (folder / "suite.yaml").write_text(suite, encoding="utf-8")
        spent = spend([str(REGRADE), "run", "suite.yaml", "--out", "runs"], folder)
        stored = sum(1 for log in folder.glob("runs/*/trials.jsonl") for _ in log.open("rb"))
        if stored != samples:
            raise SystemExit(f"{stored} trials were stored of {samples}")
        return spent


def run_reference(samples: int) -> Spent:
    """Run the bare agent in a plain loop that checks, writes and flushes as much."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, samples, AGENT.format(seconds=0.0))
        (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
        return spend([sys.executable, "reference.py"], folder)


def write_suite(folder: Path, samples: int, agent: str) -> None:
    """Write the agent and a dataset of so many samples."""
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as file:
        for n in range(samples):
            row = {"id": f"q{n}", "input": f"question {n}", "ground_truth": f"question {n}"}
            file.write(f"{json.dumps(row)}\n")


def rate_and_memory() -> Iterator[Line]:
    """Drive, grade and store trials of an agent that answers at once."""
    few, many = (run_suite(n, agent="at_once") for n in (FEW, MANY))
    plain_few, plain_many = (run_reference(n) for n in (FEW, MANY))
    ours = (many.processor - few.processor) / (MANY - FEW)
    plain = (plain_many.processor - plain_few.processor) / (MANY - FEW)
    yield Line("trials a second of one core", f"{1 / ours:,.0f}", "20,000", 1 / ours >= 20_000)
    yield Line(f"... whole run of {MANY:,}", f"{MANY / many.wall:,.0f} a second, {many.wall:.1f} s")
    yield Line("... plain loop", f"{1 / plain:,.0f} ({ours / plain:.1f} times as fast)")
    yield Line(f"peak memory at {FEW:,}", f"{few.memory:.0f} MiB")
    growth = many.memory / few.memory
    yield Line(f"peak memory at {MANY:,}", f"{many.memory:.0f} MiB")
    yield Line("... ratio", f"{growth:.2f}", "1.30", growth <= 1.3)


def slow_agents() -> Iterator[Line]:
    """Drive agents that take their time, many at once: run time / (N * t / C)."""
    fixed = statistics.median(run_suite(1, agent="at_once").wall for _ in range(5))
    yield Line("fixed cost of a run", f"{fixed * 1000:.0f} ms")
    for concurrency, seconds, promised in CONCURRENCIES:
        spent = run_suite(
            WAVES * concurrency, agent="slow", concurrency=concurrency, seconds=seconds
        )
        ratio = (spent.wall - fixed) / (WAVES * seconds)
        what = f"{concurrency:,} at once of {seconds * 1000:,.0f} ms"
        yield Line(what, f"{ratio:.3f}", f"{promised:.2f}", ratio <= promised)


def start_up() -> Iterator[Line]:
    """Start and end at once; medians, taken in turns so that all see the same machine."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import harness": [sys.executable, "-c", "import harness"],
        "regrade --help": [str(REGRADE), "--help"],
    }
    walls: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(15):
            for name, command in commands.items():
                walls[name].append(spend(command, Path(folder)).wall * 1000)
    bare = statistics.median(walls.pop("python -c pass"))
    yield Line("a bare Python", f"{bare:.0f} ms")
    for name, measured in walls.items():
        extra = statistics.median(measured) - bare
        yield Line(name, f"{extra:.0f} ms more", "150 ms more", extra <= 150)


def main() -> int:
    """Measure everything; the table grows as it is measured."""
    console = Console()
    table = Table("", "measured", "promised", "")
    kept = True
    for measure in (start_up, rate_and_memory, slow_agents):
        for line in measure():
            kept &= line.kept
            mark = "" if not line.promised else "kept" if line.kept else "BROKEN"
            table.add_row(line.what, line.measured, line.promised, mark)
        table.add_section()
    console.print(table)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
