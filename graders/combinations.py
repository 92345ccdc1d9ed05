"""Graders that combine others: `all-of`, `any-of`, `not`, as arithmetic on their grades.

The harness grades the parts and gives their grades; nothing is looked at twice. A grade that was
skipped does not take part. A grade that broke breaks the whole, unless it could change neither the
verdict nor the score.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from graders.event_places import MOST_REFS
from harness.system.texts import cut
from harness.types.grades import Grade
from harness.types.protocols import Reads
from harness.types.taxonomy import Taxonomy

_TAXONOMY = Taxonomy(reference="reference-free", scope="trajectory-level")
_ENTRIES = Mapping[str, Any] | tuple[Any, ...]
_SHOWN_CHARACTERS = 200
_PARTS = {
    "description": "The parts: entries as under `graders` of the suite, by name or as a list.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """Passes when every part passes; its score is the lowest.

    Parts are written as the graders of a suite, with `threshold`, `turn` and `extractor` of their
    own, but without `role` and `weight`. `turn` of the whole is that of the parts which name none.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    parts_option: ClassVar[str] = "graders"
    parts_single: ClassVar[bool] = False

    graders: _ENTRIES = field(metadata=_PARTS)

    def combine(self, grades: Mapping[str, Grade], /) -> Grade:
        """Take the lowest."""
        return _combined(grades, min, decisive=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """Passes when one part passes at least; its score is the highest.

    Parts are written as those of `all-of`.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    parts_option: ClassVar[str] = "graders"
    parts_single: ClassVar[bool] = False

    graders: _ENTRIES = field(metadata=_PARTS)

    def combine(self, grades: Mapping[str, Grade], /) -> Grade:
        """Take the highest."""
        return _combined(grades, max, decisive=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """Passes when its part fails; its score is 1 minus the score of the part.

    The part is written as those of `all-of`. It also passes where there was nothing for the part
    to look at: combine it with `exit-success` where that matters. A turn that was never reached
    fails it.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    parts_option: ClassVar[str] = "grader"
    parts_single: ClassVar[bool] = True

    grader: Mapping[str, Any] = field(
        metadata={"description": "The part: an entry as under `graders` of the suite."}
    )

    def combine(self, grades: Mapping[str, Grade], /) -> Grade:
        """Turn the grade round."""
        (name, grade), *_ = grades.items()
        details = {"parts": {name: _shown(grade)}}
        if grade.score is None:
            return _of_status(grade, name, details)
        return Grade(
            score=1.0 - grade.score,
            passed=not grade.passed,
            evidence=f"not {_line(name, grade)}",
            refs=grade.refs,
            details=details,
        )


def _combined(
    grades: Mapping[str, Grade], choose: Callable[[Iterable[float]], float], *, decisive: bool
) -> Grade:
    """Join the grades of parts; a part whose verdict is `decisive` decides."""
    details = {"parts": {name: _shown(grade) for name, grade in grades.items()}}
    counted = {name: grade for name, grade in grades.items() if grade.score is not None}
    broken = {name: grade for name, grade in grades.items() if grade.status == "error"}
    scores = [grade.score for grade in counted.values() if grade.score is not None]
    deciding = [name for name, grade in counted.items() if grade.passed is decisive]
    # Whatever the broken parts would have been, a score at the end of its range stays there.
    decided = bool(deciding) and choose(scores) == float(decisive)
    if broken and not decided:
        name, grade = next(iter(broken.items()))
        return _of_status(grade, name, details)
    if not counted:
        name, grade = next(iter(grades.items()))
        return _of_status(grade, name, details)
    passed = decisive if deciding else not decisive
    return Grade(
        score=choose(scores),
        passed=passed,
        evidence=_evidence(grades),
        refs=_joined_refs([*(counted[name] for name in deciding), *counted.values()]),
        details=details,
    )


def _evidence(grades: Mapping[str, Grade]) -> str:
    counted = [grade for grade in grades.values() if grade.score is not None]
    passed = sum(grade.passed is True for grade in counted)
    lines = "; ".join(_line(name, grade) for name, grade in grades.items())
    return f"{passed}/{len(counted)} graders passed: {lines}"


def _line(name: str, grade: Grade) -> str:
    mark = {True: "✓", False: "✗", None: "-"}[grade.passed]
    return f"{name} {mark} {cut(grade.evidence, _SHOWN_CHARACTERS)}"


def _joined_refs(grades: Sequence[Grade]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(ref for grade in grades for ref in grade.refs))[:MOST_REFS]


def _shown(grade: Grade) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "status": grade.status,
        "score": grade.score,
        "passed": grade.passed,
        "evidence": grade.evidence,
    }
    if grade.submission is not None:
        shown["submission"] = grade.submission
    return shown | ({"details": grade.details} if grade.details else {})


def _of_status(grade: Grade, name: str, details: Mapping[str, Any]) -> Grade:
    """Return the grade of the whole for a part that broke, or that does not apply."""
    code = grade.details.get("code")
    evidence = grade.evidence.removeprefix(f"{code}: ") if code else grade.evidence
    prefix = f"{code}: " if code else ""
    return Grade(
        status=grade.status,
        evidence=f"{prefix}{name}: {evidence}",
        refs=grade.refs,
        details={**({"code": code} if code else {}), **details},
    )
