"""One call of an extractor or a grader on one subject: whatever goes wrong becomes a grade.

Built-in and installed plug-ins run at once, on the event loop, as long as their patterns allow
it; what needs more time, and every custom function, is awaited.
"""

from typing import Any, NamedTuple

import msgspec

from harness.grading.broken_graders import broken, broken_by
from harness.grading.custom_calls import call_extractor, call_grader
from harness.grading.returned_values import checked, named
from harness.system.patterns import PatternError, SlowPattern, inline_limit, time_limit
from harness.system.threads import in_thread
from harness.types.code import CustomExtractor, CustomGrader
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Extractor, Grader, Subject, Submission
from harness.types.trajectories import Trajectory

Answer = Submission | Grade


class Extraction(NamedTuple):
    """A call of an extractor; `turn` is the turn that was cut out, None for none."""

    plugin: Extractor | CustomExtractor
    trajectory: Trajectory
    turn: int | None


class Judging(NamedTuple):
    """A call of a grader."""

    plugin: Grader | CustomGrader
    subject: Subject


Call = Extraction | Judging


def answer_now(call: Call) -> Answer | None:
    """Make the call on the event loop; None where it has to wait."""
    if isinstance(call.plugin, CustomGrader | CustomExtractor):
        return None
    try:
        with inline_limit():
            return _answer(call)
    except SlowPattern:
        return None


async def answer_later(call: Call, *, seconds: float) -> Answer:
    """Make a call that has to wait; `seconds` bounds a custom function."""
    if isinstance(call, Judging) and isinstance(call.plugin, CustomGrader):
        return await call_grader(call.plugin, call.subject, seconds=seconds)
    if isinstance(call, Extraction) and isinstance(call.plugin, CustomExtractor):
        return await call_extractor(call.plugin, call.trajectory, seconds=seconds)
    return await in_thread(_answer_in_thread, call)


def _answer_in_thread(call: Call) -> Answer:
    try:
        with time_limit():
            return _answer(call)
    except SlowPattern as slow:
        return broken("pattern_timeout", str(slow))


def _answer(call: Call) -> Answer:
    """Make the call of a plug-in.

    Raises:
        SlowPattern: a pattern needs more time.
    """
    plugin: Any = call.plugin
    try:
        if isinstance(call, Extraction):
            return _extracted(plugin.extract(call.trajectory))
        return _graded(plugin.grade(call.subject))
    except SlowPattern:
        raise
    except PatternError as error:
        return Grade(score=0.0, evidence=f"invalid pattern: {error}")
    except GraderError as error:
        return broken(error.code, str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (kept as the grade)
        return broken_by(error)


def _extracted(value: Any) -> Submission:
    if isinstance(value, Submission) and isinstance(value.text, str):
        return value
    raise GraderError(f"the extractor returned {named(value)}; it has to return a Submission")


def _graded(value: Any) -> Grade:
    if not isinstance(value, Grade):
        raise GraderError(f"the grader returned {named(value)}; it has to return a Grade")
    # The usual grade is checked at a glance: this is the inner loop of grading.
    if value.status == "graded" and type(value.score) is float and 0.0 <= value.score <= 1.0:
        return value if not value.details else _with_storable_details(value)
    return checked(value)


def _with_storable_details(grade: Grade) -> Grade:
    try:
        msgspec.json.encode(grade.details)
    except (TypeError, ValueError, RecursionError):
        # What is no JSON is refused there; lone surrogates are replaced.
        return checked(grade)
    return grade
