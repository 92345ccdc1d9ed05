"""Names of letta-evals that can be imported, and say what to use instead when they are used."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn

_RUN = "`regrade run SUITE` runs a suite, and `harness.run(suite)` does so in Python"
_WRITE = "write it in the suite's YAML"
_READ = "`harness.load_run(folder)` reads the results of a run"
_GRADE = "name the grader in the suite, or write a function with @grader"
_TARGET = "name the target in the suite: `kind: letta`, `kind: letta_code` or another"
_WATCH = "`regrade run` shows its progress"
_DATA = "name the dataset in the suite"

_INSTEAD: Mapping[str, tuple[str, ...]] = {
    _RUN: ("Runner", "run_suite"),
    _WRITE: (
        *("CustomRewardSpec", "GateSpec", "GraderSpec", "LettaCodeTargetSpec", "LogicalGateSpec"),
        *("MetricRewardSpec", "ModelJudgeGraderSpec", "RewardSpec", "SimpleGateSpec", "SuiteSpec"),
        *("TargetSpec", "ToolGraderSpec", "WeightedAverageGateSpec"),
    ),
    _READ: ("MetricAggregate", "Metrics", "ModelMetrics", "RunStatistics", "RunnerResult"),
    _GRADE: ("AgentJudgeGrader", "Grader", "RubricGrader", "ToolGrader"),
    _TARGET: ("AbstractAgentTarget", "AgentTarget", "LettaAgentTarget", "LettaCodeTarget"),
    _WATCH: ("ProgressCallback", "create_progress_callback"),
    _DATA: ("load_csv", "load_dataset", "load_jsonl"),
}

REFUSED: Mapping[str, str] = MappingProxyType(
    {name: instead for instead, names in _INSTEAD.items() for name in names}
)
"""Names, each with what to use instead."""


class _Refusing(type):
    """The type of names that can be mentioned, as in annotations, and do nothing."""

    def __call__(cls, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise RuntimeError(_refusal(cls))

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"{name}: {_refusal(cls)}")


def _refusal(refused: type) -> str:
    named = next(base for base in refused.__mro__ if base.__name__ in REFUSED)
    return f"letta_evals.{named.__name__} is no part of Regrade: {REFUSED[named.__name__]}"


@cache
def _make(name: str) -> type:
    return _Refusing(name, (), {"__module__": "letta_evals", "__doc__": REFUSED[name]})


def __getattr__(name: str) -> type:
    if name in REFUSED:
        return _make(name)
    raise AttributeError(name)
