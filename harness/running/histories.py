"""The history of a folder of runs: what the nights of each suite and model say together."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from harness.loading.quarantine_files import read_quarantine
from harness.measuring.flip_forecasts import TwoNights, flip_forecast
from harness.measuring.intervals import pass_rate
from harness.measuring.night_standings import Standing, night_standings
from harness.measuring.quarantine_rules import QuarantineRuling, rule_quarantine
from harness.measuring.sample_changes import Change, sample_changes
from harness.running.night_runs import find_nights
from harness.running.night_series import Series, changes_on, series_of, turns_of, whole_change
from harness.running.night_verdicts import Baseline, night_verdicts
from harness.running.quarantine_lookup import quarantine_beside
from harness.running.run_addresses import PINNED, RunAddress, find_baseline
from harness.storing.night_outcomes import NightRecord, SampleNight, read_night
from harness.types.nights import (
    ExpectedFlips,
    History,
    ModelNights,
    Night,
    NightOfChange,
    QuarantineState,
    SampleNow,
)
from harness.types.quarantines import QuarantineEntry
from harness.types.sample_states import SampleStanding
from harness.types.summaries import Interval
from harness.types.verdicts import SuiteVerdict

_SHOWN_FIRST = ("regressed", "fixed", "flaky", "new", "stable_fail", "stable_pass")
_TWO = 2
_STABLE = frozenset({"stable_fail", "stable_pass"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """What of a folder is looked at, and against what; `now` is the time of looking.

    Only the nights of `suite` and `model`, if they are named, and the last `nights`. `baseline` is
    a run or a file that one was exported to, None for the pinned run of each suite. `workspace` is
    a folder for what is unpacked. `quarantine` is the file of quarantined samples, None for the
    one beside the suite.
    """

    now: datetime
    workspace: Path
    suite: str | None = None
    model: str | None = None
    nights: int | None = None
    baseline: str | None = None
    margin: float | None = None
    quarantine: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What holds for all models of a suite."""

    suite: str
    options: HistoryOptions
    baseline: NightRecord | None
    entries: Sequence[QuarantineEntry]
    quarantine: Path | None
    rulings: dict[str, QuarantineRuling] = field(default_factory=dict)


def read_history(folder: Path, options: HistoryOptions) -> History:
    """Read what the nights in a folder of runs say together.

    Raises:
        InputError: there is no night, or no run that is called as the baseline is.
        StoreError: the baseline, or the pins, cannot be read.
        SuiteError: the file of quarantined samples has faults.
    """
    found = find_nights(folder, options.suite, options.nights)
    models: list[ModelNights] = []
    quarantines: list[QuarantineState] = []
    for suite, nights in found.suites.items():
        context = _context(folder, suite, nights, options)
        names = dict.fromkeys(name for night in reversed(nights) for name in night.models)
        wanted = [name for name in names if options.model in {None, name}]
        models += [_model_nights(series_of(name, nights), context) for name in wanted]
        if state := _quarantine_state(context):
            quarantines.append(state)
    return History(
        folder=str(folder),
        models=tuple(models),
        quarantines=tuple(quarantines),
        left_out=found.left_out,
    )


def quarantine_path(nights: Sequence[NightRecord]) -> Path | None:
    """Return the file of quarantined samples of a suite; None where its file is not there."""
    places = (quarantine_beside(night.manifest) for night in reversed(nights))
    return next((place for place in places if place is not None), None)


def _context(
    folder: Path, suite: str, nights: Sequence[NightRecord], options: HistoryOptions
) -> _Context:
    path = options.quarantine or quarantine_path(nights)
    return _Context(
        suite=suite,
        options=options,
        baseline=_baseline(folder, suite, nights, options),
        entries=read_quarantine(path) if path else (),
        quarantine=path,
    )


def _baseline(
    folder: Path, suite: str, nights: Sequence[NightRecord], options: HistoryOptions
) -> NightRecord | None:
    """Return the baseline of a suite: one of its nights, or read from elsewhere."""
    address = RunAddress.read(options.baseline or PINNED)
    workspace = options.workspace / f"{len(list(options.workspace.iterdir()))}"
    place = find_baseline(address, folder, suite=suite, besides=None, workspace=workspace)
    if place is None:
        return None
    known = (one for one in nights if one.folder.resolve() == place.resolve())
    return next(known, None) or read_night(place)


def _model_nights(series: Series, context: _Context) -> ModelNights:
    ruling = _ruling(series, context)
    verdicts = _verdicts(series, context, ruling)
    accepted = _accepted(series, context.baseline)
    found = sample_changes(series.nights_of)
    stand = night_standings(series.nights_of, found, accepted)
    turns = turns_of(series, [*((one, True) for one in found), *_tonight(series, stand, found)])
    whole = whole_change(series)
    baseline = context.baseline
    return ModelNights(
        suite=context.suite,
        model=series.model,
        nights=tuple(_nights(series, verdicts, baseline)),
        counts=Counter(one.standing.state for one in stand),
        samples=tuple(_shown(series, stand, ruling)),
        turns=tuple(turns),
        whole=whole if _is_news(whole, turns) else None,
        flips=_flips(series, stand),
        baseline=baseline.manifest.run_id if baseline else None,
        baseline_days=_days(baseline, context.options.now),
        verdict=verdicts[-1],
        warnings=tuple(_warnings(series, ruling)),
    )


def _ruling(series: Series, context: _Context) -> QuarantineRuling:
    # Hashing is for nothing where no entry asks for it.
    keys = {name: one.key if context.entries else "" for name, one in series.present.items()}
    today = context.options.now.date()
    ruling = rule_quarantine(context.entries, series.model, keys, today)
    context.rulings[series.model] = ruling
    return ruling


def _verdicts(
    series: Series, context: _Context, ruling: QuarantineRuling
) -> list[SuiteVerdict | None]:
    if context.baseline is None:
        return [None] * len(series.nights)
    baseline = Baseline(
        night=context.baseline,
        model=series.model,
        own_model=_own_model(series.model, context.baseline, context.options),
        margin=context.options.margin,
    )
    return list(night_verdicts(series.nights, baseline, ruling.in_force))


def _own_model(model: str, baseline: NightRecord, options: HistoryOptions) -> str:
    """Return the model of the baseline that is named, or of the same name, or its only one."""
    named = RunAddress.read(options.baseline or PINNED).model
    if named is not None:
        return named
    return next(iter(baseline.models)) if len(baseline.models) == 1 else model


def _accepted(series: Series, baseline: NightRecord | None) -> int:
    """Return the last night (from 0) whose changes the baseline has already; 0 for none."""
    if baseline is None:
        return 0
    start = baseline.manifest.started_at
    return max(sum(night.manifest.started_at <= start for night in series.nights) - 1, 0)


def _tonight(
    series: Series, stand: Sequence[Standing], found: Sequence[Change]
) -> Iterator[tuple[Change, bool]]:
    """Return the changes that tonight's trials alone show."""
    tonight = len(series.nights) - 1
    for one in stand:
        now = one.standing
        if one.change is None and now.state in {"regressed", "fixed"} and now.trials_tonight:
            start = _start(now.sample_id, found)
            fell = now.state == "regressed"
            yield Change(now.sample_id, tonight, fell, 0.0, start, tonight + 1), False


def _start(sample_id: str, found: Sequence[Change]) -> int:
    return max((one.night for one in found if one.sample_id == sample_id), default=0)


def _nights(
    series: Series, verdicts: Sequence[SuiteVerdict | None], baseline: NightRecord | None
) -> list[Night]:
    return [
        _night(series, place, verdict, is_baseline=baseline is night)
        for place, (night, verdict) in enumerate(zip(series.nights, verdicts, strict=True))
    ]


def _night(series: Series, place: int, verdict: SuiteVerdict | None, *, is_baseline: bool) -> Night:
    night = series.nights[place]
    samples = night.models[series.model].values()
    return Night(
        number=place + 1,
        run_id=night.manifest.run_id,
        started_at=night.manifest.started_at,
        samples=len(samples),
        trials=sum(one.trials for one in samples),
        passed=sum(one.passes for one in samples),
        errors=sum(one.errors for one in samples),
        complete=bool(night.complete),
        rate=_rate(samples, excludes=night.manifest.errors == "exclude"),
        is_baseline=is_baseline,
        verdict=verdict.verdict if verdict else None,
        changes=tuple(changes_on(series, place)),
    )


def _rate(samples: Collection[SampleNight], *, excludes: bool) -> Interval:
    """Estimate the pass rate as the run's own summary does; errors fail, or are left out."""
    counted = [(one.passes, one.passes + one.failures) for one in samples]
    if not excludes and any(trials for _, trials in counted):
        counted = [(one.passes, one.trials) for one in samples]
    kept = [(passes, trials) for passes, trials in counted if trials]
    return pass_rate(
        [passes / trials for passes, trials in kept], sum(trials for _, trials in kept)
    )


def _shown(
    series: Series, stand: Sequence[Standing], ruling: QuarantineRuling
) -> Iterator[SampleNow]:
    """Give the samples that are not stable or are quarantined, the gravest first."""
    order = {state: place for place, state in enumerate(_SHOWN_FIRST)}
    for one in sorted(stand, key=lambda each: order[each.standing.state]):
        until = ruling.in_force.get(one.standing.sample_id)
        if until is not None or one.standing.state not in _STABLE:
            yield SampleNow(
                standing=one.standing, since=_since(series, one), quarantined_until=until
            )


def _since(series: Series, one: Standing) -> int | None:
    if one.change is not None:
        return one.change.night + 1
    if one.standing.state == "new":
        nights = series.nights_of[one.standing.sample_id]
        return next((place for place, night in enumerate(nights, start=1) if any(night)), None)
    return len(series.nights) if one.standing.state in {"regressed", "fixed"} else None


def _flips(series: Series, stand: Sequence[Standing]) -> ExpectedFlips | None:
    if len(series.nights) < _TWO:
        return None
    found = flip_forecast([_two_nights(series, one.standing) for one in stand])
    if found is None:
        return None
    return ExpectedFlips(
        samples=found.samples, fell=found.fell, expected=found.expected, chance=found.chance
    )


def _two_nights(series: Series, now: SampleStanding) -> TwoNights:
    before, tonight = series.nights_of[now.sample_id][-2:]
    return TwoNights((before[0], sum(before)), (tonight[0], sum(tonight)), now.passes, now.trials)


def _is_news(whole: NightOfChange | None, turns: Sequence[NightOfChange]) -> bool:
    """Say whether a change of all samples together is not that of single ones."""
    return whole is not None and all(
        (turn.night, turn.fell) != (whole.night, whole.fell) for turn in turns
    )


def _days(baseline: NightRecord | None, now: datetime) -> float | None:
    if baseline is None:
        return None
    return round((now - baseline.manifest.started_at) / timedelta(days=1), 2)


def _warnings(series: Series, ruling: QuarantineRuling) -> Iterator[str]:
    tonight = series.nights[-1]
    if not tonight.complete:
        yield "the last night is not complete"
    if ruling.beyond:
        yield (
            f"not quarantined, as only {ruling.limit} of {len(series.present)} samples may be: "
            f"{', '.join(ruling.beyond)}"
        )


def _quarantine_state(context: _Context) -> QuarantineState | None:
    if not context.entries or context.quarantine is None:
        return None
    rulings = context.rulings.values()
    return QuarantineState(
        suite=context.suite,
        file=str(context.quarantine),
        limit=max((one.limit for one in rulings), default=0),
        in_force=tuple(dict.fromkeys(name for one in rulings for name in one.in_force)),
        ended=tuple(dict.fromkeys(text for one in rulings for text in one.ended)),
    )
