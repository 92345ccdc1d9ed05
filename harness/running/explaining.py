"""Why a run is as it is: its failing trials are read again, grouped, and some of them shown."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.measuring.failure_groups import (
    FoundFailure,
    failure_groups,
    origins_of,
    some_of_each,
)
from harness.measuring.failure_words import bad_divergence, first_bad_event
from harness.measuring.faulty_graders import cannot_work
from harness.measuring.run_sentences import (
    all_trials,
    did_not_pass,
    missed_gates,
    run_sentence,
    run_state,
)
from harness.running.failing_trials import FailingTrials, served_at_first
from harness.running.next_steps import next_step
from harness.running.regression_steps import regression_step
from harness.running.reproducing import commands_of
from harness.running.sample_places import places_of
from harness.storing.manifests import Manifest, read_manifest
from harness.types.comparisons import Comparison, Divergence
from harness.types.errors import StoreError
from harness.types.explanations import (
    BadEvent,
    Explanation,
    ModelNumbers,
    ShownFailure,
    SliceNumbers,
)
from harness.types.summaries import FailedTrial, ModelSummary, Summary

_SHOWN, _LOW = 3, 3


@dataclass(frozen=True, slots=True)
class _Findings:
    """What reading the failing trials gave; `served` names by model who really answered."""

    found: Sequence[FoundFailure] = ()
    served: dict[str, tuple[str, ...]] | None = None
    warning: str | None = None


def explain(folder: Path, summary: Summary, comparisons: Sequence[Comparison] = ()) -> Explanation:
    """Explain a run, from its directory and summary, and what it was compared with.

    Of a log that cannot be read, the first failures of the summary are all that is looked at.
    """
    manifest = _manifest(folder)
    findings = _findings(folder, summary, _parted(comparisons))
    groups = failure_groups(findings.found)
    warnings = (*summary.warnings, *([findings.warning] if findings.warning else []))
    return Explanation(
        suite=summary.suite,
        run_id=summary.run_id,
        state=run_state(summary, comparisons),
        verdict=run_sentence(summary, comparisons),
        trials=all_trials(summary),
        failing=did_not_pass(summary),
        looked_at=len(findings.found),
        models=tuple(_numbers(summary, findings.served or {})),
        groups=groups,
        origins=origins_of(findings.found),
        shown=tuple(_shown(folder, manifest, some_of_each(findings.found, groups, _SHOWN))),
        missed_gates=missed_gates(summary.gates),
        reasons=summary.reasons,
        warnings=warnings,
        comparisons=tuple(comparisons),
        next_step=regression_step(folder, comparisons)
        if run_state(summary, comparisons) == "regressed"
        else next_step(folder, summary),
    )


_Parted = dict[tuple[str, str], Divergence]
"""Where trials part from those of a baseline, by model and sample."""


def _parted(comparisons: Iterable[Comparison]) -> _Parted:
    return {
        (one.candidate.model, pair.sample_id): pair.divergence
        for one in comparisons
        for pair in one.regressed
        if pair.divergence is not None
    }


def _findings(folder: Path, summary: Summary, parted: _Parted) -> _Findings:
    try:
        return _read(folder, summary, parted)
    except StoreError as error:
        return _Findings(_as_summed_up(summary), warning=error.line)


def _read(folder: Path, summary: Summary, parted: _Parted) -> _Findings:
    if not did_not_pass(summary):
        # A log of many trials takes its time to be read, and replies are all that is sought there.
        return _Findings(served=_by_model(served_at_first(folder) if _has_replies(summary) else ()))
    trials = FailingTrials(folder)
    told = {(one.sample_id, one.model, one.epoch): one for one in summary.first_failures}
    found: list[FoundFailure] = []
    for trial, read, passing in trials.read():
        known = told.get((read.sample_id, read.model, read.epoch), read)
        # That of the summary holds what the sample wants, too.
        failed = known if known.grader == read.grader else read
        divergence = parted.get((trial.model, trial.sample_id))
        bad = None
        if divergence is not None and passing is None and trial.error is None:
            bad = bad_divergence(divergence)
        bad = bad or first_bad_event(trial, failed, passing, trials.usual_tools)
        found.append((failed, _of_suite(failed, summary.reasons) or bad))
    return _Findings(found, _by_model(trials.served()))


def _has_replies(summary: Summary) -> bool:
    """Say whether replies of models may be recorded; where steps are not counted they may."""
    counted = [model.per_trial.get("steps") for model in summary.models.values()]
    return any(steps is None or steps.total is not None for steps in counted)


def _of_suite(failed: FailedTrial, reasons: Iterable[str]) -> BadEvent | None:
    """Return what is wrong with the grader itself, such as an invalid pattern in the suite."""
    begin = cannot_work(failed.grader) if failed.grader else None
    if begin is None or not any(reason.startswith(begin) for reason in reasons):
        return None
    return BadEvent(origin="suite", words="the grader cannot work as the suite has it")


def _by_model(answering: Iterable[tuple[str, set[str]]]) -> dict[str, tuple[str, ...]]:
    served: defaultdict[str, set[str]] = defaultdict(set)
    for model, names in answering:
        served[model].update(names)
    return {model: tuple(sorted(names)) for model, names in served.items()}


def _as_summed_up(summary: Summary) -> list[FoundFailure]:
    """Make do with the summary, where the trials are out of reach."""
    return [(one, BadEvent(origin="agent", words=_words(one))) for one in summary.first_failures]


def _words(failed: FailedTrial) -> str:
    return failed.grader or failed.status.replace("_", " ")


def _numbers(summary: Summary, served: dict[str, tuple[str, ...]]) -> Iterator[ModelNumbers]:
    for name, model in summary.models.items():
        yield ModelNumbers(
            model=name,
            passed=model.passed,
            trials=model.trials,
            errors=model.errors,
            pass_rate=model.pass_rate,
            ungraded=model.ungraded,
            errors_left_out=summary.errors == "exclude" and model.errors > 0,
            low_slices=_low_slices(model, excludes=summary.errors == "exclude"),
            served=served.get(name, ()),
        )


def _low_slices(model: ModelSummary, *, excludes: bool) -> tuple[SliceNumbers, ...]:
    whole = model.pass_rate.value
    found = [
        SliceNumbers(
            name=name,
            value=value,
            passed=of.passed,
            trials=of.trials - of.ungraded - (of.errors if excludes else 0),
            rate=of.pass_rate.value,
        )
        for name, values in model.slices.items()
        for value, of in values.items()
        if whole is not None and of.pass_rate.value is not None and of.pass_rate.value < whole
    ]
    return tuple(sorted(found, key=lambda one: (one.rate, -one.trials, one.name, one.value))[:_LOW])


def _shown(
    folder: Path, manifest: Manifest | None, chosen: Iterable[FoundFailure]
) -> Iterator[ShownFailure]:
    chosen = tuple(chosen)
    places = places_of(manifest, {one.sample_id for one, _ in chosen}) if manifest else {}
    for failed, bad in chosen:
        place = places.get(failed.sample_id) or places.get("")
        # What else went wrong is not found out by driving one sample again.
        commands = commands_of(folder, manifest, failed.sample_id, failed.model)
        yield ShownFailure(
            trial=failed,
            bad=bad,
            place=str(place) if place else None,
            commands=commands if bad.origin == "agent" else commands[:1],
        )


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except StoreError:
        return None
