"""A suite looked at before it is run: what it can see, and what it costs by earlier runs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from harness.loading.datasets import open_dataset
from harness.loading.selections import Selection
from harness.measuring.foresight import churns_of, sight
from harness.measuring.outcome_amounts import amounts_of
from harness.storing.counted_outcomes import CountedOutcomes
from harness.storing.night_outcomes import NightRecord, SampleNight, read_night
from harness.types.errors import Fault, SuiteError
from harness.types.suite_plans import (
    ChurnSource,
    ExpectedSpending,
    ModelPlan,
    Sight,
    SuitePlan,
)
from harness.types.suites import ComparisonRule, Suite
from harness.types.summaries import AMOUNTS
from harness.types.trials import ERROR_STATUSES, Outcome

ASSUMED_CHURNS = (0.02, 0.05, 0.1, 0.2)
"""The shares of samples that may change with nothing changed, where no run says which it is."""

_PER_RUN = ("requests_per_minute", "tokens_per_minute")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """How a suite is to be run: empty or None leaves the suite's word.

    `detect` is the drop to be seen, a fraction. `sources` are earlier runs of the suite; of one
    sample all their trials count that were given the same.
    """

    detect: float
    models: tuple[str, ...] = ()
    epochs: int | None = None
    selection: Selection = field(default_factory=Selection)
    sources: tuple[Path, ...] = ()


def plan_suite(suite: Suite, options: PlanOptions) -> SuitePlan:
    """Say what a suite can and cannot see, and what a run of it will cost and take.

    Raises:
        SuiteError: there is no agent to be run.
        DatasetError: the dataset cannot be used.
        StoreError: an earlier run cannot be read.
    """
    if suite.target is None:
        problem = "the suite has no target: there is no run to plan"
        raise SuiteError([Fault(file=str(suite.source or suite.name), problem=problem)])
    samples = open_dataset(suite, options.selection).count
    epochs = options.epochs or suite.epochs
    nights, repeats = _without_repeats([read_night(path) for path in options.sources])
    earlier = _Earlier(nights)
    names = options.models or suite.target.models
    shape = _Shape(samples, epochs, options.detect)
    models = tuple(_model_plan(name, shape, earlier) for name in names)
    return SuitePlan(
        suite=suite.name,
        samples=samples,
        epochs=epochs,
        trials=samples * epochs * len(models),
        concurrency=_concurrency(suite),
        detect=options.detect,
        models=models,
        seconds=_seconds(models, _concurrency(suite)),
        limits={name: of for name, of in asdict(suite.limits).items() if name in _PER_RUN and of},
        sources=tuple(str(night.folder) for night in nights),
        warnings=(*_rule_warnings(suite.comparison), *repeats, *_warnings(models, options.sources)),
    )


def _without_repeats(nights: Sequence[NightRecord]) -> tuple[list[NightRecord], list[str]]:
    """Return each run once, with a line on each that is named again or whose trials are another's.

    A run counted twice would look like a repeat in which nothing changes.
    """
    known: dict[str, NightRecord] = {}
    said: list[str] = []
    for night in nights:
        manifest = night.manifest
        origin = manifest.graded_from if isinstance(manifest.graded_from, str) else None
        trials = origin or manifest.run_id
        if trials in known:
            said.append(_repeat_words(manifest.run_id, known[trials].manifest.run_id))
        known.setdefault(trials, night)
    return list(known.values()), said


def _repeat_words(run_id: str, other: str) -> str:
    if run_id == other:
        return f"{run_id} is named more than once, and counts once"
    return f"{run_id} is left out: its trials are those of {other}"


@dataclass(frozen=True, slots=True)
class _Shape:
    samples: int
    epochs: int
    detect: float

    def sight(self, churn: float, source: ChurnSource) -> Sight:
        """Return what is seen with a churn."""
        return sight(self.samples, self.epochs, churn=churn, detect=self.detect, source=source)


class _Earlier:
    """What earlier runs say of a model."""

    def __init__(self, nights: Sequence[NightRecord]) -> None:
        self._nights = nights

    def samples(self, model: str) -> list[tuple[int, int]]:
        """Return (passes, trials) of each sample, errors left out, of the kind that it was last."""
        last: dict[str, SampleNight] = {}
        for night in self._nights:
            last |= night.models.get(model, {})
        found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for night in self._nights:
            for name, one in night.models.get(model, {}).items():
                if one.is_like(last[name]):
                    found[name][0] += one.passes
                    found[name][1] += one.passes + one.failures
        return [(passes, trials) for passes, trials in found.values()]

    def spending(self, model: str, trials: int) -> ExpectedSpending | None:
        """Return what so many trials will use, if as much each as those that were driven."""
        outcomes = [
            one
            for night in self._nights
            for _, one in CountedOutcomes(night.folder)
            if one.model == model and one.status not in ERROR_STATUSES
        ]
        return _spending(outcomes, trials) if outcomes else None


def _model_plan(model: str, shape: _Shape, earlier: _Earlier) -> ModelPlan:
    trials = shape.samples * shape.epochs
    assumed: list[tuple[float, ChurnSource]] = [(churn, "assumed") for churn in ASSUMED_CHURNS]
    sights = tuple(shape.sight(*one) for one in churns_of(earlier.samples(model)) or assumed)
    return ModelPlan(
        model=model, trials=trials, sights=sights, spending=earlier.spending(model, trials)
    )


def _spending(outcomes: Sequence[Outcome], trials: int) -> ExpectedSpending:
    taken = zip(*map(amounts_of, outcomes), strict=True)
    known = {
        name: [value for value in values if value is not None]
        for name, values in zip(AMOUNTS, taken, strict=True)
    }
    tokens = _expected(known["tokens"], trials)
    return ExpectedSpending(
        of=len(outcomes),
        agent_seconds=_expected(known["seconds"], trials) or 0.0,
        cost_usd=_expected(known["cost_usd"], trials),
        tokens=None if tokens is None else round(tokens),
        unknown=len(outcomes) - len(known["cost_usd"]),
    )


def _expected(values: Sequence[float], trials: int) -> float | None:
    return sum(values) / len(values) * trials if values else None


def _concurrency(suite: Suite) -> int:
    target = suite.target.target if suite.target else None
    most: int | None = getattr(target, "sessions_at_once", None)
    return min(suite.limits.concurrency, most or suite.limits.concurrency)


def _seconds(models: Iterable[ModelPlan], concurrency: int) -> float | None:
    """Return how long a run takes; None where it is not known of every model."""
    spendings = [model.spending for model in models]
    known = [one.agent_seconds for one in spendings if one is not None]
    return sum(known) / concurrency if known and len(known) == len(spendings) else None


def _rule_warnings(rule: ComparisonRule) -> Iterator[str]:
    """Say where a suite is compared otherwise than planned: by the trial alone, on this suite."""
    if rule.metrics != ("trial",):
        named = ", ".join(rule.metrics)
        yield f"the plan is for the trial's pass alone; the suite is compared by {named}"
    if len(rule.metrics) > 1:
        yield "p values are adjusted for several metrics, so that less is seen than is said here"
    if rule.population:
        yield "the suite is compared as a population: less is seen than is said here"


def _warnings(models: Sequence[ModelPlan], sources: Sequence[Path]) -> Iterator[str]:
    for model in models:
        if sources and model.spending is None:
            yield f"no trial of {model.model} was driven in the earlier runs"
        if model.spending and model.spending.cost_usd is not None and model.spending.unknown:
            do = "does" if model.spending.unknown == 1 else "do"
            yield (
                f"{model.spending.unknown} of {model.spending.of} trials of {model.model} {do} not "
                "say what they cost; the others stand for them"
            )
