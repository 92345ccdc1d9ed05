"""What a gate asks for, held against what a run of the suite measures."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

from harness.documents.nodes import Location, Scalar, describe, is_null
from harness.loading.grader_entries import TRIAL_METRIC
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest
from harness.types.grades import RECORDED
from harness.types.suites import ERRORS, Estimate
from harness.types.summaries import AMOUNTS

TRIES = ("pass@k", "pass^k")
COUNTED = (*AMOUNTS, ERRORS)
_ESTIMATES = get_args(Estimate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurable:
    """What a run of a suite measures: what gates can be about.

    `models`, `slices` and `epochs` are None where they are not known, and not checked then.
    """

    graders: Collection[str]
    models: Collection[str] | None = None
    slices: Collection[str] | None = None
    epochs: int | None = None

    def counts(self, metric: str | None) -> bool:
        """Say whether a metric counts what trials take or errors; graders' names go before."""
        return metric in COUNTED and metric not in self.graders


def is_metric(metric: str, metrics: Collection[str]) -> bool:
    """Say whether a gate can be about a metric: one of `metrics`, or what a record may tell."""
    return metric in metrics or (metric.startswith(RECORDED) and metric != RECORDED)


def check_asked(at: Location, context: LoadContext, has: Measurable) -> None:
    """Report what one gate asks for that no run of the suite measures."""
    checking = _Checking(at, context, has)
    checking.threshold()
    checking.tries()
    checking.interval()
    checking.counted()
    checking.slices()


@dataclass(frozen=True, slots=True)
class _Checking:
    """Checks one gate."""

    at: Location
    context: LoadContext
    has: Measurable

    @property
    def how(self) -> str:
        return self.at.text("aggregation") or "mean"

    def given(self, key: str) -> Location | None:
        found = self.at.child(key)
        return None if found is None or is_null(found.node) else found

    def fault(self, at: Location | None, problem: str, allowed: str) -> None:
        self.context.findings.fault(at or self.at, problem, allowed)

    def threshold(self) -> None:
        """Report a threshold that the aggregation has no use for."""
        if (at := self.given("threshold")) and self.how != "pass_rate":
            allowed = "`aggregation: pass_rate` is the share of scores that reach it"
            self.fault(at, f"a threshold has no effect on the {self.how}", allowed)

    def tries(self) -> None:
        """Report a `k` that is missing, has no effect, or is more than there are epochs."""
        at, epochs = self.given("k"), self.has.epochs
        if self.how not in TRIES:
            if at:
                problem = f"`k` has no effect on the {self.how}"
                self.fault(at, problem, "`aggregation: pass@k` and `pass^k` have one")
        elif at is None:
            self.fault(None, '"k" is missing', f"`{self.how}` needs it: how many tries, such as 3")
        elif epochs is not None and (_number(at) or 0) > epochs:
            problem = f"found {describe(at.node)}, and the suite has epochs: {epochs}"
            self.fault(at, problem, f"at most {epochs}, or more `epochs`")

    def interval(self) -> None:
        """Report an interval of what has none."""
        at = self.given("interval")
        if at and self.how not in _ESTIMATES:
            allowed = f"{', '.join(_ESTIMATES[:-1])} and {_ESTIMATES[-1]} have one"
            self.fault(at, f"a {self.how} has no interval", allowed)

    def counted(self) -> None:
        """Report an aggregation or a value that the metric cannot have."""
        metric, value = self.at.text("metric"), self.given("value")
        counts = self.has.counts(metric)
        if counts and self.how in ("pass_rate", *TRIES):
            problem = f"{metric} does not pass or fail"
            self.fault(self.at.child("aggregation"), problem, "mean, sum, p50, p90, max, ...")
        elif not counts and self.how == "sum":
            allowed = f"sums are of {', '.join(COUNTED)}"
            self.fault(self.at.child("aggregation"), "there is no sum of this metric", allowed)
        # Of an unknown metric there is a fault already.
        is_known = metric is None or is_metric(metric, [*self.has.graders, TRIAL_METRIC])
        is_share = is_known if not counts else metric == ERRORS and self.how != "sum"
        if is_share and value and (number := _number(value)) is not None and number > 1:
            self.fault(value, f"found {describe(value.node)}", "at most 1")

    def slices(self) -> None:
        """Report a slice by a name that the suite does not slice by."""
        at, known = self.given("slice"), self.has.slices
        for name, _ in at.children() if at and known is not None else ():
            if name not in (known or ()):
                problem = f'the suite is not sliced by "{name}"'
                allowed = suggest(name, known) if known else "name it in `slices`"
                self.context.findings.key_fault(at or self.at, name, problem, allowed)


def _number(at: Location) -> float | None:
    value = at.node.value if isinstance(at.node, Scalar) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
