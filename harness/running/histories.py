"""The history of a folder of runs: what the nights of each suite and model say together."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from harness.loading.quarantine_files import read_quarantine
from harness.measuring.night_standings import Standing, night_standings
from harness.measuring.quarantine_rules import QuarantineRuling, rule_quarantine
from harness.measuring.sample_changes import Change, sample_changes
from harness.running.compared_metrics import MetricChoice, chosen_metrics
from harness.running.night_baselines import NightBaseline, find_night_baseline
from harness.running.night_rows import expected_flips_of, night_rows, standing_out
from harness.running.night_runs import find_nights
from harness.running.night_series import Series, series_of, turns_of, whole_change
from harness.running.night_verdicts import Baseline, night_verdicts
from harness.running.own_verdicts import own_verdicts
from harness.running.quarantine_lookup import quarantine_beside
from harness.storing.night_outcomes import NightRecord
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.nights import History, ModelNights, NightOfChange, QuarantineState
from harness.types.quarantines import QuarantineEntry
from harness.types.verdicts import SuiteVerdict


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
    baseline: NightBaseline
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
    _require_model(options.model, found.suites)
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


def _require_model(model: str | None, suites: Mapping[str, Iterable[NightRecord]]) -> None:
    known = {name for nights in suites.values() for night in nights for name in night.models}
    if model is not None and model not in known:
        problem = f"no night on the model {model!r}"
        raise InputError([Fault(file="--model", problem=problem, allowed=suggest(model, known))])


def quarantine_path(nights: Sequence[NightRecord]) -> Path | None:
    """Return the file of quarantined samples of a suite; None where its file is not there."""
    places = (quarantine_beside(night.manifest) for night in reversed(nights))
    return next((place for place in places if place is not None), None)


def _context(
    folder: Path, suite: str, nights: Sequence[NightRecord], options: HistoryOptions
) -> _Context:
    path = options.quarantine or quarantine_path(nights)
    baseline = find_night_baseline(folder, nights, options.baseline, options.workspace)
    return _Context(
        suite=suite,
        options=options,
        baseline=baseline,
        entries=read_quarantine(path) if path else (),
        quarantine=path,
    )


def _model_nights(series: Series, context: _Context) -> ModelNights:
    ruling = _ruling(series, context)
    verdicts = _verdicts(series, context, ruling)
    baseline = context.baseline
    found, stand = changes_and_standings(series, baseline.night)
    turns = turns_of(series, [*((one, True) for one in found), *_tonight(series, stand, found)])
    whole = whole_change(series)
    own = own_verdicts(series.nights if baseline.night is None else (), series.model)
    return ModelNights(
        suite=context.suite,
        model=series.model,
        nights=tuple(night_rows(series, verdicts, baseline.night, own=own.verdicts)),
        counts=Counter(one.standing.state for one in stand),
        samples=tuple(standing_out(series, stand, ruling)),
        turns=tuple(turns),
        whole=whole if _is_news(whole, turns) else None,
        flips=expected_flips_of(series, stand),
        baseline=baseline.run_id,
        baseline_days=baseline.days(context.options.now),
        verdict=verdicts[-1],
        warnings=(*_warnings(series, ruling, baseline.warning), *own.warnings),
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
    baseline = judged_against(series, context.baseline, context.options.margin)
    if baseline is None:
        return [None] * len(series.nights)
    return list(night_verdicts(series.nights, baseline, ruling.in_force))


def judged_against(
    series: Series, found: NightBaseline, margin: float | None = None
) -> Baseline | None:
    """Return what the nights of a model are judged against, and by which metrics; None for nothing.

    What decides is what the suite says now; it may be judged by another rule every night.
    """
    if found.night is None:
        return None
    rule = series.nights[-1].manifest.comparison or {}
    return Baseline(
        night=found.night,
        model=series.model,
        own_model=found.own_model(series.model),
        choice=chosen_metrics(rule, MetricChoice(margin=margin)),
        question="population" if rule.get("population") else "fixed_suite",
    )


def changes_and_standings(
    series: Series, baseline: NightRecord | None
) -> tuple[list[Change], list[Standing]]:
    """Return the changes of all samples, and how each stands, by those since the baseline."""
    found = sample_changes(series.nights_of)
    return found, night_standings(series.nights_of, found, accepted_night(series, baseline))


def accepted_night(series: Series, baseline: NightRecord | None) -> int:
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


def _is_news(whole: NightOfChange | None, turns: Sequence[NightOfChange]) -> bool:
    """Say whether a change of all samples together is not that of single ones."""
    return whole is not None and all(
        (turn.night, turn.fell) != (whole.night, whole.fell) for turn in turns
    )


def _warnings(series: Series, ruling: QuarantineRuling, of_baseline: str) -> Iterator[str]:
    if of_baseline:
        yield of_baseline
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
