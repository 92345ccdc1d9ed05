"""Calls of built-in and installed extractors and graders: whatever goes wrong becomes a grade.

They run at once, on the event loop, as long as their patterns allow it; what needs more time runs
once more in a thread.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from harness.grading.error_grades import error_grade, grade_of_exception
from harness.grading.returned_values import checked, named
from harness.system.patterns import (
    PatternError,
    SlowPattern,
    TimeLimit,
    inline_limit,
    time_limit,
)
from harness.system.threads import in_thread
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Submission

_R = TypeVar("_R", Grade, Submission)


async def call_plugin(
    method: Callable[[Any], Any], given: Any, read: Callable[[Any], _R]
) -> _R | Grade:
    """Call a plug-in's method, and read what it returned with `grade_of` or `submission_of`."""
    made = call_at_once(method, given, read)
    return await call_in_turn(method, given, read) if made is None else made


def call_at_once(
    method: Callable[[Any], Any], given: Any, read: Callable[[Any], _R]
) -> _R | Grade | None:
    """Do what `call_plugin` does; None where patterns need more time than the event loop has."""
    try:
        return _attempt(inline_limit(), method, given, read)
    except SlowPattern:
        return None


async def call_in_turn(
    method: Callable[[Any], Any], given: Any, read: Callable[[Any], _R]
) -> _R | Grade:
    """Do what `call_plugin` does, in a thread."""
    return await in_thread(_attempt_in_turn, method, given, read)


_one_at_a_time = threading.Lock()
_LONGEST_QUEUE_SECONDS = 60.0


def _attempt_in_turn(
    method: Callable[[Any], Any], given: Any, read: Callable[[Any], _R]
) -> _R | Grade:
    """Call the method with the full time limit, which starts when no other slow pattern runs.

    The patterns of one sample cannot use up the time of another's.
    """
    mine = _one_at_a_time.acquire(timeout=_LONGEST_QUEUE_SECONDS)
    try:
        return _attempt(time_limit(), method, given, read)
    finally:
        if mine:
            _one_at_a_time.release()


def submission_of(value: Any) -> Submission:
    """Check what an extractor returned.

    Raises:
        GraderError: it is no submission.
    """
    if isinstance(value, Submission) and isinstance(value.text, str):
        return value
    raise GraderError(f"the extractor returned {named(value)}; it has to return a Submission")


def grade_of(value: Any) -> Grade:
    """Check what a grader returned.

    Raises:
        GraderError: it is no grade, or one that cannot be kept.
    """
    if not isinstance(value, Grade):
        raise GraderError(f"the grader returned {named(value)}; it has to return a Grade")
    # The usual grade is checked at a glance: this is the inner loop of grading.
    if value.status == "graded" and type(value.score) is float and 0.0 <= value.score <= 1.0:
        return value if not value.details else _with_storable_details(value)
    return checked(value)


def _attempt(
    limit: TimeLimit, method: Callable[[Any], Any], given: Any, read: Callable[[Any], _R]
) -> _R | Grade:
    """Call the method.

    Raises:
        SlowPattern: a pattern needs more time, and may have it.
    """
    try:
        with limit:
            return read(method(given))
    except SlowPattern as slow:
        if limit.final:
            problem = f"the grade as a whole took longer than its {limit.seconds:g} s"
            return error_grade("pattern_timeout", f"{problem}; it had come to {slow.place}")
        raise
    except PatternError as error:
        return Grade(score=0.0, evidence=f"invalid pattern: {error}")
    except GraderError as error:
        return error_grade(error.code, str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (kept as the grade)
        return grade_of_exception(error)


def _with_storable_details(grade: Grade) -> Grade:
    try:
        msgspec.json.encode(grade.details)
    except (TypeError, ValueError, RecursionError):
        # What is no JSON is refused there; lone surrogates are replaced.
        return checked(grade)
    return grade
