"""Regrade: drive live agents through a dataset, record what they did, and grade the record.

The public names are loaded when they are first used, so that `import harness` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.api import Run, grade, grade_async, load_run, run, run_async
    from harness.types.errors import HarnessError, InputError, TargetError
    from harness.types.grades import Grade, Ref
    from harness.types.marks import extractor, fixture, grader
    from harness.types.samples import Sample
    from harness.types.suites import Suite
    from harness.types.trajectories import Trajectory
    from harness.types.trials import Trial

_HOMES = {
    "Grade": "harness.types.grades",
    "HarnessError": "harness.types.errors",
    "InputError": "harness.types.errors",
    "Ref": "harness.types.grades",
    "Run": "harness.api",
    "Sample": "harness.types.samples",
    "Suite": "harness.types.suites",
    "TargetError": "harness.types.errors",
    "Trajectory": "harness.types.trajectories",
    "Trial": "harness.types.trials",
    "extractor": "harness.types.marks",
    "fixture": "harness.types.marks",
    "grade": "harness.api",
    "grade_async": "harness.api",
    "grader": "harness.types.marks",
    "load_run": "harness.api",
    "run": "harness.api",
    "run_async": "harness.api",
}

__all__ = [
    "Grade",
    "HarnessError",
    "InputError",
    "Ref",
    "Run",
    "Sample",
    "Suite",
    "TargetError",
    "Trajectory",
    "Trial",
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
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Give the public names."""
    return list(__all__)
