"""The summary of a run, from the outcomes of its trials."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.measuring.broken_graders import broken_graders, broken_sentences
from harness.measuring.faulty_graders import FaultyGraders, leaves, metrics_of
from harness.measuring.gates import NO_JUDGED_TRIAL, judge_gate
from harness.measuring.part_numbers import model_numbers
from harness.measuring.slice_rows import MOST_VALUES
from harness.measuring.tallies import ModelTally
from harness.measuring.tally_parts import Part
from harness.system.shown_numbers import counted, counted_of, plain_number
from harness.types.suites import ErrorRule, GraderSpec, Suite
from harness.types.summaries import (
    AMOUNTS,
    BrokenGrader,
    FailedTrial,
    GateResult,
    Summary,
)
from harness.types.trials import Outcome

_Parts = Mapping[str, Part]


class Tally:
    """Everything that a summary needs, gathered from outcomes in any order.

    `graders` and `models` are names, in the order in which they are shown; `errors` says whether
    errors are failures, or left out of the rates.
    """

    def __init__(
        self,
        graders: Iterable[str],
        models: Iterable[str],
        *,
        epochs: int,
        errors: ErrorRule = "fail",
    ) -> None:
        self._names = tuple(graders)
        self._epochs = epochs
        self._excludes = errors == "exclude"
        self.models: dict[str, ModelTally] = {}
        for model in models:
            self._of(model)

    def _of(self, model: str) -> ModelTally:
        if model not in self.models:
            self.models[model] = ModelTally(
                self._names, epochs=self._epochs, excludes=self._excludes
            )
        return self.models[model]

    def add(self, outcome: Outcome) -> None:
        """Take the outcome of one trial."""
        model = self.models.get(outcome.model)
        (self._of(outcome.model) if model is None else model).add(outcome)

    @property
    def trials(self) -> int:
        """Count the trials taken so far."""
        return sum(model.trials for model in self.models.values())


def summarise(  # noqa: PLR0913  (the facts of a run that the trials do not hold)
    tally: Tally,
    suite: Suite,
    *,
    run_id: str,
    planned: int | None,
    failures: Iterable[FailedTrial] = (),
    reasons: Iterable[str] = (),
    warnings: Iterable[str] = (),
    of_samples: Iterable[GraderSpec] = (),
    gated: Tally | None = None,
    broke: Mapping[str, str] | None = None,
    observed: Iterable[str] = (),
) -> Summary:
    """Sum up a run.

    `planned` is how many trials the run was to have, None where that is not known; `reasons` say
    why the run ended early, where it did. `of_samples` are graders of single samples that cannot
    work. `gated` holds the trials that gates are about, where these are not all. `broke` says by
    grader how it broke first; `observed` are graders that decide nothing, beside the suite's.
    """
    faulty = FaultyGraders(suite, of_samples)
    parts = {name: Part(of) for name, of in tally.models.items()}
    judged = parts if gated is None else {name: Part(of) for name, of in gated.models.items()}
    gates = tuple(
        result for gate in suite.gates for result in judge_gate(gate, judged, unmet=faulty.unmet)
    )
    observers = {*observed, *(spec.name for spec in suite.graders if spec.role == "observed")}
    broken = tuple(broken_graders(parts.values(), observers, broke or {}))
    incomplete = (*reasons, *faulty.reasons(), *_missing(parts, suite, planned, broken))
    incomplete = (*incomplete, *_undecided(gates, incomplete))
    observing = [one for one in broken if not one.decides]
    remarks = (*broken_sentences(observing), *_unjudged(gates), *_unsliced(parts, suite))
    shown = {spec.name: spec.display_name or None for spec in suite.graders}
    return Summary(
        suite=suite.name,
        run_id=run_id,
        complete=not incomplete,
        passed=not incomplete and all(gate.passed is not False for gate in gates),
        planned=planned,
        models={name: model_numbers(part, shown) for name, part in parts.items()},
        gates=gates,
        reasons=incomplete,
        warnings=(*warnings, *remarks, *_unknown(parts, suite)),
        first_failures=tuple(failures),
        broken_graders=broken,
        errors=suite.errors,
    )


def _undecided(gates: Sequence[GateResult], reasons: Sequence[str]) -> Iterator[str]:
    """Say that gates decide nothing: their trials ended in errors, or no gate has any.

    Where the run is incomplete for another `reason`, errors have been told of.
    """
    broken = [gate for gate in gates if _is_broken(gate)]
    if not reasons:
        yield from (f"a gate cannot be judged, {NO_JUDGED_TRIAL}: {of.text}" for of in broken)
    if gates and not broken and all(gate.passed is None for gate in gates):
        yield "no gate could be judged: this run has nothing they are about"


def _is_broken(gate: GateResult) -> bool:
    """Say whether a gate, or what leaves a group of gates open, has nothing but errors."""
    if gate.passed is not None:
        return False
    return gate.note == NO_JUDGED_TRIAL or any(map(_is_broken, gate.parts))


def _unjudged(gates: Iterable[GateResult]) -> Iterator[str]:
    for gate in gates:
        if gate.passed is None and not _is_broken(gate):
            yield f"gate not judged, {gate.note or 'a part of it is not in this run'}: {gate.text}"


def _unsliced(parts: _Parts, suite: Suite) -> Iterator[str]:
    """Say by which names the run could not be sliced."""
    models = [part.tally.slices for part in parts.values()]
    for name in dict.fromkeys(name for one in models for name in one.overflowing):
        yield f"slices: {name} has more than {MOST_VALUES} values; the run is not sliced by it"
    if any(part.trials for part in parts.values()):
        known = {name for one in models for name in (*dict(one), *one.overflowing)}
        for name in suite.slices:
            if name not in known:
                yield f"slices: no sample of this run has {name}"


def _unknown(parts: _Parts, suite: Suite) -> Iterator[str]:
    """Say of how many trials it is not known what a gate asks for."""
    gated = {name for gate in suite.gates for leaf in leaves(gate) for name in metrics_of(leaf)}
    for model, part in parts.items():
        for name in AMOUNTS:
            missing = part.driven - len(part.amount(name))
            if missing and name in gated and name not in part.tally.names:
                of = counted_of(missing, part.driven, "trial")
                yield f"{name} is not known of {of} of {model}"


def _missing(
    parts: _Parts, suite: Suite, planned: int | None, broken: Sequence[BrokenGrader]
) -> list[str]:
    models = parts.values()
    trials, allowed = sum(part.trials for part in models), suite.limits.max_error_rate
    errors = sum(part.errors for part in models)
    decided = sum(grader.graded for part in models for grader in part.graders.values())
    reasons = []
    if planned is not None and trials < planned:
        are = "is" if planned - trials == 1 else "are"
        reasons.append(f"{counted_of(planned - trials, planned, 'trial')} {are} missing")
    if ungraded := sum(part.ended("grading_error") for part in models):
        deciding = list(broken_sentences([one for one in broken if one.decides]))
        reasons += deciding or [f"{counted(ungraded, 'trial')} could not be graded: a grader broke"]
    if trials and errors / trials > allowed:
        reasons.append(
            f"{counted_of(errors, trials, 'trial')} ended in errors; "
            f"limits.max_error_rate allows {plain_number(100 * allowed, 12)} %"
        )
    if not decided or not any(part.ended("completed") for part in models):
        reasons.append("no trial was driven and graded to its end")
    return reasons
