"""Regrade: drive live agents through a dataset, record what they did, and grade the record.

The public names are loaded when they are first used, so that `import harness` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.api import (
        Run,
        compare,
        compare_async,
        grade,
        grade_async,
        load_run,
        run,
        run_async,
    )
    from harness.types.comparisons import Comparisons
    from harness.types.errors import (
        DatasetError,
        Fault,
        GraderError,
        HarnessError,
        InputError,
        StoreError,
        SuiteError,
        TargetError,
    )
    from harness.types.events import (
        AssistantMessage,
        ErrorEvent,
        Reasoning,
        SystemEvent,
        ToolCall,
        ToolResult,
        UserMessage,
    )
    from harness.types.grades import Grade, Ref
    from harness.types.marks import extractor, fixture, grader
    from harness.types.protocols import Subject, Submission
    from harness.types.samples import Sample
    from harness.types.suites import Suite
    from harness.types.summaries import Summary
    from harness.types.taxonomy import Taxonomy
    from harness.types.trajectories import Step, Trajectory, Turn, Usage
    from harness.types.trials import Trial

_HOMES = {
    "harness.api": (
        "Run",
        "compare",
        "compare_async",
        "grade",
        "grade_async",
        "load_run",
        "run",
        "run_async",
    ),
    "harness.types.comparisons": ("Comparisons",),
    "harness.types.errors": (
        "DatasetError",
        "Fault",
        "GraderError",
        "HarnessError",
        "InputError",
        "StoreError",
        "SuiteError",
        "TargetError",
    ),
    "harness.types.events": (
        "AssistantMessage",
        "ErrorEvent",
        "Reasoning",
        "SystemEvent",
        "ToolCall",
        "ToolResult",
        "UserMessage",
    ),
    "harness.types.grades": ("Grade", "Ref"),
    "harness.types.marks": ("extractor", "fixture", "grader"),
    "harness.types.protocols": ("Subject", "Submission"),
    "harness.types.samples": ("Sample",),
    "harness.types.suites": ("Suite",),
    "harness.types.summaries": ("Summary",),
    "harness.types.taxonomy": ("Taxonomy",),
    "harness.types.trajectories": ("Step", "Trajectory", "Turn", "Usage"),
    "harness.types.trials": ("Trial",),
}

__all__ = [
    "AssistantMessage",
    "Comparisons",
    "DatasetError",
    "ErrorEvent",
    "Fault",
    "Grade",
    "GraderError",
    "HarnessError",
    "InputError",
    "Reasoning",
    "Ref",
    "Run",
    "Sample",
    "Step",
    "StoreError",
    "Subject",
    "Submission",
    "Suite",
    "SuiteError",
    "Summary",
    "SystemEvent",
    "TargetError",
    "Taxonomy",
    "ToolCall",
    "ToolResult",
    "Trajectory",
    "Trial",
    "Turn",
    "Usage",
    "UserMessage",
    "compare",
    "compare_async",
    "extractor",
    "fixture",
    "grade",
    "grade_async",
    "grader",
    "load_run",
    "run",
    "run_async",
]


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562)."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
