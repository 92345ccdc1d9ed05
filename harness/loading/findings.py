"""Collects what is wrong with a suite while it is read, so that all of it is said at once."""

from collections.abc import Iterable

from harness.loading.nodes import NOWHERE, Place, Spot
from harness.types.errors import Fault


class Findings:
    """The faults and warnings of one document; `file` is the name they are shown under."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []

    def fault(self, spot: Spot, problem: str, allowed: str = "") -> None:
        """Add a fault at a value."""
        self.faults.append(self.make(spot.path, spot.node.place, problem, allowed))

    def fault_at(self, place: Place, path: str, problem: str, allowed: str = "") -> None:
        """Add a fault at a place, such as that of a key."""
        self.faults.append(self.make(path, place, problem, allowed))

    def warn(self, spot: Spot, problem: str, allowed: str = "") -> None:
        """Add what does not keep the suite from running."""
        self.warnings.append(self.make(spot.path, spot.node.place, problem, allowed))

    def make(self, path: str, place: Place, problem: str, allowed: str = "") -> Fault:
        """Give a fault of this document."""
        return Fault(
            file=self.file,
            line=place.line,
            column=place.column,
            path=path,
            problem=problem,
            allowed=allowed,
        )

    def whole(self, problem: str, allowed: str = "") -> None:
        """Add a fault of the document as a whole."""
        self.faults.append(self.make("", NOWHERE, problem, allowed))


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
