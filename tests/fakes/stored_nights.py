"""Folders of runs for tests of histories: nights whose truth is known."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from harness.measuring.summing import Tally, summarise
from harness.storing.manifests import Manifest, write_manifest, write_summary
from harness.storing.trial_log import outcome_line
from harness.types.suites import Suite
from harness.types.trials import Outcome

FIRST = datetime(2031, 2, 3, 2, 0, tzinfo=UTC)
MODEL = "m"


def a_manifest(run_id, night, **fields):
    """Make the manifest of a night."""
    return Manifest(
        **{
            "run_id": run_id,
            "suite": "nightly",
            "suite_file": None,
            "suite_text": "name: nightly",
            "suite_sha256": "sha256:0",
            "dataset_file": "samples.jsonl",
            "dataset_sha256": "sha256:1",
            "samples": 1,
            "planned": 1,
            "models": (MODEL,),
            "epochs": 1,
            "drive_key": "sha256:2",
            "grader_keys": {"right": "sha256:3"},
            "selection": {"limit": None, "ids": [], "tags": []},
            "limits": {},
            "started_at": FIRST + timedelta(days=night),
            "command": ("regrade", "run"),
            "host": "runner",
            "python": "3.11.0",
            "platform": "Linux",
            "versions": {"regrade": "1"},
            "git_commit": None,
            "git_changed": None,
            **fields,
        }
    )


def an_outcome(sample_id, passed, epoch=0, **fields):
    """Make the outcome of one trial; `passed` None is an error."""
    status = "target_error" if passed is None else "completed"
    return Outcome(
        **{
            "sample_id": sample_id,
            "model": MODEL,
            "epoch": epoch,
            "status": status,
            "passed": passed,
            "score": None if passed is None else float(passed),
            "sample_key": "0123456789abcdef",
            "grades": {} if passed is None else {"right": (float(passed), passed, "graded")},
            "grade_keys": {} if passed is None else {"right": f"{hash(sample_id) & 0xFFFF:016x}"},
            **fields,
        }
    )


def store_night(folder, night, outcomes, **fields):
    """Store a run as it is when it has ended, its trials unreadable: nothing may read them."""
    outcomes = list(outcomes)
    epochs = max(one.epoch for one in outcomes) + 1
    models = tuple(dict.fromkeys(one.model for one in outcomes))
    samples = len({one.sample_id for one in outcomes})
    run_id = f"{FIRST + timedelta(days=night):%Y%m%dT%H%M%S}000Z-nightly-{night:06x}"
    run = folder / run_id
    run.mkdir(parents=True)
    made = {"samples": samples, "planned": len(outcomes), "epochs": epochs, "models": models}
    manifest = a_manifest(run_id, night, **{**made, **fields})
    write_manifest(run, manifest)
    (run / "trials.jsonl").write_text("not to be read\n", encoding="utf-8")
    lines = b"".join(outcome_line(one, b"") for one in outcomes)
    (run / "outcomes.jsonl").write_bytes(lines)
    tally = Tally(("right",), models, epochs=epochs, errors=manifest.errors)
    for one in outcomes:
        tally.add(one)
    suite = Suite(name=manifest.suite)
    write_summary(run, summarise(tally, suite, run_id=run_id, planned=manifest.planned))
    return run


@dataclass(frozen=True)
class Truth:
    """What was planted: a regression, and flaky samples; others have one of the steady rates."""

    nights: int = 90
    samples: int = 500
    epochs: int = 3
    regressed_on: int = 60
    steady: tuple[float, ...] = (1.0, 1.0, 1.0, 0.995, 0.99, 0.0)
    regressed: frozenset[str] = field(
        default_factory=lambda: frozenset(f"task-{n}" for n in range(0, 100, 10))
    )
    flaky: frozenset[str] = field(
        default_factory=lambda: frozenset(f"task-{n}" for n in range(205, 500, 20))
    )


def store_nights(folder, truth, seed=1):
    """Store nights in which only what the truth says happens; nights count from 1."""
    chance = random.Random(seed)
    names = [f"task-{n}" for n in range(truth.samples)]
    rates = {name: chance.choice(truth.steady) for name in names}
    rates |= {name: chance.choice([0.3, 0.5, 0.7]) for name in sorted(truth.flaky)}
    rates |= dict.fromkeys(truth.regressed, 0.98)
    for night in range(1, truth.nights + 1):
        if night == truth.regressed_on:
            rates |= dict.fromkeys(truth.regressed, 0.02)
        outcomes = [
            an_outcome(name, chance.random() < rates[name], epoch)
            for epoch in range(truth.epochs)
            for name in names
        ]
        store_night(folder, night, outcomes)
