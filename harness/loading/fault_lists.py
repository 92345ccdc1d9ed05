"""The faults of one file, of which the first hundred are listed and all are counted."""

from dataclasses import dataclass, field

from harness.types.errors import Fault

MOST_FAULTS = 100


@dataclass(slots=True)
class FaultList:
    """Faults or warnings of one file; `noun` says which they are."""

    file: str
    noun: str = "faults"
    kept: list[Fault] = field(default_factory=list)
    count: int = 0

    def add(self, *faults: Fault) -> None:
        """Keep faults, up to the bound, and count them all."""
        self.count += len(faults)
        self.kept.extend(faults[: max(0, MOST_FAULTS - len(self.kept))])

    def listed(self) -> tuple[Fault, ...]:
        """Return the faults in the order of their lines; the last says how many more there are."""
        shown = sorted(self.kept, key=lambda fault: (fault.line == 0, fault.line, fault.column))
        if left := self.count - len(shown):
            shown.append(Fault(file=self.file, problem=f"and {left:,} more {self.noun}"))
        return tuple(shown)
