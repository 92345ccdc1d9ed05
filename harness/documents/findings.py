"""Collects the faults of a document while it is read, so that they are reported at once."""

from collections.abc import Iterable

from harness.documents.nodes import NOWHERE, Location, Position
from harness.types.errors import Fault


class BadReference(ValueError):  # noqa: N818  (said of a text, not of the program)
    """A text refers to what is not there: `problem` says to what, `allowed` what can be done.

    `reported` says that there is a fault about it already.
    """

    def __init__(self, problem: str, allowed: str = "", *, reported: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.reported = reported


class Findings:
    """What is to be said of one document; `file` is the name it is shown under.

    `faults` keep it from being used. `warnings` do not, yet something in it cannot work. `notes`
    say how something was taken that can be taken in two ways. `absences` are not about the text:
    what it needs of this machine, such as a key, is not there.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []
        self.notes: list[Fault] = []
        self.absences: list[Fault] = []

    def fault(self, location: Location, problem: str, allowed: str = "") -> None:
        """Add a fault at a value."""
        self.faults.append(self.make(location.path, location.node.position, problem, allowed))

    def key_fault(self, location: Location, key: str, problem: str, allowed: str = "") -> None:
        """Add a fault at a key of a mapping."""
        position = location.key_position(key)
        self.faults.append(self.make(location.path_of(key), position, problem, allowed))

    def reference(self, location: Location, problem: BadReference) -> None:
        """Add a fault for a reference, unless there is one already."""
        if not problem.reported:
            self.fault(location, problem.problem, problem.allowed)

    def warn(self, location: Location, problem: str, allowed: str = "") -> None:
        """Add what does not keep the document from being used."""
        self.warnings.append(self.make(location.path, location.node.position, problem, allowed))

    def warn_key(self, location: Location, key: str, problem: str, allowed: str = "") -> None:
        """Add a warning at a key of a mapping."""
        position = location.key_position(key)
        self.warnings.append(self.make(location.path_of(key), position, problem, allowed))

    def note(self, location: Location, problem: str, allowed: str = "") -> None:
        """Add how a value was taken."""
        self.notes.append(self.make(location.path, location.node.position, problem, allowed))

    def note_key(self, location: Location, key: str, problem: str, allowed: str = "") -> None:
        """Add a note at a key of a mapping."""
        position = location.key_position(key)
        self.notes.append(self.make(location.path_of(key), position, problem, allowed))

    def absence(self, location: Location, problem: str) -> None:
        """Add what is not there."""
        self.absences.append(self.make(location.path, location.node.position, problem))

    def make(
        self, path: str = "", position: Position = NOWHERE, problem: str = "", allowed: str = ""
    ) -> Fault:
        """Return a fault of this document."""
        return Fault(
            file=self.file,
            line=position.line,
            column=position.column,
            path=path,
            problem=problem,
            allowed=allowed,
        )


def in_order(file: str, faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Sort faults as a reader meets them: those of `file` first, then the others by name."""
    return tuple(
        sorted(
            dict.fromkeys(faults),
            key=lambda fault: (
                fault.file != file,
                fault.file,
                fault.line == 0,
                fault.line,
                fault.column,
            ),
        )
    )
