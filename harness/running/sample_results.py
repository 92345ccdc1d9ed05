"""What became of every sample on every model, read from a stored run in one pass."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from math import fsum
from pathlib import Path

from msgspec.structs import replace

from harness.running.first_failures import failed_of
from harness.storing.counted_trials import counted_trials
from harness.system.texts import cut
from harness.types.explanations import Place, SampleResult
from harness.types.summaries import FailedTrial
from harness.types.trials import ERROR_STATUSES, Trial

_MOST_SHOWN = 5
_LONGEST = 2_000
_LAST = 1 << 62


def sample_results(
    folder: Path, places: Mapping[str, Place], observed: Collection[str] = ()
) -> list[SampleResult]:
    """Return a result for each sample and model that has a trial, in the order of the dataset.

    Samples without a known line come last, by id. `observed` are graders that decide nothing.

    Raises:
        StoreError: the run cannot be read.
    """
    found: dict[tuple[str, str], SampleResult] = {}
    seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for trial in counted_trials(folder):
        name = (trial.model, trial.sample_id)
        so_far = found.get(name) or SampleResult(sample_id=trial.sample_id, model=trial.model)
        found[name] = _after(so_far, trial, observed)
        seconds[name].append(trial.timing.target_seconds)

    def order(result: SampleResult) -> tuple[int, str, str]:
        place = places.get(result.sample_id)
        return place.line if place else _LAST, result.sample_id, result.model

    # A sum that does not depend on the order in which the trials have ended.
    timed = (replace(one, seconds=fsum(seconds[name])) for name, one in found.items())
    return sorted(timed, key=order)


def _after(so_far: SampleResult, trial: Trial, observed: Collection[str]) -> SampleResult:
    counts: dict[str, int | tuple[FailedTrial, ...]]
    if trial.passed is True:
        counts = {"passed": so_far.passed + 1}
    elif trial.status == "completed" and trial.passed is None:
        counts = {"ungraded": so_far.ungraded + 1}
    elif trial.status in ERROR_STATUSES:
        errors = _with(so_far.errors, trial, observed)
        counts = {"errored": so_far.errored + 1, "errors": errors}
    else:
        failures = _with(so_far.failures, trial, observed)
        counts = {"failed": so_far.failed + 1, "failures": failures}
    return replace(so_far, **counts)


def _with(
    shown: tuple[FailedTrial, ...], trial: Trial, observed: Collection[str]
) -> tuple[FailedTrial, ...]:
    """Keep the failures of the first epochs."""
    failed = failed_of(trial, observed=observed)
    failed = replace(failed, evidence=cut(failed.evidence, _LONGEST))
    return tuple(sorted((*shown, failed), key=_epoch)[:_MOST_SHOWN])


def _epoch(failed: FailedTrial) -> int:
    return failed.epoch
