"""Summaries and stored runs for tests of what explains them."""

import msgspec
from fakes.stored_trials import AT

from harness.storing.manifests import Manifest, write_manifest
from harness.storing.trial_log import TrialLog, outcome_of
from harness.types.explanations import Explanation
from harness.types.summaries import (
    FailedTrial,
    GraderSummary,
    Interval,
    Mean,
    ModelSummary,
    Seconds,
    Summary,
)
from harness.types.trajectories import Usage


def model_summary(*, passed=1, trials=2, errors=0):
    """Make the numbers of a model with one grader `g`."""
    rate = Interval(value=passed / trials if trials else None, low=0.1, high=0.9)
    return ModelSummary(
        trials=trials,
        completed=trials - errors,
        agent_failures=0,
        errors=errors,
        ungraded=0,
        passed=passed,
        pass_rate=rate,
        pass_rate_if_errors_passed=None,
        score=Mean(mean=0.5),
        graders={
            "g": GraderSummary(
                mean=0.5,
                low=None,
                high=None,
                pass_rate=rate,
                passed=passed,
                failed=trials - passed - errors,
                graded=trials - errors,
                errors=errors,
                skipped=0,
            )
        },
        usage=Usage(input_tokens=3),
        seconds=Seconds(p50=0.00001, p90=None),
    )


def make_summary(**fields):
    """Make the summary of a run on model `m`, one of whose two trials passed."""
    return Summary(
        **{
            "suite": "release train",
            "run_id": "r-1",
            "complete": True,
            "passed": False,
            "planned": 2,
            "models": {"m": model_summary()},
            "gates": (),
            **fields,
        }
    )


def make_explanation(**fields):
    """Make an explanation without a failure."""
    return Explanation(
        **{
            "suite": "release train",
            "run_id": "r-1",
            "state": "passed",
            "verdict": "PASSED.",
            "trials": 2,
            "failing": 0,
            "looked_at": 0,
            "models": (),
            **fields,
        }
    )


def failed_trial(sample_id="s1", **fields):
    """Make a failing trial of model `m`, as shown."""
    return FailedTrial(
        **{
            "sample_id": sample_id,
            "model": "m",
            "epoch": 0,
            "status": "completed",
            "grader": "g",
            "evidence": "it said nothing",
            **fields,
        }
    )


def make_manifest(**fields):
    """Make the manifest of a run on model `m`."""
    return Manifest(
        **{
            "run_id": "r-1",
            "suite": "release train",
            "suite_file": None,
            "suite_text": "",
            "suite_sha256": "",
            "dataset_file": None,
            "dataset_sha256": "",
            "samples": 2,
            "planned": 2,
            "models": ("m",),
            "epochs": 1,
            "drive_key": "d",
            "grader_keys": {"g": "k"},
            "selection": {},
            "limits": {},
            "started_at": AT,
            "command": (),
            "host": "h",
            "python": "3",
            "platform": "p",
            "versions": {},
            "git_commit": None,
            "git_changed": None,
            **fields,
        }
    )


def store_run(folder, trials, **manifest):
    """Write a run directory with these trials, without a summary."""
    folder.mkdir(parents=True, exist_ok=True)
    write_manifest(folder, make_manifest(**manifest))
    (folder / "trials.jsonl").touch()
    with TrialLog(folder) as log:
        for trial in trials:
            log.append(trial, outcome_of(trial))
    return folder


def renamed(trial, **fields):
    """Change fields of a record."""
    return msgspec.structs.replace(trial, **fields)
