"""What a suite says beside its samples, target and graders, as it is written in YAML."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness.types.code import CodeRef, SuitePath
from harness.types.prices import Price
from harness.types.suites import MOST_EPOCHS, ComparisonRule, Limits, Retries


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringEntry:
    """When a trial passes, where a mean decides it."""

    threshold: float | None = field(
        default=None,
        metadata={
            "ge": 0,
            "le": 1,
            "description": "A trial passes when its weighted mean reaches this.",
        },
    )
    weights: Mapping[str, float] = field(
        default_factory=dict,
        metadata={"description": "Weights by a grader's name, or by the type of graders."},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHead:
    """One evaluation."""

    name: str = field(metadata={"min_length": 1, "description": "What the suite is called."})
    description: str = field(default="", metadata={"description": "What it is for."})
    dataset: SuitePath | None = field(
        default=None,
        metadata={"description": "JSONL or CSV file, relative to the suite; or write `samples`."},
    )
    max_samples: int | None = field(
        default=None,
        metadata={"ge": 1, "description": "Take the first so many samples; --limit goes before."},
    )
    sample_tags: tuple[str, ...] | None = field(
        default=None,
        metadata={"description": "Take the samples with one of these tags; --tag goes before."},
    )
    epochs: int = field(
        default=1,
        metadata={
            "ge": 1,
            "le": MOST_EPOCHS,
            "description": "How often every sample is repeated.",
        },
    )
    retries: Retries = field(
        default_factory=Retries, metadata={"description": "What is done about failed attempts."}
    )
    limits: Limits = field(
        default_factory=Limits, metadata={"description": "Bounds of a run, in seconds and shares."}
    )
    prices: Mapping[str, Price] = field(
        default_factory=dict,
        metadata={"description": "What models cost, by name; it goes before what is known of it."},
    )
    scoring: ScoringEntry = field(
        default_factory=ScoringEntry, metadata={"description": "When a trial passes."}
    )
    comparison: ComparisonRule = field(
        default_factory=ComparisonRule,
        metadata={"description": "What decides when runs are compared, and the drops allowed."},
    )
    slices: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "What parts of the samples have numbers of their own by: `tags`, or "
            "columns of the dataset that go to the metadata."
        },
    )
    errors: Literal["fail", "exclude"] = field(
        default="fail",
        metadata={
            "description": "Whether trials that could not be driven or graded count as failed, or "
            "are left out of the rates."
        },
    )
    secrets: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Names of environment variables whose values are never stored or shown, "
            "beside those that are called like secrets."
        },
    )
    redact: CodeRef | None = field(
        default=None,
        metadata={
            "description": "file.py:function that is given each trial before it is stored, and "
            "takes out what must not be."
        },
    )
