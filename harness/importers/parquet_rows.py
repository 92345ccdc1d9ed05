"""The rows of a Parquet file as records; it needs pyarrow, which an extra of the package brings."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from harness.system.json_values import clean_json, load_json
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


def read_rows(path: Path, shown: str) -> Iterator[tuple[str, Any]]:
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
                    yield f"{shown}:{number}", _record(row)
    except (ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise _fault(shown, f"this is no Parquet that can be read: {reason}") from error


def _record(row: dict[str, Any]) -> Any:
    # Only whole cells are read: a text inside of messages is what somebody said.
    return clean_json({n: _decoded(v) if isinstance(v, str) else _plain(v) for n, v in row.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        # A table gives every object the fields of all: those without a value were never there.
        return {name: _plain(inner) for name, inner in value.items() if inner is not None}
    return _plain_cell(value)


def _plain_cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float) and not isfinite(value):
        return None  # how tables say that a number is missing
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _decoded(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value = load_json(text)
    except ValueError:
        return text
    is_record = isinstance(value, dict) or all(isinstance(one, dict) for one in value)
    return value if is_record else text


def _fault(shown: str, problem: str, allowed: str = "") -> InputError:
    return InputError([Fault(file=shown, problem=problem, allowed=allowed)])
