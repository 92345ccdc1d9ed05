"""The order in which runs were made in a folder, which a clock that jumps back cannot change."""

from bisect import bisect_left
from contextlib import suppress
from pathlib import Path

ORDER = ".order"
"""The file that names the runs of a folder, one a line, in the order in which they were made."""


def note_run(out: Path, run_id: str) -> None:
    """Note that a run is made now.

    Raises:
        OSError: the folder cannot be written.
    """
    # One write to the end: runs that begin at the same time do not mix their lines.
    with (out / ORDER).open("ab", buffering=0) as file:
        file.write(f"{run_id}\n".encode())


class RunOrder:
    """The order of the runs of a folder.

    A run that is not noted, such as one that was copied there, comes after the last noted one whose
    name is before its own: names begin with the time in UTC. So does every run where nothing is.
    """

    def __init__(self, folder: Path) -> None:
        noted: list[str] = []
        with suppress(OSError):
            noted = (folder / ORDER).read_bytes().decode(errors="replace").split("\n")
        self._places = {name: place for place, name in enumerate(noted) if name}
        self._least = list(self._places)
        for place in reversed(range(len(self._least) - 1)):
            self._least[place] = min(self._least[place], self._least[place + 1])
        self._places = {name: place for place, name in enumerate(self._places)}

    def of(self, run: Path, stamp: str | None = None) -> tuple[int, str]:
        """Return what runs are sorted by, oldest first; `stamp` stands for the name of the run."""
        place = self._places.get(run.name)
        if place is not None:
            return place, ""
        name = stamp or run.name
        return bisect_left(self._least, name) - 1, name
