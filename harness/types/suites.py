"""A suite: one evaluation as its YAML says it, with every name in it resolved.

The `metadata` of fields are bounds (`ge`, `gt`, `le`), checked when a suite is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.types.code import (
    CodeRef,
    CustomExtractor,
    CustomGrader,
    Fixture,
    HubFile,
    SuitePath,
)
from harness.types.errors import Fault
from harness.types.grades import Role
from harness.types.marks import Style
from harness.types.prices import Price
from harness.types.protocols import (
    CombiningGrader,
    ConnectedGrader,
    Extractor,
    Grader,
    SubjectExtractor,
    Target,
)
from harness.types.quarantines import QuarantineEntry
from harness.types.samples import Sample

SCRIPTED = "scripted/"
"""What the names of models begin with that Regrade itself serves, by the suite's script."""

MOST_EPOCHS = 1_000_000
MOST_CONCURRENCY = 10_000
MOST_SECONDS = 1_000_000
MOST_WEIGHT = 1_000_000_000
MOST_PER_MINUTE = 1_000_000_000
MOST_USD = 1_000_000_000
MOST_TOKENS = 1_000_000_000_000_000

ErrorRule = Literal["fail", "exclude"]
"""What errors are in the numbers: failures, or left out of the rates."""

Operator = Literal["gt", "gte", "lt", "lte", "eq"]
Estimate = Literal["mean", "pass_rate", "pass@k", "pass^k"]
Quantile = Literal["min", "max", "median", "p50", "p90", "p95", "p99"]
Aggregation = Estimate | Quantile | Literal["sum"]
"""How a gate makes one number of many; percentiles are interpolated linearly."""

ERRORS = "errors"
"""The metric that says of a trial whether it could not be driven or graded."""

SliceValue = str | bool | int | float
MOST_AMOUNT = 1e15
MOST_K = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often an attempt is made, and how long a wait for the endpoint may be."""

    attempts: int = field(default=3, metadata={"ge": 1, "le": 100})
    max_wait_seconds: float = field(default=120.0, metadata={"ge": 0, "le": MOST_SECONDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run; None for no limit.

    `requests_per_minute` and `tokens_per_minute` hold for each model by itself; `max_cost_usd` and
    `max_tokens` for the run as a whole, all attempts and judges included.
    """

    concurrency: int = field(default=20, metadata={"ge": 1, "le": MOST_CONCURRENCY})
    turn_seconds: float | None = field(default=120.0, metadata={"gt": 0, "le": MOST_SECONDS})
    trial_seconds: float | None = field(default=600.0, metadata={"gt": 0, "le": MOST_SECONDS})
    grader_seconds: float = field(default=30.0, metadata={"gt": 0, "le": MOST_SECONDS})
    max_error_rate: float = field(default=0.1, metadata={"ge": 0, "le": 1})
    requests_per_minute: float | None = field(
        default=None, metadata={"gt": 0, "le": MOST_PER_MINUTE}
    )
    tokens_per_minute: float | None = field(default=None, metadata={"gt": 0, "le": MOST_PER_MINUTE})
    max_cost_usd: float | None = field(default=None, metadata={"gt": 0, "le": MOST_USD})
    max_tokens: int | None = field(default=None, metadata={"ge": 1, "le": MOST_TOKENS})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """A condition on the run's numbers that decides the exit code.

    `metric` is a grader's name, `trial` for the trial as a whole, what a trial takes (a key of
    `AMOUNTS`), or `errors` for whether it could not be driven or graded. Without `model` every
    model must meet it, or with `pooled` all models taken together. `threshold` makes a `pass_rate`
    the share of scores that reach it, in place of the share that passed. `k` is that of `pass@k`
    and `pass^k`. `interval` takes that end of the 95 % interval in place of the number. `slice`
    takes the samples that have these values (tags and metadata, as texts).
    """

    metric: str
    aggregation: Aggregation = "mean"
    threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})
    k: int | None = field(default=None, metadata={"ge": 1, "le": MOST_K})
    interval: Literal["low", "high"] | None = None
    slice: Mapping[str, SliceValue] = field(default_factory=dict)
    model: str | None = None
    pooled: bool = False
    op: Operator
    value: float = field(metadata={"ge": 0, "le": MOST_AMOUNT})


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedGate:
    """A gate on the weighted mean of several metrics, each aggregated first.

    `weights` are by metric; they need not sum to 1. The other fields are those of `GateSpec`.
    """

    weights: Mapping[str, float] = field(metadata={"min_length": 1})
    aggregation: Aggregation = "mean"
    threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})
    k: int | None = field(default=None, metadata={"ge": 1, "le": MOST_K})
    slice: Mapping[str, SliceValue] = field(default_factory=dict)
    model: str | None = None
    pooled: bool = False
    op: Operator
    value: float = field(metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateGroup:
    """Gates of which `all` or `any` have to be met, groups among them."""

    needs: Literal["all", "any"]
    gates: "tuple[Gate, ...]"


Gate = GateSpec | WeightedGate | GateGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRule:
    """How runs of the suite are compared, where the command line does not say it.

    `metrics` decide: graders, `trial`, or keys of `AMOUNTS`. `margins` are the drops that one can
    live with, by metric: fractions, or in the metric's unit. With `population` the question is
    about all that the samples stand for.
    """

    metrics: tuple[str, ...] = field(default=("trial",), metadata={"min_length": 1})
    margins: Mapping[str, float] = field(default_factory=dict)
    population: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """When a trial passes: without a threshold, when every required grade has passed.

    `rule` is a gate that the scores of a trial have to meet besides, as if it were a run alone.
    """

    threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})
    rule: Gate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSpec:
    """One entry of `graders`, bound to the grader it names.

    `turn` cuts one user turn out before grading: 0-based, negative from the end, None for the
    whole conversation. `fingerprint` hashes the grader, its options, its code and its extractor.
    `display_name` is what a person reads in place of `name`, where the suite gives one. A score
    passes by `op` and `threshold`: at least the threshold, if nothing else is said. `parts` are the
    graders that a combining grader is made of. `fault` says why it cannot work, such as an invalid
    pattern among its options, and is empty for one that can: its grades are failing ones, and no
    run that it decides can be judged.
    """

    name: str
    display_name: str = ""
    kind: str
    grader: Grader | ConnectedGrader | CombiningGrader | CustomGrader
    parts: "tuple[GraderSpec, ...]" = ()
    extractor: Extractor | SubjectExtractor | CustomExtractor | None = None
    turn: int | None = None
    weight: float = 1.0
    threshold: float = 1.0
    op: Operator = "gte"
    role: Role = "required"
    fingerprint: str
    fault: str = ""

    @property
    def decides(self) -> bool:
        """Say whether its grade enters the judgement of a trial."""
        return self.role != "observed"

    @property
    def with_parts(self) -> "tuple[GraderSpec, ...]":
        """Return the grader, and all that it is made of, at any depth."""
        return (self, *(inner for part in self.parts for inner in part.with_parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """The agent under test: its kind, the models it runs on, and the target bound to its options.

    `fingerprint` hashes the kind, the options and the code files, not the models. `folder` is where
    its paths start, None for that of the suite.
    """

    kind: str
    models: tuple[str, ...]
    target: Target
    script: SuitePath | None = None
    fingerprint: str
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One evaluation.

    One of `dataset` and `samples` is set, or neither where the samples come from the records that
    are graded. `target` is None for a suite that only grades. `text` is the YAML as it was written,
    and `source` its file. `max_samples` and `sample_tags` select from the dataset where the
    caller does not. `warnings` are faults that do not keep the suite from running, such as an
    invalid pattern; `notes` say how the suite was understood where it can be understood in two
    ways. `cost_limit_at` is where `limits.max_cost_usd` stands: line and column. `grade_only` are
    parts of a foreign suite that no target can honour: records are graded, and no agent is driven.
    `secrets` are values that must not be stored: keys that the
    suite holds in clear, and those of the variables that it names. `redact` is its function that
    sees each trial before it is stored. `errors` says how trials count that could not be driven
    or graded. `dialect`
    says by whose rules cells of a CSV file are read. `prices` are what the suite says that its
    models cost. `slices` name what parts of the samples are told apart by: `tags`, or a key of
    their metadata. `quarantine` are samples that are in no gate for a while.
    """

    name: str
    description: str = ""
    source: Path | None = None
    text: str = ""
    dataset: SuitePath | HubFile | None = None
    samples: tuple[Sample, ...] | None = None
    max_samples: int | None = None
    sample_tags: tuple[str, ...] = ()
    target: TargetSpec | None = None
    graders: tuple[GraderSpec, ...] = ()
    fixtures: tuple[Fixture, ...] = ()
    epochs: int = 1
    retries: Retries = field(default_factory=Retries)
    limits: Limits = field(default_factory=Limits)
    prices: Mapping[str, Price] = field(default_factory=dict)
    scoring: Scoring = field(default_factory=Scoring)
    slices: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    comparison: ComparisonRule = field(default_factory=ComparisonRule)
    warnings: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)
    redact: CodeRef | None = None
    errors: ErrorRule = "fail"
    dialect: Style = "regrade"
    grade_only: tuple[Fault, ...] = ()
    cost_limit_at: tuple[int, int] = (0, 0)
    quarantine: tuple[QuarantineEntry, ...] = ()

    @staticmethod
    def from_yaml(path: str | Path) -> "Suite":
        """Load a suite from its file; every name in it is resolved, its dataset is not read yet.

        Raises:
            SuiteError: with every fault of the suite and its Python files.
        """
        # A door upwards, kept open in the layer contract: users look for this on the record.
        from harness.loading.suite_files import load_suite  # noqa: PLC0415

        return load_suite(path)

    @staticmethod
    def from_mapping(document: Mapping[str, Any], folder: str | Path = ".") -> "Suite":
        """Make a suite of a mapping that holds what its YAML would; paths start at `folder`.

        Raises:
            SuiteError: with every fault of the suite and its Python files.
        """
        from harness.loading.suite_files import build_suite  # noqa: PLC0415

        return build_suite(document, folder)
