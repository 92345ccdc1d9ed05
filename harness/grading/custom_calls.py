"""Graders and extractors that are functions of the suite: what they are given, and what they gave.

A parameter is filled by its name: `sample`, `submission`, `trajectory`, `config`, or a fixture,
whose end state it receives. Parameters with a default may stay unfilled.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

from harness.grading.bounded_calls import Outcome, Overran, Raised, call
from harness.grading.broken_graders import broken, broken_by
from harness.grading.own_copies import own_sample, own_trajectory
from harness.grading.returned_values import as_grade, as_submission
from harness.grading.worker_processes import call_in_process
from harness.system.patterns import SlowPattern
from harness.types.code import CustomExtractor, CustomGrader
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Subject, Submission
from harness.types.trajectories import Trajectory

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_EMPTY = inspect.Parameter.empty
_R = TypeVar("_R", Grade, Submission)


async def call_grader(grader: CustomGrader, subject: Subject, *, seconds: float) -> Grade:
    """Call a custom grader; whatever goes wrong is an error grade."""
    try:
        arguments = _arguments(grader, subject)
        if grader.isolation == "process":
            return await call_in_process(grader.function, arguments, seconds=seconds)
        outcome = await _called(grader.function, arguments, seconds)
        return _read(outcome, as_grade, grader.function)
    except GraderError as error:
        return broken(error.code, f"{grader.name} {error}")


async def call_extractor(
    extractor: CustomExtractor, trajectory: Trajectory, *, seconds: float
) -> Submission | Grade:
    """Call a custom extractor; whatever goes wrong is an error grade."""
    given = (own_trajectory(trajectory), deepcopy(dict(extractor.config)))
    arguments = dict(zip(extractor.parameters, given, strict=False))
    try:
        outcome = await _called(extractor.function, arguments, seconds)
        return _read(outcome, as_submission, extractor.function)
    except GraderError as error:
        return broken(error.code, f"{extractor.name} {error}")


async def _called(
    function: Callable[..., Any], arguments: Mapping[str, Any], seconds: float
) -> Outcome:
    on_loop = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  (asked whether it is async)
    )
    return await call(partial(function, **arguments), seconds=seconds, on_loop=on_loop)


def _read(outcome: Outcome, read: Callable[[Any], _R], function: Callable[..., Any]) -> _R | Grade:
    if isinstance(outcome, Overran):
        return broken("grader_timeout", f"took longer than {outcome.seconds:g} s")
    error = outcome.error if isinstance(outcome, Raised) else None
    if error is None and not isinstance(outcome, Raised):
        # What comes back is the user's object: reading its attributes may raise.
        try:
            return read(outcome.value)
        except GraderError:
            raise
        except Exception as foreign:  # noqa: BLE001  (kept as the grade)
            error = foreign
    if isinstance(error, GraderError | SlowPattern):
        code = error.code if isinstance(error, GraderError) else "pattern_timeout"
        return broken(code, str(error))
    code_object = getattr(inspect.unwrap(function), "__code__", None)
    return broken_by(error or RuntimeError(), source=getattr(code_object, "co_filename", None))


def _arguments(grader: CustomGrader, subject: Subject) -> dict[str, Any]:
    try:
        signature = inspect.signature(grader.function)
    except (TypeError, ValueError) as error:
        raise GraderError(f"cannot be called: {error}") from error
    given = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in _VARIADIC:
            continue
        value = _value(name, grader, subject)
        if value is not _EMPTY:
            given[name] = value
        elif parameter.default is _EMPTY:
            raise GraderError(
                f"asks for {name!r}, and no end state of a fixture of that name is stored; "
                "given are also sample, submission, trajectory and config"
            )
    return given


def _value(name: str, grader: CustomGrader, subject: Subject) -> Any:
    """Give what a parameter is filled with, `_EMPTY` for nothing."""
    if name == "sample":
        return own_sample(subject.sample)
    if name == "submission":
        return _EMPTY if subject.submission is None else subject.submission.text
    if name == "trajectory":
        return own_trajectory(subject.trajectory)
    if name in subject.snapshots:
        return deepcopy(subject.snapshots[name])
    return deepcopy(dict(grader.config)) if name == "config" else _EMPTY
