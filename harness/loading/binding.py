"""Nodes to the dataclass whose fields they are the options of; every fault at its own place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from harness.loading.binding_messages import tell
from harness.loading.environment import BadReference
from harness.loading.nodes import Spot, Table, describe, is_null
from harness.loading.shapes import Free, option_hints, records_below, shape
from harness.loading.workbench import Workbench
from harness.system.suggestions import find_close, suggest

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How options are read: numbers in free mappings, and where misplaced keys would belong.

    `elsewhere` maps keys that are no options here to where they do belong, in words.
    `handled` are further keys of the mapping, which somebody else reads. `excused` are options
    that may be missing, because they were found where they do not belong.
    """

    free: Free = "written"
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    handled: frozenset[str] = frozenset()
    excused: frozenset[str] = frozenset()


_PLAIN = Manner()


def bind(record: type[_T], spot: Spot, bench: Workbench, *, manner: Manner = _PLAIN) -> _T | None:
    """Make a dataclass of a mapping; None where that was a fault, and all of it was reported."""
    if not isinstance(spot.node, Table):
        if not is_null(spot.node):
            bench.findings.fault(spot, f"found {describe(spot.node)}", "a mapping of options")
            return None
        spot = Spot(Table(place=spot.node.place), spot.path)
    before = len(bench.findings.faults)
    meant = _report_unknown(record, spot, bench, manner)
    bound = _validate(record, spot, bench, manner=manner, meant=meant)
    return bound if len(bench.findings.faults) == before else None


def _report_unknown(
    record: type[Any], spot: Spot, bench: Workbench, manner: Manner
) -> set[tuple[str, str]]:
    """Report keys that are no options; give the (path, option) that they were meant for."""
    meant = {(spot.path, option) for option in manner.excused}
    for index, (at, kind) in enumerate(records_below(spot, record)):
        known = set(option_hints(kind)) | (manner.handled if index == 0 else set())
        elsewhere = manner.elsewhere if index == 0 else {}
        for key, _ in at.children():
            if key in known:
                continue
            close = find_close(key, known)
            if close:
                meant.add((at.path, close))
            belongs = elsewhere.get(key) if not close else None
            bench.findings.fault_at(
                at.key_place(key),
                at.path_of(key),
                f'unknown key "{key}"',
                f"it belongs {belongs}" if belongs else suggest(key, known),
            )
    return meant


def adapter_of(record: type[Any]) -> TypeAdapter[Any]:
    """Give the check of a dataclass; it is built once.

    Raises:
        Exception: what pydantic raises for a dataclass that it cannot check.
    """
    key: Any = record
    return _adapter_of(key)


@lru_cache(maxsize=512)
def _adapter_of(record: Any) -> TypeAdapter[Any]:
    return TypeAdapter(record)


def _validate(
    record: type[_T],
    spot: Spot,
    bench: Workbench,
    *,
    manner: Manner,
    meant: set[tuple[str, str]],
) -> _T | None:
    value = shape(record, spot.node, manner.free)
    try:
        bound: _T = adapter_of(record).validate_json(
            json.dumps(value), strict=True, context=bench.resolve
        )
    except ValidationError as error:
        _report(record, spot, bench, error=error, meant=meant)
    except BadReference as problem:
        bench.report(spot, problem)
    except Exception as error:  # noqa: BLE001  (a plug-in's own check may raise anything)
        bench.findings.fault(
            spot, f"{record.__name__} cannot take these options: {type(error).__name__}: {error}"
        )
    else:
        return bound
    return None


def _report(
    record: type[Any],
    spot: Spot,
    bench: Workbench,
    *,
    error: ValidationError,
    meant: set[tuple[str, str]],
) -> None:
    reported: set[str] = set()
    # The deepest errors come first: of a union's members, the one that fits best tells most.
    located = [(_locate(spot, one["loc"]), one) for one in error.errors(include_url=False)]
    for (at, left), one in sorted(located, key=lambda pair: -len(pair[0][0].path)):
        if one["type"] == "missing":
            option = str(left[0]) if left else ""
            if (at.path, option) not in meant:
                bench.findings.fault(at, f'"{option}" is missing', "it has no default")
        elif not any(_is_within(path, at.path) for path in reported):
            cause = one.get("ctx", {}).get("error")
            if isinstance(cause, BadReference):
                bench.report(at, cause)
            else:
                bench.findings.fault(at, *tell(dict(one), at.node, record, at.path, spot.path))
            reported.add(at.path)


def _is_within(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))


def _locate(spot: Spot, loc: tuple[int | str, ...]) -> tuple[Spot, tuple[int | str, ...]]:
    """Follow an error's location as far as it leads; the name of a union's member leads nowhere."""
    for index, part in enumerate(loc):
        following = (
            spot.child(part)
            if isinstance(part, str)
            else next((s for i, s in enumerate(spot.items()) if i == part), None)
        )
        if following is None:
            rest = loc[index + 1 :]
            return _locate(spot, rest) if rest else (spot, loc[index:])
        spot = following
    return spot, ()
