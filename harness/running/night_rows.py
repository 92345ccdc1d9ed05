"""What is shown of the nights of one model: each night, the samples that stand out, their flips."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from harness.measuring.flip_forecasts import TwoNights, flip_forecast
from harness.measuring.night_standings import Standing
from harness.measuring.pass_rates import pass_rate
from harness.measuring.quarantine_rules import QuarantineRuling
from harness.running.night_series import Series, changes_on, sample_change
from harness.storing.night_outcomes import NightRecord, SampleNight
from harness.types.nights import ExpectedFlips, Night, SampleChange, SampleNow
from harness.types.sample_states import SampleStanding
from harness.types.summaries import Interval
from harness.types.verdicts import SuiteVerdict, Verdict

_SHOWN_FIRST = ("regressed", "fixed", "unsettled", "flaky", "new", "stable_fail", "stable_pass")
_TWO = 2
_STABLE = frozenset({"stable_fail", "stable_pass"})


def night_rows(
    series: Series,
    verdicts: Sequence[SuiteVerdict | None],
    baseline: NightRecord | None,
    *,
    own: Mapping[str, Verdict],
) -> list[Night]:
    """Return every night with its numbers, its verdict, and what changed.

    `own` are the verdicts that runs got as they ended, by run id.
    """
    rows = enumerate(zip(series.nights, verdicts, strict=True))
    return [
        replace(
            _night(series, place, verdict),
            is_baseline=baseline is night,
            own_verdict=own.get(night.manifest.run_id),
        )
        for place, (night, verdict) in rows
    ]


def _night(series: Series, place: int, verdict: SuiteVerdict | None) -> Night:
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
        verdict=verdict.verdict if verdict else None,
        decided_by=verdict.decided_by if verdict else (),
        changes=tuple(changes_on(series, place)),
    )


def _rate(samples: Collection[SampleNight], *, excludes: bool) -> Interval:
    """Estimate the pass rate as the run's own summary does; errors fail, or are left out."""
    counted = [(one.passes, one.passes + one.failures) for one in samples]
    if not excludes and any(trials for _, trials in counted):
        counted = [(one.passes, one.trials) for one in samples]
    return pass_rate(Counter(one for one in counted if one[1]))


def standing_out(
    series: Series, stand: Sequence[Standing], ruling: QuarantineRuling
) -> Iterator[SampleNow]:
    """Give the samples that are not stable or are quarantined, the gravest first."""
    order = {state: place for place, state in enumerate(_SHOWN_FIRST)}
    for one in sorted(stand, key=lambda each: order[each.standing.state]):
        until = ruling.in_force.get(one.standing.sample_id)
        if until is not None or one.standing.state not in _STABLE:
            yield SampleNow(
                standing=one.standing,
                since=_since(series, one),
                turned=_turned(series, one),
                quarantined_until=until,
            )


def _turned(series: Series, one: Standing) -> SampleChange | None:
    if one.standing.state != "unsettled" or one.change is None:
        return None
    return sample_change(series, one.change)


def _since(series: Series, one: Standing) -> int | None:
    if one.change is not None:
        return one.change.night + 1
    if one.standing.state == "new":
        nights = series.nights_of[one.standing.sample_id]
        return next((place for place, night in enumerate(nights, start=1) if any(night)), None)
    return len(series.nights) if one.standing.state in {"regressed", "fixed"} else None


def expected_flips_of(series: Series, stand: Sequence[Standing]) -> ExpectedFlips | None:
    """Hold tonight against the night before; None for a first night, or for new samples alone."""
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
