"""Progress: what has come of a run so far, as a record that only grows, and who watches it."""

from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from harness.types.trials import ERROR_STATUSES, Outcome

Slowed = tuple[tuple[str, int], ...]
"""Models, each with how many trials of it may be in flight for now."""


class Progress(msgspec.Struct, frozen=True):
    """Counts of a run; `planned` is None where it is not known.

    `waiting` trials wait for an endpoint that refused them for now. `slowed` holds the models whose
    endpoints refuse what they are asked too often, with how many trials may be in flight meanwhile.
    """

    planned: int | None
    done: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    waiting: int = 0
    slowed: Slowed = ()

    def after(self, outcome: Outcome) -> "Progress":
        """Return the counts after one more trial."""
        error = outcome.status in ERROR_STATUSES
        passed = outcome.passed is True
        return Progress(
            self.planned,
            self.done + 1,
            self.passed + passed,
            self.failed + (not passed and not error),
            self.errors + error,
            self.waiting,
            self.slowed,
        )


class Observer(Protocol):
    """Somebody who watches a run."""

    def began(self, folder: Path, progress: Progress, /) -> None:
        """Hear where the run is stored and how much is planned."""
        ...

    def moved(self, progress: Progress, /) -> None:
        """Hear of new counts."""
        ...

    def ended(self) -> None:
        """Hear that no further trial comes."""
        ...


class SilentObserver:
    """Watches nothing."""

    def began(self, _folder: Path, _progress: Progress, /) -> None:
        """Ignore the beginning."""

    def moved(self, _progress: Progress, /) -> None:
        """Ignore the trial."""

    def ended(self) -> None:
        """Ignore the end."""


class Undisturbed:
    """Tells an observer, and lets no lost terminal or broken pipe of it disturb the run."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def began(self, folder: Path, progress: Progress, /) -> None:
        """Tell of the beginning."""
        with suppress(OSError, ValueError):
            self._observer.began(folder, progress)

    def moved(self, progress: Progress, /) -> None:
        """Tell of new counts."""
        try:
            self._observer.moved(progress)
        except (OSError, ValueError):
            return

    def ended(self) -> None:
        """Tell of the end."""
        with suppress(OSError, ValueError):
            self._observer.ended()
