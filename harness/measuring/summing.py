"""The summary of a run, from the outcomes of its trials."""

from collections.abc import Iterable, Mapping

from harness.measuring.faulty_graders import FaultyGraders
from harness.measuring.gates import judge_gate
from harness.measuring.intervals import mean, pass_rate, quantile
from harness.measuring.tallies import GraderTally, ModelTally
from harness.types.suites import ErrorRule, GraderSpec, Suite
from harness.types.summaries import (
    FailedTrial,
    GraderSummary,
    ModelSummary,
    Seconds,
    Summary,
)
from harness.types.trajectories import Usage
from harness.types.trials import Outcome


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
        self._repeated = epochs > 1
        self._excludes = errors == "exclude"
        self.models: dict[str, ModelTally] = {}
        for model in models:
            self._of(model)

    def _of(self, model: str) -> ModelTally:
        if model not in self.models:
            self.models[model] = ModelTally(
                self._names, repeated=self._repeated, excludes=self._excludes
            )
        return self.models[model]

    def add(self, outcome: Outcome) -> None:
        """Take the outcome of one trial."""
        self._of(outcome.model).add(outcome)

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
) -> Summary:
    """Sum up a run.

    `planned` is how many trials the run was to have, None where that is not known; `reasons` say
    why the run ended early, where it did. `of_samples` are graders of single samples that cannot
    work.
    """
    faulty = FaultyGraders(suite, of_samples)
    gates = tuple(
        result
        for gate in suite.gates
        for result in judge_gate(gate, tally.models, unmet=faulty.unmet)
    )
    incomplete = (*reasons, *faulty.reasons(), *_missing(tally, suite, planned))
    if gates and all(gate.passed is None for gate in gates):
        incomplete = (*incomplete, "no gate could be judged: their models are not in this run")
    unjudged = [
        f"gate not judged, no such model in this run: {g.text}" for g in gates if g.passed is None
    ]
    shown = {spec.name: spec.display_name or None for spec in suite.graders}
    return Summary(
        suite=suite.name,
        run_id=run_id,
        complete=not incomplete,
        passed=not incomplete and all(gate.passed is not False for gate in gates),
        planned=planned,
        models={name: _model(of, shown) for name, of in tally.models.items()},
        gates=gates,
        reasons=incomplete,
        warnings=(*warnings, *_broken_observers(tally, suite), *unjudged),
        first_failures=tuple(failures),
        errors=suite.errors,
    )


def _broken_observers(tally: Tally, suite: Suite) -> list[str]:
    names = [spec.name for spec in suite.graders if spec.role == "observed"]
    broke = {n: sum(m.graders[n].broke for m in tally.models.values()) for n in names}
    return [
        f"the observing grader {n} broke on {count} trials" for n, count in broke.items() if count
    ]


def _missing(tally: Tally, suite: Suite, planned: int | None) -> list[str]:
    models = tally.models.values()
    trials, allowed = tally.trials, suite.limits.max_error_rate
    errors = sum(model.errors for model in models)
    decided = sum(g.graded for model in models for g in model.graders.values())
    reasons = []
    if planned is not None and trials < planned:
        reasons.append(f"{planned - trials} of {planned} trials are missing")
    if trials and errors / trials > allowed:
        reasons.append(
            f"{errors} of {trials} trials ended in errors; "
            f"limits.max_error_rate allows {allowed:.0%}"
        )
    if broken := sum(model.broken for model in models):
        reasons.append(f"{broken} trials could not be graded: a grader broke")
    if not decided or not any(model.completed for model in models):
        reasons.append("no trial was driven and graded to its end")
    return reasons


def _model(tally: ModelTally, shown: Mapping[str, str | None]) -> ModelSummary:
    judged = tally.judge_usage.total
    known = tally.trials > tally.errors
    if_failed, if_passed = _bounds(tally)
    return ModelSummary(
        trials=tally.trials,
        completed=tally.completed,
        agent_failures=tally.agent_failures,
        errors=tally.errors,
        ungraded=tally.ungraded,
        passed=tally.passed,
        pass_rate=pass_rate(tally.passes.means() if known else (), tally.counted),
        pass_rate_if_errors_failed=if_failed,
        pass_rate_if_errors_passed=if_passed,
        score=mean(tally.scores.means() if known else ()),
        graders={name: _grader(of, shown.get(name)) for name, of in tally.graders.items()},
        usage=tally.usage.total,
        seconds=Seconds(p50=quantile(tally.seconds, 0.5), p90=quantile(tally.seconds, 0.9)),
        judge_usage=None if judged == Usage() else judged,
    )


def _bounds(tally: ModelTally) -> tuple[float | None, float | None]:
    """Return the rates had all errors failed, and had all passed; None without errors."""
    trials = tally.trials - tally.ungraded
    if not tally.errors or not trials:
        return None, None
    return tally.passed / trials, (tally.passed + tally.errors) / trials


def _grader(tally: GraderTally, display_name: str | None) -> GraderSummary:
    score = mean(tally.scores.means())
    return GraderSummary(
        mean=score.mean,
        low=score.low,
        high=score.high,
        pass_rate=pass_rate(tally.passes.means(), tally.counted),
        passed=tally.passed,
        failed=tally.graded - tally.passed,
        graded=tally.graded,
        errors=tally.errors,
        skipped=tally.skipped,
        display_name=display_name,
    )
