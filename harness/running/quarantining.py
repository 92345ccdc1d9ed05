"""Samples put into quarantine and taken out of it, by what the nights say of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from harness.loading.quarantine_files import read_quarantine, write_quarantine
from harness.measuring.failing_rows import FailingRow, failing_row
from harness.measuring.night_standings import Standing
from harness.measuring.quarantine_rules import quarantine_limit, rule_quarantine
from harness.measuring.sample_changes import Nights
from harness.running.common_falls import CommonFalls, common_falls
from harness.running.histories import changes_and_standings, quarantine_path
from harness.running.night_baselines import find_night_baseline
from harness.running.night_runs import find_nights
from harness.running.night_series import Series, series_of
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.quarantines import QUARANTINE_DAYS, QuarantineEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineOrder:
    """Which samples go into quarantine, which come out, on which day and why.

    Without `model` the entry is for the only model that has run. `file` is that of the quarantined
    samples, None for the one beside the suite. `nights`, `baseline` and `workspace` are those of
    the history that says how the samples stand.
    """

    today: date
    add: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    reason: str = ""
    suite: str | None = None
    model: str | None = None
    file: Path | None = None
    nights: int | None = None
    baseline: str | None = None
    workspace: Path


class _Now(NamedTuple):
    """The present entries, how the samples stand, and what speaks for a regression of several."""

    entries: Sequence[QuarantineEntry]
    stand: Mapping[str, Standing]
    falls: CommonFalls | None


def change_quarantine(folder: Path, order: QuarantineOrder) -> Path:
    """Change the file of quarantined samples and return its path; it is changed wholly or not.

    Only a sample with passes and failures of one kind goes in, on one model, for 14 nights, and no
    more than a tenth of the samples; none of which the history says that it has regressed, or is
    fixed, and none whose failures belong to a regression of the suite. One that is in already has
    to be released to begin anew, which may be done at once.

    Raises:
        InputError: with a line for every sample that cannot go in or is not there to come out.
        SuiteError: the file has faults.
    """
    nights = find_nights(folder, order.suite, order.nights).suites
    if len(nights) > 1:
        raise _fault(folder, "several suites have nights here", f"--suite {' | '.join(nights)}")
    (of_suite,) = nights.values()
    path = order.file or quarantine_path(of_suite)
    if path is None:
        problem = "it is not known where the suite lies, beside which the file would be"
        raise _fault(folder, problem, "name one with --quarantine-file")
    models = list(dict.fromkeys(name for night in of_suite for name in night.models))
    series = series_of(_model(folder, order.model, models), of_suite)
    entries = read_quarantine(path)
    baseline = find_night_baseline(folder, of_suite, order.baseline, order.workspace)
    found, standings = changes_and_standings(series, baseline.night)
    stand = {one.standing.sample_id: one for one in standings}
    falls = common_falls(series, baseline, found)
    if faults := list(_faults(path, order, series, _Now(entries, stand, falls))):
        raise InputError(faults)
    gone = {*order.release, *order.add}
    kept = [
        one for one in entries if one.sample not in gone or one.model not in {None, series.model}
    ]
    write_quarantine(path, [*kept, *(_entry(name, series, order) for name in order.add)])
    return path


def _model(folder: Path, named: str | None, models: Sequence[str]) -> str:
    if named is None and len(models) == 1:
        return models[0]
    if named is None or named not in models:
        problem = "several models have run" if named is None else f"no model {named!r} has run"
        raise _fault(folder, problem, f"--model {' | '.join(models)}")
    return named


def _faults(
    path: Path,
    order: QuarantineOrder,
    series: Series,
    now: _Now,
) -> Iterator[Fault]:
    """Say what cannot be, by the present entries and how the samples stand."""
    entries = now.entries
    known = {one.sample for one in entries}
    for name in order.release:
        if name not in known:
            problem = f"no entry for {name!r}"
            yield Fault(file=str(path), problem=problem, allowed=suggest(name, sorted(known)))
    yield from _in_already(path, order, series, entries)
    refused = [fault for name in order.add for fault in _refusal(path, name, series, now)]
    yield from refused or _too_many(path, order, series, entries)


def _in_already(
    path: Path, order: QuarantineOrder, series: Series, entries: Sequence[QuarantineEntry]
) -> Iterator[Fault]:
    """Refuse samples that are quarantined now, unless they are released with the same words."""
    keys = {name: one.key for name, one in series.present.items()}
    in_force = rule_quarantine(entries, series.model, keys, order.today).in_force
    for name in order.add:
        if name in in_force and name not in order.release:
            problem = f"{name!r} is quarantined already, until {in_force[name]}"
            allowed = f"to begin anew: --release {name} --quarantine {name}"
            yield Fault(file=str(path), problem=problem, allowed=allowed)


def _refusal(path: Path, name: str, series: Series, now: _Now) -> Iterator[Fault]:
    stand = now.stand.get(name)
    if name not in series.present or stand is None:
        ran = any(name in night.models[series.model] for night in series.nights)
        problem = f"no sample {name!r} {'runs any more' if ran else 'has run'}"
        yield Fault(file=str(path), problem=problem, allowed=suggest(name, sorted(series.present)))
        return
    if refused := _REFUSED.get(stand.standing.state):
        problem = f"{name!r} {refused[0]}: {_evidence(series, stand)}"
        yield Fault(file=str(path), problem=problem, allowed=refused[1])
        return
    nights = series.nights_of[name]
    if now.falls is not None and (row := failing_row(nights, now.falls.nights)):
        problem = f"{name!r} may have regressed: {_row_words(row)}, while {now.falls.words}"
        yield Fault(file=str(path), problem=problem, allowed=_REFUSED["regressed"][1])
        return
    passes, failures = (sum(night[side] for night in nights) for side in (0, 1))
    if not passes or not failures:
        only = f"{passes + failures} trials of {name!r} have all {'passed' if passes else 'failed'}"
        allowed = "only samples that both pass and fail, unchanged, are quarantined"
        yield Fault(file=str(path), problem=only, allowed=allowed)


_REFUSED: Mapping[str, tuple[str, str]] = {
    "regressed": (
        "has regressed",
        "only flaky samples are quarantined; mend it, or accept it with `regrade baseline set`",
    ),
    "fixed": ("is fixed", "only flaky samples are quarantined"),
}
"""What the history says of samples that are not quarantined, and what to do."""


def _evidence(series: Series, stand: Standing) -> str:
    """Say how often a sample passed before and after it changed; else before tonight, and then."""
    nights, now = series.nights_of[stand.standing.sample_id], stand.standing
    if stand.change is None:
        before = f"{now.passes} of {now.trials} trials passed before tonight"
        return f"{before}, {now.passes_tonight} of {now.trials_tonight} tonight"
    start, night, end = stand.change.start, stand.change.night, stand.change.end
    before, after = (_passes(nights[one:other]) for one, other in ((start, night), (night, end)))
    return f"{before} trials passed before night {night + 1}, {after} since"


def _row_words(row: FailingRow) -> str:
    (passes, trials), (passes_since, trials_since) = row.before, row.since
    before = f"{passes} of {trials} trials passed before night {row.night + 1}"
    return f"{before}, {passes_since} of {trials_since} since"


def _passes(nights: Nights) -> str:
    passes, failures = (sum(night[side] for night in nights) for side in (0, 1))
    return f"{passes} of {passes + failures}"


def _too_many(
    path: Path, order: QuarantineOrder, series: Series, entries: Sequence[QuarantineEntry]
) -> Iterator[Fault]:
    keys = {name: one.key for name, one in series.present.items()}
    others = [one for one in entries if one.sample not in {*order.release, *order.add}]
    count = len(rule_quarantine(others, series.model, keys, order.today).in_force)
    limit = quarantine_limit(len(keys))
    wanted = count + len(set(order.add))
    if order.add and wanted > limit:
        problem = f"{wanted} sample{'s' if wanted > 1 else ''} would be quarantined"
        allowed = f"at most {limit} of {len(keys)}, a tenth; more epochs help more"
        yield Fault(file=str(path), problem=problem, allowed=allowed)


def _entry(name: str, series: Series, order: QuarantineOrder) -> QuarantineEntry:
    nights = series.nights_of[name]
    passes, failures = (sum(night[side] for night in nights) for side in (0, 1))
    return QuarantineEntry(
        sample=name,
        model=series.model,
        since=order.today,
        ends=order.today + timedelta(days=QUARANTINE_DAYS),
        key=series.present[name].key,
        reason=order.reason or f"{passes} of {passes + failures} trials passed",
    )


def _fault(place: Path, problem: str, allowed: str) -> InputError:
    return InputError([Fault(file=str(place), problem=problem, allowed=allowed)])
