"""The nights of a model against the pinned baseline, by whether the trial passed."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from harness.measuring.paired_outcomes import (
    ComparedMetric,
    MetricPairs,
    PairedSample,
    SideOutcomes,
)
from harness.measuring.suite_verdicts import invalid, judge_runs, pairing_fault
from harness.storing.night_outcomes import NightRecord, SampleNight
from harness.types.verdicts import SuiteVerdict

METRIC = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The pinned run, the drop that one can live with, if it is known, and the models.

    `model` is that of the nights, `own_model` the one of the baseline that it is held against.
    """

    night: NightRecord
    model: str
    own_model: str
    margin: float | None = None

    @property
    def samples(self) -> Mapping[str, SampleNight]:
        """Return its samples by id."""
        return self.night.models.get(self.own_model, {})


def verdict_on(
    night: NightRecord, baseline: Baseline, quarantined: Collection[str] = ()
) -> SuiteVerdict:
    """Judge a night against the baseline, quarantined samples left out.

    Samples are paired as `regrade compare` does, but nothing is graded again: where graders have
    changed since the baseline, the verdict is INVALID and says so.
    """
    before, after = baseline.samples, night.models.get(baseline.model, {})
    common = [name for name in before if name in after]
    alike = [name for name in common if before[name].is_like(after[name])]
    if fault := pairing_fault(len(common), len(alike)):
        if any(before[name].given == after[name].given for name in set(common) - set(alike)):
            fault += "; the graders differ: `regrade compare` grades the baseline again"
        return invalid(fault)
    is_short = len(after) < night.manifest.samples
    absent = [name for name in before if name not in after] if is_short else []
    metric = ComparedMetric(name=METRIC, gating=True, margin=baseline.margin)
    samples = [
        PairedSample(name, _side(before[name], baseline.night), _side(after.get(name), night))
        for name in (*alike, *absent)
        if name not in quarantined
    ]
    return judge_runs([[MetricPairs(metric, samples)]])[0]


def _side(sample: SampleNight | None, night: NightRecord) -> SideOutcomes:
    epochs = night.manifest.epochs
    if sample is None:
        return SideOutcomes(0.0, 0, never_ran=epochs)
    errored, never = sample.errors, max(epochs - sample.trials, 0)
    if night.manifest.errors == "exclude":
        errored, never = 0, never + errored
    return SideOutcomes(float(sample.passes), sample.passes + sample.failures, errored, never)


def night_verdicts(
    nights: Collection[NightRecord], baseline: Baseline, quarantined: Collection[str]
) -> Iterator[SuiteVerdict | None]:
    """Judge every night after the baseline; None for the others."""
    start = baseline.night.manifest.started_at
    for night in nights:
        is_later = night.manifest.started_at > start
        yield verdict_on(night, baseline, quarantined) if is_later else None
