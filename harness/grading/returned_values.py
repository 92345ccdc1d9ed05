"""What a custom function may return, read as a grade: anything else is an error, never a score.

Accepted are a Grade; a score, which is a bool, 0, 1, or a float in 0..1; a mapping or an object
with `score` and optionally `passed`, `rationale` or `evidence`, `details` or `metadata`. A
scalar of numpy or the like, an object of shape `()` with `item()`, stands for what `item()` gives.
Nothing is clipped or guessed: a score of 1.0000001 is an error. Further keys of a mapping are
kept in `details`, and so are the `per_turn_grades` of letta-evals. Details are kept up to a bound;
a value beyond it is replaced by its beginning and a note.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.system.json_values import compact_json, load_json, scrub_json
from harness.system.texts import one_line
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Submission

ALLOWED = (
    "a grader returns a Grade, a score in 0..1, a bool, or an object with `score` and `rationale`"
)
_SHOWN_CHARACTERS = 120
_DETAIL_BYTES = 100_000
"""How much JSON the details of a grade may be; beyond it, each value is cut to its share."""

_LEAST_BYTES = 1_000
_MISSING = object()


def as_grade(value: Any) -> Grade:
    """Read what a custom grader returned.

    Raises:
        GraderError: it is no judgement; the message shows what was returned.
    """
    if isinstance(value, Grade):
        return checked(value)
    plain = _plain(value)
    if isinstance(plain, bool | int | float):
        return Grade(score=_score(plain), passed=plain if isinstance(plain, bool) else None)
    if isinstance(plain, Mapping) and "score" in plain:
        return _from_mapping(dict(plain))
    if not isinstance(plain, Mapping) and hasattr(plain, "score"):
        return _from_mapping(_fields(plain))
    raise GraderError(f"returned {named(value)}; {ALLOWED}")


def as_submission(value: Any) -> Submission:
    """Read what a custom extractor returned.

    Raises:
        GraderError: it is no text.
    """
    if not isinstance(value, str):
        raise GraderError(f"returned {named(value)}; an extractor returns a text")
    return Submission(str(value))


def checked(grade: Grade) -> Grade:
    """Check the fields of a grade, and return it in a form that can be stored.

    Raises:
        GraderError: a field is wrong, such as a score that is not in 0..1.
    """
    try:
        fields = msgspec.to_builtins(grade)
        fields["details"] = scrub_json(fields["details"])
        compact_json(fields["details"])
        grade = msgspec.convert(fields, Grade)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraderError(f"returned a Grade that cannot be kept: {_reason(error)}") from error
    if grade.status != "graded":
        return msgspec.structs.replace(grade, score=None, passed=None)
    if grade.score is None:
        raise GraderError("returned a Grade of status graded without a score")
    return msgspec.structs.replace(grade, score=_score(grade.score))


def named(value: Any) -> str:
    """Show a foreign value on one short line, with its type."""
    kind = type(value).__name__
    try:
        text = one_line(repr(value), _SHOWN_CHARACTERS)
    except Exception:  # noqa: BLE001  (its repr is foreign code, and huge integers have none)
        return f"an object of type {kind}"
    return text if value is None or isinstance(value, bool) else f"{text} ({kind})"


def _reason(error: Exception) -> str:
    return one_line(str(error), 2 * _SHOWN_CHARACTERS)


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float | str | Mapping):
        return value
    # Asked of the value itself: a mock or proxy answers every question with something.
    if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
        return value.item()
    return value


def _score(value: Any) -> float:
    number = _plain(value)
    if not isinstance(number, bool | int | float):
        raise GraderError(f"returned the score {named(value)}; {ALLOWED}")
    # Not finite fails both comparisons; an integer may be too large to be a float at all.
    if not 0 <= number <= 1:
        raise GraderError(f"returned the score {named(value)}, which is not in 0..1")
    # -0.0 is 0.0
    return float(number) + 0.0


def _fields(value: Any) -> dict[str, Any]:
    """Read the attributes of an object that have a meaning in a judgement."""
    names = ("score", "passed", "evidence", "rationale", "details", "metadata", "per_turn_grades")
    found = {name: getattr(value, name, _MISSING) for name in names}
    fields = {name: item for name, item in found.items() if item is not _MISSING}
    if fields.get("per_turn_grades", ()) is None:
        del fields["per_turn_grades"]
    return _serialized(fields) if hasattr(type(value), "model_fields") else fields


def _serialized(fields: dict[str, Any]) -> dict[str, Any]:
    """Write what a record of letta-evals holds as pydantic does there: times, sets, records."""
    # Imported here: only such records need it, and it is heavy.
    from pydantic_core import to_json  # noqa: PLC0415

    def write(value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        written = to_json(value, inf_nan_mode="strings", bytes_mode="base64", fallback=repr)
        return load_json(written)

    plain = {"score", "passed"}
    return {name: item if name in plain else write(item) for name, item in fields.items()}


def _from_mapping(fields: dict[str, Any]) -> Grade:
    score = _score(fields.pop("score"))
    passed = _plain(fields.pop("passed", None))
    texts = [fields.pop(name, None) for name in ("evidence", "rationale")]
    details = [fields.pop(name, None) for name in ("details", "metadata")]
    evidence = next((text for text in texts if text is not None), "")
    if not isinstance(evidence, str):
        raise GraderError(f"returned the rationale {named(evidence)}, which is not a text")
    if passed is not None and not isinstance(passed, bool):
        raise GraderError(f"returned `passed` as {named(passed)}, which is not a bool")
    kept = {str(key): item for part in (*details, fields) for key, item in _items(part)}
    made = checked(Grade(score=score, passed=passed, evidence=str(evidence), details=kept))
    return _bounded(made) if made.details else made


def _bounded(grade: Grade) -> Grade:
    size = len(msgspec.json.encode(grade.details))
    if size <= _DETAIL_BYTES:
        return grade
    share = max(_LEAST_BYTES, _DETAIL_BYTES // len(grade.details))
    cut_ones = {key: _cut(value, share) for key, value in grade.details.items()}
    return msgspec.structs.replace(grade, details=cut_ones)


def _cut(value: Any, most: int) -> Any:
    text = compact_json(value)
    if len(text) <= most:
        return value
    return f"{text[:most]}… (cut: {len(text):,} characters in all)"


def _items(part: Any) -> list[tuple[Any, Any]]:
    if part is None:
        return []
    if not isinstance(part, Mapping):
        raise GraderError(f"returned `details` as {named(part)}, which is not a mapping")
    return list(part.items())
