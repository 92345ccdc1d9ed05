"""What comparing two runs of 100,000 trials each costs: processor time and memory of the command.

Promised are 10 s and 300 MB. Processor time is measured, so that a busy machine does not change it;
beside it stands, as a plain reference, reading the outcomes of both runs once. Exits with 1 where
the promise is not kept.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.console import Console

from harness.storing.manifests import Manifest, write_manifest
from harness.storing.trial_log import TrialLog, outcome_of
from harness.types.events import AssistantMessage, Event, ToolCall, ToolResult, UserMessage
from harness.types.grades import Grade
from harness.types.trajectories import Trajectory, Turn, Usage
from harness.types.trials import Keys, Outcome, Timing, Trial

REGRADE = Path(sys.executable).parent / "regrade"
AT = datetime(2031, 2, 3, tzinfo=UTC)
TRIALS = 100_000
SECONDS, MEGABYTES = 10.0, 300.0
GRADERS = ("surfaced", "answer", "order", "plain", "bounds")
CALLS = 6


def main() -> int:
    """Measure one epoch of many samples, and three epochs of fewer."""
    kept = True
    for epochs in (1, 3):
        with tempfile.TemporaryDirectory() as folder:
            kept = measure(Path(folder), epochs) and kept
    return 0 if kept else 1


def measure(folder: Path, epochs: int) -> bool:
    """Compare two generated runs; say whether the promise was kept."""
    samples = TRIALS // epochs
    for seed, (name, falling) in enumerate((("before", 0), ("after", samples // 50))):
        write_run(folder / "runs" / name, random.Random(seed), (samples, epochs), falling)
    command = [REGRADE, "compare", "before", "after", "--json", "found.json"]
    with (folder / "said.txt").open("wb") as said:
        child = subprocess.Popen(command, cwd=folder, stdout=said)
        _, status, usage = os.wait4(child.pid, 0)
    found = json.loads((folder / "found.json").read_bytes())["comparisons"][0]
    seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    Console(soft_wrap=True, highlight=False).print(
        f"{samples:,} samples x {epochs}: {seconds:.1f} s of processor time (up to {SECONDS:g}), "
        f"{megabytes:.0f} MB (up to {MEGABYTES:g}); reading the outcomes alone takes "
        f"{reading(folder):.1f} s; {found['verdict']['verdict']}, "
        f"{len(found['regressed']):,} samples shown as regressed"
    )
    right = os.waitstatus_to_exitcode(status) == 1 and found["verdict"]["verdict"] == "regressed"
    return right and seconds <= SECONDS and megabytes <= MEGABYTES


def reading(folder: Path) -> float:
    """Return the processor time of decoding the outcomes of both runs once."""
    decode = msgspec.json.Decoder(Outcome).decode
    started = time.process_time()
    for name in ("before", "after"):
        with (folder / "runs" / name / "outcomes.jsonl").open("rb") as lines:
            for line in lines:
                decode(line)
    return time.process_time() - started


def write_run(folder: Path, chance: random.Random, size: tuple[int, int], falling: int) -> None:
    """Write a run in which nine samples of ten pass and some waver, but for the first `falling`."""
    samples, epochs = size
    folder.mkdir(parents=True)
    write_manifest(folder, manifest(folder.name, samples, epochs))
    with TrialLog(folder) as log:
        for number in range(samples):
            rate = 0.0 if number < falling else 0.5 if number % 50 == 0 else number % 10 != 0
            for epoch in range(epochs):
                trial = one_trial(number, epoch, passed=chance.random() < rate, chance=chance)
                log.append(trial, outcome_of(trial))


def one_trial(number: int, epoch: int, *, passed: bool, chance: random.Random) -> Trial:
    """Make a trial with several calls, one of which a failing trial skips."""
    events: list[Event] = [UserMessage(text="Which release train does it leave on?")]
    for index in range(CALLS):
        if passed or index != 1:
            name, call_id = f"tool_{index}", f"call_{index}"
            arguments = {"service": f"service-{number}", "page": index}
            events.append(ToolCall(call_id=call_id, name=name, arguments=arguments))
            events.append(ToolResult(call_id=call_id, name=name, output="x" * 150))
    events.append(AssistantMessage(text=f"It leaves with {number}. " * 8))
    grades = {name: one_grade(name, number, passed or name != "surfaced") for name in GRADERS}
    return Trial(
        sample_id=f"sample-{number}",
        model="m",
        epoch=epoch,
        status="completed",
        passed=passed,
        score=float(passed),
        grades=grades,
        trajectory=Trajectory(turns=(Turn(events=tuple(events)),)),
        attempts=(),
        usage=Usage(input_tokens=300 + number % 7, output_tokens=20, cost_usd=chance.random()),
        timing=Timing(started_at=AT, target_seconds=chance.random()),
        error=None,
        keys=Keys(drive="sha256:d", sample=f"sha256:{number:064x}"),
    )


def one_grade(name: str, number: int, passed: bool) -> Grade:  # noqa: FBT001  (its one result)
    """Make the grade of a trial."""
    key = f"sha256:{GRADERS.index(name):08x}{number:056x}"
    return Grade(score=float(passed), passed=passed, evidence="as it should be", key=key)


def manifest(run_id: str, samples: int, epochs: int) -> Manifest:
    """Make the manifest of a run."""
    return Manifest(
        run_id=run_id,
        suite="generated",
        suite_file=None,
        suite_text="",
        suite_sha256="sha256:s",
        dataset_file=None,
        dataset_sha256="sha256:d",
        samples=samples,
        planned=samples * epochs,
        models=("m",),
        epochs=epochs,
        drive_key="sha256:d",
        grader_keys=dict.fromkeys(GRADERS, "sha256:g"),
        selection={},
        limits={"max_error_rate": 0.1},
        started_at=AT,
        command=(),
        host="",
        python="",
        platform="",
        versions={},
        git_commit=None,
        git_changed=None,
    )


if __name__ == "__main__":
    sys.exit(main())
