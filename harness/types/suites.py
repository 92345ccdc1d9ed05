"""A suite: one evaluation as its YAML says it, with every name in it resolved.

The `metadata` of fields are bounds (`ge`, `gt`, `le`), checked when a suite is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.types.code import CustomExtractor, CustomGrader, Fixture, SuitePath
from harness.types.errors import Fault
from harness.types.grades import Role
from harness.types.protocols import ConnectedGrader, Extractor, Grader, SubjectExtractor, Target
from harness.types.samples import Sample

SCRIPTED = "scripted/"
"""What the names of models begin with that Regrade itself serves, by the suite's script."""

MOST_EPOCHS = 1_000_000
MOST_CONCURRENCY = 10_000
MOST_SECONDS = 1_000_000
MOST_WEIGHT = 1_000_000_000

Operator = Literal["gt", "gte", "lt", "lte", "eq"]
Aggregation = Literal["mean", "pass_rate", "min", "max", "median"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often an attempt is made, and how long a wait for the endpoint may be."""

    attempts: int = field(default=3, metadata={"ge": 1, "le": 100})
    max_wait_seconds: float = field(default=120.0, metadata={"ge": 0, "le": MOST_SECONDS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a run; seconds are None for no limit."""

    concurrency: int = field(default=20, metadata={"ge": 1, "le": MOST_CONCURRENCY})
    turn_seconds: float | None = field(default=120.0, metadata={"gt": 0, "le": MOST_SECONDS})
    trial_seconds: float | None = field(default=600.0, metadata={"gt": 0, "le": MOST_SECONDS})
    grader_seconds: float = field(default=30.0, metadata={"gt": 0, "le": MOST_SECONDS})
    max_error_rate: float = field(default=0.1, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """When a trial passes: without a threshold, when every required grade has passed."""

    threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """A condition on the run's numbers that decides the exit code.

    `metric` is a grader's name, or `trial` for the trial as a whole. Without `model` every model
    must meet it.
    """

    metric: str
    aggregation: Aggregation = "mean"
    model: str | None = None
    op: Operator
    value: float = field(metadata={"ge": 0, "le": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSpec:
    """One entry of `graders`, bound to the grader it names.

    `turn` cuts one user turn out before grading: 0-based, negative from the end, None for the
    whole conversation. `fingerprint` hashes the grader, its options, its code and its extractor.
    `display_name` is what a person reads in place of `name`, where the suite gives one.
    """

    name: str
    display_name: str = ""
    kind: str
    grader: Grader | ConnectedGrader | CustomGrader
    extractor: Extractor | SubjectExtractor | CustomExtractor | None = None
    turn: int | None = None
    weight: float = 1.0
    threshold: float = 1.0
    role: Role = "required"
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """The agent under test: its kind, the models it runs on, and the target bound to its options.

    `fingerprint` hashes the kind, the options and the code files, not the models.
    """

    kind: str
    models: tuple[str, ...]
    target: Target
    script: SuitePath | None = None
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One evaluation.

    Exactly one of `dataset` and `samples` is set. `target` is None for a suite that only grades.
    `text` is the YAML as it was written, and `source` its file. `warnings` are faults that do not
    keep the suite from running, such as an invalid pattern.
    """

    name: str
    description: str = ""
    source: Path | None = None
    text: str = ""
    dataset: SuitePath | None = None
    samples: tuple[Sample, ...] | None = None
    target: TargetSpec | None = None
    graders: tuple[GraderSpec, ...] = ()
    fixtures: tuple[Fixture, ...] = ()
    epochs: int = 1
    retries: Retries = field(default_factory=Retries)
    limits: Limits = field(default_factory=Limits)
    scoring: Scoring = field(default_factory=Scoring)
    gates: tuple[GateSpec, ...] = ()
    warnings: tuple[Fault, ...] = ()

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
