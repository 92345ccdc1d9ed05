"""Graders of the end state: `state-equals` and `state-contains`.

They read the snapshots that are stored with a trial, so they work on stored runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from graders.json_comparison import Difference, Rule, shown
from harness.system.suggestions import suggest
from harness.types.errors import GraderError
from harness.types.grades import Grade
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_TAXONOMY = Taxonomy(reference="reference-based", scope="point-in-time")
_ROOT = "$"
_FIXTURE = {
    "min_length": 1,
    "description": "The fixture whose state is looked at; `agent_state` is that of the agent.",
}
_PATH = {
    "description": "JSON path (RFC 9535) to the part that is compared. A path that may lead to "
    "several values, as `$.seats[*].who` does, gives their list. It may hold `..` and `?` three "
    "times each."
}
_TOLERANCE = {"ge": 0, "description": "How far numbers may differ."}
_IGNORE_ORDER = {"description": "Let the items of lists stand in any order."}
_NOTHING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEquals:
    """Passes when the end state of a fixture, or a part of it, is what is expected.

    Nothing may be missing and nothing more. `true` is no number, and `1` is `1.0`.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    json_numbers: ClassVar[bool] = True

    fixture: str = field(metadata=_FIXTURE)
    expected: Any = field(metadata={"description": "The value that is expected."})
    path: str = field(default=_ROOT, metadata=_PATH)
    tolerance: float = field(default=0.0, metadata=_TOLERANCE)
    ignore_order: bool = field(default=False, metadata=_IGNORE_ORDER)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid path."""
        return _lint_path(self.path)

    def grade(self, subject: Subject, /) -> Grade:
        """Compare the state."""
        value = _state(subject, self.fixture, self.path)
        if value is _NOTHING:
            return Grade(score=0.0, evidence=f"{self.fixture} has nothing at {self.path}")
        rule = Rule(tolerance=self.tolerance, ignore_order=self.ignore_order)
        difference = rule.difference(self.expected, value, self.path)
        return _judged(difference, f"{self.fixture} at {self.path} is what is expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateContains:
    """Passes when the end state of a fixture, or a part of it, contains what is expected.

    An object contains the keys that are expected, with their values; a list the items, in this
    order; a list also contains a single item, and a text the texts that stand in it. Without
    `expected` it is enough that the path leads somewhere.
    """

    taxonomy: ClassVar[Taxonomy] = _TAXONOMY
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    json_numbers: ClassVar[bool] = True

    fixture: str = field(metadata=_FIXTURE)
    expected: Any = field(
        default=None, metadata={"description": "What is contained; null asks for the path alone."}
    )
    path: str = field(default=_ROOT, metadata=_PATH)
    tolerance: float = field(default=0.0, metadata=_TOLERANCE)
    ignore_order: bool = field(default=False, metadata=_IGNORE_ORDER)

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid path, and options that ask for nothing."""
        yield from _lint_path(self.path)
        if self.expected is None and self.path == _ROOT:
            yield "expected", "is missing, and `path` leads to all: every state passes"

    def grade(self, subject: Subject, /) -> Grade:
        """Look into the state."""
        value = _state(subject, self.fixture, self.path)
        if value is _NOTHING:
            return Grade(score=0.0, evidence=f"{self.fixture} has nothing at {self.path}")
        where = f"{self.fixture} at {self.path}"
        if self.expected is None:
            return Grade(score=1.0, evidence=f"{where} is {shown(value)}")
        return _judged(self._difference(value), f"{where} contains {shown(self.expected)}")

    def _difference(self, value: Any) -> Difference | None:
        rule = Rule(mode="contains", tolerance=self.tolerance, ignore_order=self.ignore_order)
        wanted = self.expected
        if isinstance(value, list) and not isinstance(wanted, list):
            wanted = [wanted]
        if isinstance(value, str) and isinstance(wanted, str) and wanted in value:
            return None
        return rule.difference(wanted, value, self.path)


def _lint_path(path: str) -> Iterable[tuple[str, str]]:
    # Imported late, as where it is used: a suite without these graders starts without it.
    from harness.system.json_paths import check_path  # noqa: PLC0415

    try:
        check_path(path)
    except ValueError as error:
        yield "path", f"is no JSON path: {error}"


def _state(subject: Subject, fixture: str, path: str) -> Any:
    """Return the part of the state; a path that leads nowhere gives `_NOTHING`.

    Raises:
        GraderError: the state was not stored, or it is no path.
    """
    from harness.system.json_paths import leads_to_one, select  # noqa: PLC0415

    if fixture not in subject.snapshots:
        stored = suggest(fixture, subject.snapshots)
        raise GraderError(f'the trial holds no state of "{fixture}"; {stored}')
    state = subject.snapshots[fixture]
    if path == _ROOT:
        return state
    try:
        found = select(path, state)
        if leads_to_one(path):
            return found[0] if found else _NOTHING
    except ValueError as error:
        raise GraderError(f"the path {path} cannot be followed: {error}") from error
    return found or _NOTHING


def _judged(difference: Difference | None, evidence: str) -> Grade:
    if difference is None:
        return Grade(score=1.0, evidence=evidence)
    return Grade(score=0.0, evidence=difference.line)
