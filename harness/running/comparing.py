"""Two runs compared: paired sample by sample, judged, and shown where they part."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from harness.measuring.paired_outcomes import MetricPairs
from harness.measuring.suite_verdicts import invalid, judge_runs, pairing_fault
from harness.running.baseline_grading import GradedBaseline, Regrading, graded_alike
from harness.running.broken_regrading import broken_again
from harness.running.compared_metrics import (
    MetricChoice,
    chosen_metrics,
    leaves_costs_out,
    metric_pairs,
    require_metrics,
)
from harness.running.compared_sides import ComparedSide
from harness.running.completing import how_to_complete
from harness.running.moved_samples import MovedSamples, moved_samples
from harness.running.narrowed_runs import narrowing_of, samples_of
from harness.running.quarantine_lookup import quarantined_in
from harness.running.run_differences import differences, served_change
from harness.system.shown_numbers import counted
from harness.types.comparisons import ComparedRun, Comparison, Pairing
from harness.types.suites import ErrorRule
from harness.types.verdicts import Question, SuiteVerdict

STALE_DAYS = 14
"""A baseline is called stale when it is older."""

_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How runs are compared; `now` is the time from which the age of a baseline is counted.

    `baseline_file` is the exported file that the baseline was unpacked from, if it was.
    """

    regrading: Regrading
    now: datetime
    choice: MetricChoice = field(default_factory=MetricChoice)
    question: Question = "fixed_suite"
    confirmed: bool = False
    baseline_file: str = ""


SidePair = tuple[ComparedSide, ComparedSide]
"""A baseline, and the candidate that is compared with it."""


async def compare(pairs: Sequence[SidePair], options: CompareOptions) -> tuple[Comparison, ...]:
    """Compare candidates with their baselines, in the order given; P values know of all of them.

    Raises:
        StoreError: a run cannot be read.
        InputError: a metric that is named is in none of the runs.
    """
    for baseline, candidate in pairs:
        require_metrics(_choice(candidate, options), (baseline, candidate))
    paired = [await _pair(*pair, options) for pair in pairs]
    metrics = [[] if one.fault else one.metrics(options) for one in paired]
    question = _question(pairs, options)
    judged = iter(
        judge_runs(
            [each for each in metrics if each],
            question=question,
            confirmed=options.confirmed,
        )
    )
    return tuple(
        one.compared(next(judged), each, options)
        if each
        else one.compared(invalid(one.fault, question), [], options)
        for one, each in zip(paired, metrics, strict=True)
    )


def _choice(candidate: ComparedSide, options: CompareOptions) -> MetricChoice:
    return chosen_metrics(candidate.manifest.comparison, options.choice)


def _question(pairs: Sequence[SidePair], options: CompareOptions) -> Question:
    said = any((one.manifest.comparison or {}).get("population") for _, one in pairs)
    return "population" if said else options.question


async def _pair(
    baseline: ComparedSide, candidate: ComparedSide, options: CompareOptions
) -> "_Paired":
    incomplete = baseline.incompleteness()
    common = [name for name in baseline.samples if name in candidate.samples]
    alike = [name for name in common if _keys_agree(baseline, candidate, name)]
    graded = await graded_alike(baseline, candidate, frozenset(alike), options.regrading)
    paired = [one for one in alike if one not in graded.unalike and one in graded.side.samples]
    new, absent, not_taken = _lonely(baseline, candidate)
    never_ran = absent if candidate.missing_samples else []
    kept, held = frozenset(paired), _quarantined(candidate, options)
    ids = [*paired, *(name for name in never_ran if name in graded.side.samples)]
    return _Paired(
        baseline=baseline,
        candidate=candidate,
        graded=graded,
        pairing=Pairing(
            paired=len(kept - held),
            changed=tuple(name for name in common if name not in frozenset(alike)),
            unalike=tuple(name for name in alike if name not in kept),
            added=() if _lacks(baseline, candidate) else tuple(new),
            not_run=tuple(new) if _lacks(baseline, candidate) else (),
            removed=() if never_ran else tuple(absent),
            not_taken=tuple(not_taken),
            quarantined=tuple(name for name in ids if name in held),
        ),
        ids=[name for name in ids if name not in held],
        fault=_incomplete(baseline, incomplete, options)
        or _fault(len(common), len(paired), graded),
        never_ran=len(never_ran),
    )


def _lonely(
    baseline: ComparedSide, candidate: ComparedSide
) -> tuple[list[str], list[str], list[str]]:
    """Return the samples that one side alone has: new ones, absent ones, and those not asked for.

    It is not known which samples a tag or a limit left out: all that are absent, unless the
    candidate lacks samples that it asked for.
    """
    new = [name for name in candidate.samples if name not in baseline.samples]
    absent = [name for name in baseline.samples if name not in candidate.samples]
    ids = narrowing_of(candidate.manifest).get("ids", ())
    if not _took_others(candidate, baseline) or (candidate.missing_samples and not ids):
        return new, absent, []
    taken = frozenset(ids)
    return new, [one for one in absent if one in taken], [one for one in absent if one not in taken]


def _lacks(baseline: ComparedSide, candidate: ComparedSide) -> bool:
    """Say whether a baseline lacks samples that it may have had."""
    return baseline.missing_samples > 0 or _took_others(baseline, candidate)


def _took_others(side: ComparedSide, other: ComparedSide) -> bool:
    """Say whether a run took a part of its suite that the other one did not take alike."""
    ours, theirs = (samples_of(narrowing_of(one.manifest)) for one in (side, other))
    return bool(ours) and ours != theirs


def _quarantined(candidate: ComparedSide, options: CompareOptions) -> frozenset[str]:
    today = options.now.date()
    ruling = quarantined_in(candidate.folder, candidate.manifest, candidate.model, today)
    return frozenset(ruling.in_force if ruling else ())


def _incomplete(baseline: ComparedSide, reason: str, options: CompareOptions) -> str:
    if not reason:
        return ""
    has_errors = baseline.errors > 0
    advice = how_to_complete(baseline.manifest, baseline.folder, has_errors=has_errors)
    if options.baseline_file:
        advice = f"export a complete run to {options.baseline_file}"
    return f"only complete runs are baselines, and {reason}; {advice}"


def _keys_agree(baseline: ComparedSide, candidate: ComparedSide, name: str) -> bool:
    ours, theirs = baseline.samples[name], candidate.samples[name]
    return baseline.keys[ours] == candidate.keys[theirs]


def _fault(common: int, unchanged: int, graded: GradedBaseline) -> str:
    fault = pairing_fault(common, unchanged)
    if fault is None:
        return ""
    if not graded.unalike:
        return fault
    names = ", ".join(sorted(frozenset[str]().union(*graded.unalike.values())))
    why = graded.problem or "graders that ask a model are only run again with --regrade-judges"
    return f"{fault}; other graders judged {len(graded.unalike)} of them ({names}): {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paired:
    """A baseline and a candidate, with what of them can be compared.

    `fault` says why nothing can be, and is empty otherwise.
    """

    baseline: ComparedSide
    candidate: ComparedSide
    graded: GradedBaseline
    pairing: Pairing
    ids: Sequence[str]
    fault: str
    never_ran: int

    def metrics(self, options: CompareOptions) -> list[MetricPairs]:
        """Return the outcomes of every metric, those that decide first."""
        choice = _choice(self.candidate, options)
        return metric_pairs(self.graded.side, self.candidate, self.ids, choice)

    def compared(
        self, verdict: SuiteVerdict, metrics: Sequence[MetricPairs], options: CompareOptions
    ) -> Comparison:
        """Return the comparison, with the samples that moved in the first metric that decides."""
        before, after = self.baseline.manifest, self.candidate.manifest
        moved = self._moved(metrics)
        models = (self.baseline.model, self.candidate.model)
        if not self.fault and (broken := broken_again(self.graded, verdict)):
            verdict = replace(verdict, reason=broken)
        changes = differences(before, after, models)
        return Comparison(
            suite=after.suite,
            baseline=self._baseline(options.now),
            candidate=_run(self.candidate, after.errors),
            pairing=self.pairing,
            verdict=verdict,
            regressed=moved.regressed if moved else (),
            improved=moved.improved if moved else (),
            errored=moved.errored if moved else (),
            divergences=moved.divergences if moved else (),
            changes=(*changes, *(served_change(*moved.served) if moved else ())),
            warnings=tuple(self._warnings()),
        )

    def _moved(self, metrics: Sequence[MetricPairs]) -> MovedSamples | None:
        gating = [one for one in metrics if one.metric.gating]
        return moved_samples(self.graded.side, self.candidate, gating[0]) if gating else None

    def _baseline(self, now: datetime) -> ComparedRun:
        age = (now - self.baseline.manifest.started_at) / timedelta(days=1)
        return replace(
            _run(self.baseline, self.candidate.manifest.errors),
            age_days=round(age, 2),
            stale=age > STALE_DAYS,
            regraded=self.graded.regraded,
        )

    def _warnings(self) -> list[str]:
        said = []
        if leaves_costs_out(self.ids):
            said.append("with so many samples, costs are compared only where --metric names them")
        if self.never_ran:
            said.append(
                f"the candidate lacks {self.candidate.missing_samples:,} of the samples that it "
                f"planned: {counted(self.never_ran, 'sample')} of the baseline without a trial in "
                "it, counted as missing"
            )
        if self.graded.unalike and not self.fault:
            named = ", ".join(sorted(self.graded.unalike)[:_NAMED])
            why = self.graded.problem or "graders that ask a model were not run again"
            more = ", …" if len(self.graded.unalike) > _NAMED else ""
            said.append(f"left out, as other graders judged them: {named}{more} ({why})")
        return said


def _run(side: ComparedSide, errors: ErrorRule) -> ComparedRun:
    return ComparedRun(
        run_id=side.manifest.run_id,
        model=side.model,
        started_at=side.manifest.started_at,
        trials=sum(side.trials),
        errors_left_out=side.errors if errors == "exclude" else 0,
    )
