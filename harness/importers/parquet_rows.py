"""The rows of a Parquet file as records; it needs pyarrow, which an extra of the package brings."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from harness.importers.source_losses import SourceLosses
from harness.system.json_reading import JsonReader
from harness.system.json_values import clean_json
from harness.types.errors import Fault, InputError

_MARK = b"PAR1"
_BATCH = 100  # rows that are in memory at once


def is_parquet(path: Path) -> bool:
    """Say whether a file is Parquet, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MARK)) == _MARK
    except OSError:
        return False


def read_rows(path: Path, shown: str, losses: SourceLosses) -> Iterator[tuple[str, Any]]:
    """Return (place, record) for every row, counted from 1: a column is a field.

    A cell whose text is the JSON of an object, or of a list of objects, is read: that is how tables
    hold messages. Times and dates become text.

    Raises:
        InputError: pyarrow is not installed, or the file is damaged.
    """
    try:
        # Only those who have such files need the package, and it is large.
        from pyarrow import ArrowException, parquet  # noqa: PLC0415
    except ImportError as error:
        problem = "a Parquet file is read by pyarrow, which is not installed"
        raise _fault(shown, problem, "pip install 'regrade[parquet]'") from error
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    place = f"{shown}:{number}"
                    yield place, _record(row, losses, place)
    except (ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise _fault(shown, f"this is no Parquet that can be read: {reason}") from error


def _record(row: dict[str, Any], losses: SourceLosses, place: str) -> Any:
    reader = _RowReader(losses, place)
    # Only whole cells are read: a text inside of messages is what somebody said.
    return clean_json(
        {n: reader.decoded(v) if isinstance(v, str) else reader.plain(v) for n, v in row.items()}
    )


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Reads the cells of one row."""

    losses: SourceLosses
    place: str

    def plain(self, value: Any) -> Any:
        """Return a cell as JSON has it."""
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            # A table gives every object the fields of all: those without a value were never there.
            return {name: self.plain(inner) for name, inner in value.items() if inner is not None}
        return self._plain_cell(value)

    def _plain_cell(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return self.losses.decode(self.place, value)
        if isinstance(value, float) and not isfinite(value):
            return None  # how tables say that a number is missing
        return value if value is None or isinstance(value, str | bool | int | float) else str(value)

    def decoded(self, text: str) -> Any:
        """Return the value of a cell that holds JSON of records, else its text."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        reader = JsonReader()
        try:
            value = reader.read(text)
        except ValueError:
            return text
        if not isinstance(value, dict) and not all(isinstance(one, dict) for one in value):
            return text
        self.losses.add_json(self.place, reader.losses)
        return value


def _fault(shown: str, problem: str, allowed: str = "") -> InputError:
    return InputError([Fault(file=shown, problem=problem, allowed=allowed)])
