"""A document as a tree of nodes, each of which knows where it stands; from YAML or from Python."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

Scalars = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, counted from 1; 0 where a value was not written in a file."""

    line: int = 0
    column: int = 0


NOWHERE = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One value: `written` is its text where it stood unquoted in YAML, else None.

    `source` is what a fault shows in its place, where the value came from the environment.
    """

    value: Scalars
    written: str | None = None
    source: str | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list of nodes."""

    items: "tuple[Node, ...]" = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key with its value; `place` is that of the key."""

    node: "Node"
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A mapping; keys are their written texts."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    place: Place = NOWHERE


Node = Scalar | Listing | Table


@dataclass(frozen=True, slots=True)
class Spot:
    """A node and the path that leads to it, such as `graders.surfaced_id.config`."""

    node: Node
    path: str = ""

    def child(self, key: str) -> "Spot | None":
        """Give the value of a key; None where this is no mapping or has no such key."""
        entry = self.node.entries.get(key) if isinstance(self.node, Table) else None
        return Spot(entry.node, self.path_of(key)) if entry else None

    def children(self) -> "Iterator[tuple[str, Spot]]":
        """Give the keys of a mapping with their values, in the order they were written."""
        if isinstance(self.node, Table):
            for key, entry in self.node.entries.items():
                yield key, Spot(entry.node, self.path_of(key))

    def items(self) -> "Iterator[Spot]":
        """Give the items of a list."""
        if isinstance(self.node, Listing):
            for index, node in enumerate(self.node.items):
                yield Spot(node, f"{self.path}[{index}]")

    def path_of(self, key: str) -> str:
        """Give the path of a key of this mapping."""
        return f"{self.path}.{key}" if self.path else key

    def key_place(self, key: str) -> Place:
        """Give where a key is written."""
        entry = self.node.entries.get(key) if isinstance(self.node, Table) else None
        return entry.place if entry else self.node.place

    def text(self, key: str) -> str | None:
        """Give the value of a key as it was written; None where there is no such text."""
        spot = self.child(key)
        return text_of(spot.node) if spot else None

    def without(self, *keys: str) -> "Spot":
        """Give this mapping without some of its keys."""
        if not isinstance(self.node, Table):
            return self
        entries = {key: entry for key, entry in self.node.entries.items() if key not in keys}
        return Spot(Table(entries=entries, place=self.node.place), self.path)


def text_of(node: Node) -> str | None:
    """Give a scalar as text: as it was written, where it was; None for null and for lists."""
    if not isinstance(node, Scalar) or node.value is None:
        return None
    if isinstance(node.value, str):
        return node.value
    return node.written


def is_null(node: Node) -> bool:
    """Say whether a node is null, as a key without a value is."""
    return isinstance(node, Scalar) and node.value is None


def describe(node: Node) -> str:
    """Say in words what a node is, to be put after "found"."""
    if isinstance(node, Listing):
        return "a list"
    if isinstance(node, Table):
        return "a mapping"
    if node.value is None:
        return "nothing"
    if node.source is not None:
        return f"what {_short(node.source)!r} stands for"
    shown = node.written if node.written is not None else node.value
    kind = "the text " if isinstance(node.value, str) else ""
    return f"{kind}{_short(str(shown))!r}" if kind else _short(str(shown))


def _short(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def from_python(value: Any) -> Node:
    """Make nodes of Python values, as they come from a caller's dict.

    Raises:
        TypeError: a value that YAML has no form for, or a key that is no text.
    """
    if isinstance(value, PathLike):
        return Scalar(value=str(value))
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError(f"a suite cannot hold the number {value}")
    if value is None or isinstance(value, str | bool | int | float):
        return Scalar(value=value)
    if isinstance(value, list | tuple):
        return Listing(items=tuple(from_python(item) for item in value))
    if isinstance(value, Mapping):
        return Table(entries={_key(key): Entry(node=from_python(v)) for key, v in value.items()})
    raise TypeError(f"a suite cannot hold a value of type {type(value).__name__}")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"a key must be a text, not {key!r}")
