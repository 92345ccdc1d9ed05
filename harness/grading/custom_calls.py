"""Graders and extractors that are functions of the suite: what they are given and return.

A parameter is filled by its name: `sample`, `submission`, `trajectory`, `config`, `grades`, or
`agent_state` or a fixture, whose end state it receives. A function that is decorated for
letta-evals is given the records of letta-evals in their place.
"""

from collections.abc import Callable, Coroutine, Mapping
from copy import deepcopy
from functools import partial
from inspect import isawaitable, iscoroutine
from typing import Any, TypeVar

import msgspec

from harness.grading.error_grades import error_grade, grade_of_user_error
from harness.grading.own_copies import own_sample, own_trajectory
from harness.grading.returned_values import as_grade, as_submission
from harness.grading.worker_processes import call_in_process
from harness.shims.letta_views import LettaView, letta_state
from harness.system.guarded_loops import call_apart
from harness.system.patterns import time_limit
from harness.system.user_calls import (
    UserCodeError,
    call_in_thread,
    caller_of,
    is_async,
    wait_for_value,
    within,
)
from harness.types.code import CustomExtractor, CustomGrader
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Subject, Submission

_MISSING = object()
_R = TypeVar("_R", Grade, Submission)


async def call_grader(
    grader: CustomGrader, subject: Subject, view: LettaView, *, seconds: float
) -> Grade:
    """Call a custom grader; whatever goes wrong is an error grade.

    `view` is of the whole trial, for functions of letta-evals.
    """
    try:
        if grader.style == "letta-evals":
            arguments = _letta_arguments(grader, subject, view)
        else:
            arguments = _arguments(grader, subject)
        if grader.isolation == "process":
            grade = await call_in_process(grader, arguments, seconds=seconds)
        else:
            grade = await _call(grader.function, arguments, as_grade, seconds=seconds)
    except GraderError as error:
        return error_grade(error.code, f"{grader.name} {error}")
    return grade if grade.evidence else _with_evidence(grade, grader.name)


def _with_evidence(grade: Grade, name: str) -> Grade:
    """Say at least what was returned, where the function itself says nothing."""
    returned = grade.score if grade.passed is None else grade.passed
    return msgspec.structs.replace(grade, evidence=f"{name} returned {returned}")


async def call_extractor(
    extractor: CustomExtractor, subject: Subject, view: LettaView, *, seconds: float
) -> Submission | Grade:
    """Call a custom extractor; whatever goes wrong is an error grade."""
    try:
        if extractor.style == "letta-evals":
            arguments = _letta_extraction(extractor, subject, view)
        else:
            arguments = _arguments(extractor, subject)
        return await _call(extractor.function, arguments, as_submission, seconds=seconds)
    except GraderError as error:
        return error_grade(error.code, f"{extractor.name} {error}")


async def _call(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    read: Callable[[Any], _R],
    *,
    seconds: float,
) -> _R | Grade:
    """Call a function and read what it returned.

    Raises:
        GraderError: that is no judgement, or no text.
    """
    try:
        value = await _value_of(function, arguments, seconds)
    except TimeoutError:
        return error_grade("grader_timeout", f"took longer than {seconds:g} s")
    except UserCodeError as raised:
        return grade_of_user_error(raised.error, function)
    try:
        return read(value)
    except GraderError:
        raise
    except Exception as error:  # noqa: BLE001  (reading an attribute may run the user's code)
        return grade_of_user_error(error, function)


async def _value_of(
    function: Callable[..., Any], arguments: Mapping[str, Any], seconds: float
) -> Any:
    """Call a function apart from the run's loop, which it could block.

    Raises:
        UserCodeError: it raised.
        TimeoutError: it took longer than it may.
    """
    start = partial(caller_of(function), **arguments)
    if is_async(function):
        return await call_apart(function, start, seconds=seconds)
    called = call_in_thread(_searching(function, seconds), **arguments)
    value = await within(called, seconds=seconds)
    if not isawaitable(value):
        return value
    given = [value]

    def awaited() -> Coroutine[Any, Any, Any]:
        return wait_for_value(given.pop()) if given else start()

    try:
        return await call_apart(function, awaited, seconds=seconds)
    finally:
        if given and iscoroutine(value):
            value.close()


def _searching(function: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """Let the patterns that a function searches in its thread take as long as it may take."""

    def call(**arguments: Any) -> Any:
        with time_limit(seconds):
            return function(**arguments)

    return call


def _arguments(function: CustomGrader | CustomExtractor, subject: Subject) -> dict[str, Any]:
    names = (*function.parameters, *function.optional)
    given = {name: _value(name, function, subject) for name in names}
    missing = [name for name in function.parameters if given[name] is _MISSING]
    if missing:
        raise GraderError(
            f"asks for {missing[0]!r}, and no end state of that name is stored; "
            "given are also sample, submission, trajectory, config and grades"
        )
    return {name: value for name, value in given.items() if value is not _MISSING}


def _value(name: str, function: CustomGrader | CustomExtractor, subject: Subject) -> Any:
    """Return what a parameter is filled with, `_MISSING` for nothing."""
    if name == "sample":
        return own_sample(subject.sample)
    if name == "submission":
        return _MISSING if subject.submission is None else subject.submission.text
    if name == "trajectory":
        return own_trajectory(subject.trajectory)
    if name == "grades":
        return deepcopy(dict(subject.facts.grades))
    if name in subject.snapshots:
        return deepcopy(subject.snapshots[name])
    return deepcopy(dict(function.config)) if name == "config" else _MISSING


def _letta_arguments(grader: CustomGrader, subject: Subject, view: LettaView) -> dict[str, Any]:
    # Imported here: what is made of pydantic is needed for such functions alone.
    from harness.shims.letta_samples import letta_sample  # noqa: PLC0415
    from harness.shims.reward_contexts import reward_context  # noqa: PLC0415

    if grader.is_composer:
        _check_grades(subject.facts.grades)
        return {name: reward_context(subject, view) for name in grader.parameters}
    text = subject.submission.text if subject.submission else ""
    return dict(zip(grader.parameters, (letta_sample(subject.sample), text), strict=True))


def _check_grades(grades: Mapping[str, Grade]) -> None:
    """Refuse to compose a reward of grades that are not there.

    Raises:
        GraderError: a grader broke.
    """
    for name, grade in grades.items():
        if grade.status == "error":
            code = str(grade.details.get("code", "grader_broke"))
            raise GraderError(f"has no grade of {name} to compose: {grade.evidence}", code=code)


def _letta_extraction(
    extractor: CustomExtractor, subject: Subject, view: LettaView
) -> dict[str, Any]:
    """Fill the two or three parameters of an extractor of letta-evals, whatever they are called."""
    given = [view.messages(subject.trajectory), deepcopy(dict(extractor.config))]
    if len(extractor.parameters) > len(given):
        state = letta_state(subject.snapshots)
        if state is None:
            raise GraderError("asks for agent_state, and no end state of the agent is stored")
        given.append(state)
    return dict(zip(extractor.parameters, given, strict=True))
