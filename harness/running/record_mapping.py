"""Which fields of a foreign record name its sample, model, epoch, ground truth and outcomes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.system.json_values import compact_json
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError
from harness.types.imports import Imported
from harness.types.suites import MOST_EPOCHS

_SINGLE = ("sample", "model", "epoch", "ground_truth")
_WORDS = (*_SINGLE, "outcome")
_MISSING = object()
_MOST_DIGITS = len(str(MOST_EPOCHS))


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """Fields by what they name; dots lead into objects and lists, as in `info.runs.0.model`.

    `outcomes` are any number of fields; each becomes an outcome of its own name.
    """

    sample: str | None = None
    model: str | None = None
    epoch: str | None = None
    ground_truth: str | None = None
    outcomes: tuple[str, ...] = ()


def read_field_map(texts: Iterable[str]) -> FieldMap:
    """Read `sample=instance_id,model=info.model,outcome=resolved`; `outcome` may come again.

    Raises:
        InputError: a part is not of that form, or names what cannot be named.
    """
    found: dict[str, str] = {}
    outcomes: dict[str, None] = {}
    faults = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        word, equals, field = (piece.strip() for piece in part.partition("="))
        if not equals or not field:
            faults.append(_fault(f'found "{part}"', "sample=FIELD,model=FIELD,outcome=FIELD"))
        elif word not in _WORDS:
            faults.append(_fault(f'nothing is called "{word}"', suggest(word, _WORDS)))
        elif word in found:
            faults.append(_fault(f'"{word}" is named twice', "each once, `outcome` aside"))
        elif word == "outcome":
            outcomes[field] = None
        else:
            found[word] = field
    if faults:
        raise InputError(faults)
    return FieldMap(**found, outcomes=tuple(outcomes))


def _fault(problem: str, allowed: str) -> Fault:
    return Fault(file="--map", problem=problem, allowed=allowed)


def map_fields(record: Imported, fields: FieldMap) -> tuple[Imported, tuple[Fault, ...]]:
    """Return a record with what its fields name, and a fault for each that it lacks.

    An outcome may be missing: not every record has come to one.
    """
    found: dict[str, Any] = {}
    faults = []
    for word in _SINGLE:
        path = getattr(fields, word)
        if path is None:
            continue
        value = field_at(record.fields, path)
        try:
            found[_ENTRIES[word]] = _READERS[word](value)
        except ValueError as problem:
            names = suggest(path, record.fields) if value is _MISSING else str(problem)
            said = f'it has no field "{path}"' if value is _MISSING else _found(path, value)
            faults.append(
                Fault(file=record.place, path=f"--map {word}", problem=said, allowed=names)
            )
    outcomes = dict(_outcomes(record.fields, fields.outcomes))
    if outcomes:
        found["outcomes"] = {**record.outcomes, **outcomes}
    return (msgspec.structs.replace(record, **found) if found else record), tuple(faults)


def _found(path: str, value: Any) -> str:
    return f'"{path}" is {compact_json(value)[:80]}'


def _outcomes(fields: Mapping[str, Any], paths: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for path in paths:
        value = field_at(fields, path)
        if value is not _MISSING and value is not None:
            yield path, value


def has_field(fields: Mapping[str, Any], path: str) -> bool:
    """Say whether a record has a field, whatever is in it."""
    return field_at(fields, path) is not _MISSING


def field_at(fields: Any, path: str) -> Any:
    """Return what stands at a path; a field whose own name holds dots comes first."""
    if isinstance(fields, Mapping) and path in fields:
        return fields[path]
    name, dot, rest = path.partition(".")
    inner: Any = _MISSING
    if isinstance(fields, Mapping):
        inner = fields.get(name, _MISSING)
    elif isinstance(fields, list) and name.isdecimal() and len(name) < _MOST_DIGITS:
        inner = fields[int(name)] if int(name) < len(fields) else _MISSING
    return field_at(inner, rest) if dot and inner is not _MISSING else inner


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("a text or a whole number")
    return str(value)


def _epoch(value: Any) -> int:
    if isinstance(value, str) and value.isdecimal() and len(value) < _MOST_DIGITS:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_EPOCHS:
        return value
    raise ValueError(f"a whole number from 0 to {MOST_EPOCHS - 1:,}")


def _ground_truth(value: Any) -> str | None:
    if value is _MISSING:
        raise ValueError("a value")
    return value if value is None or isinstance(value, str) else compact_json(value)


_ENTRIES = {word: word if word != "sample" else "sample_id" for word in _SINGLE}
_READERS = {"sample": _text, "model": _text, "epoch": _epoch, "ground_truth": _ground_truth}
