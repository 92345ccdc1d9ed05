"""Nodes to the dataclass whose fields they are the options of; every fault at its own place."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from harness.documents.binding_messages import explain_error
from harness.documents.findings import BadReference, Findings
from harness.documents.nodes import Location, Table, describe
from harness.documents.shapes import Free, option_hints, records_below, shape
from harness.system.suggestions import find_close, suggest
from harness.system.texts import error_line

_T = TypeVar("_T")
_Misspelt = set[tuple[str, str]]

Resolve = Callable[[type, str], Any]
"""Resolve the text of an option by its type; raises `BadReference`."""


def _resolve_nothing(_kind: type, _text: str) -> Any:
    raise BadReference("this document cannot name files")


@dataclass(frozen=True, slots=True)
class Binder:
    """Makes dataclasses of mappings; faults go to `findings`."""

    findings: Findings
    resolve: Resolve = _resolve_nothing

    def bind(
        self,
        record: type[_T],
        location: Location,
        *,
        free: Free = "written",
        also: Collection[str] = (),
        foreign: Collection[str] = (),
    ) -> _T | None:
        """Make a dataclass of a mapping; None where that was a fault, and all of it was reported.

        `free` says how numbers count where any value may stand; `also` are further keys of the
        mapping, which are read elsewhere. `foreign` are those of its author's own spelling, which
        were put right before: they are listed among what is allowed.
        """
        if not isinstance(location.node, Table):
            found = f"found {describe(location.node)}"
            self.findings.fault(location, found, "a mapping of options")
            return None
        before = len(self.findings.faults)
        misspelt = self._report_unknown(record, location, also, foreign)
        bound = self._validate(record, location, free, misspelt)
        return bound if len(self.findings.faults) == before else None

    def _report_unknown(
        self,
        record: type[Any],
        location: Location,
        also: Collection[str],
        foreign: Collection[str],
    ) -> _Misspelt:
        """Report keys that are no options; return the (path, option) that they were meant for."""
        misspelt: _Misspelt = set()
        for index, (at, kind) in enumerate(records_below(location, record)):
            known = {*option_hints(kind), *(also if index == 0 else ())}
            listed = {*known, *(foreign if index == 0 else ())}
            for key, _ in at.children():
                if key in known:
                    continue
                if close := find_close(key, known):
                    misspelt.add((at.path, close))
                self.findings.key_fault(at, key, f'unknown key "{key}"', suggest(key, listed))
        return misspelt

    def _validate(
        self, record: type[_T], location: Location, free: Free, misspelt: _Misspelt
    ) -> _T | None:
        text = json.dumps(shape(record, location.node, free))
        try:
            bound: _T = adapter_of(record).validate_json(text, strict=True, context=self.resolve)
        except ValidationError as error:
            self._report(record, location, error, misspelt)
        except BadReference as problem:
            self.findings.reference(location, problem)
        except Exception as error:  # noqa: BLE001  (a plug-in's own check may raise anything)
            refused = f"{record.__name__} cannot take these options: {error_line(error)}"
            self.findings.fault(location, refused)
        else:
            return bound
        return None

    def _report(
        self, record: type[Any], location: Location, error: ValidationError, misspelt: _Misspelt
    ) -> None:
        reported: set[str] = set()
        # The deepest errors come first: of a union's members, the one that fits best says most.
        details = [(location.follow(e["loc"]), e) for e in error.errors(include_url=False)]
        for (at, left), detail in sorted(details, key=lambda pair: -len(pair[0][0].path)):
            cause = detail.get("ctx", {}).get("error")
            if detail["type"] in {"missing", "missing_argument"}:
                option = str(left[0]) if left else ""
                if (at.path, option) not in misspelt:
                    self.findings.fault(at, f'"{option}" is missing', "it has no default")
                reported.add(at.path)
                continue
            if any(_is_within(path, at.path) for path in reported):
                continue
            reported.add(at.path)
            if isinstance(cause, BadReference):
                self.findings.reference(at, cause)
            else:
                inside = at.keys[len(location.keys) :]
                self.findings.fault(at, *explain_error(dict(detail), at.node, record, inside))


def adapter_of(record: type[Any]) -> TypeAdapter[Any]:
    """Return the check of a dataclass; it is built once.

    Raises:
        Exception: what pydantic raises for a dataclass that it cannot check.
    """
    key: Any = record
    return _adapter_of(key)


@lru_cache(maxsize=512)
def _adapter_of(record: Any) -> TypeAdapter[Any]:
    return TypeAdapter(record)


def _is_within(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))
