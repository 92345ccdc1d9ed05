"""A document as a tree of nodes, each of which knows its position; from YAML or from Python."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from harness.system.texts import cut

DEEPEST = 100
"""How deep the lists and mappings of a document may be nested."""

LARGEST = 10**300
"""Whole numbers of documents are smaller, so that each of them has a float near it."""

_MOST_SHOWN = 60
Scalars = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column, counted from 1; 0 where a value was not written in a file."""

    line: int = 0
    column: int = 0


NOWHERE = Position()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One value: `written` is its text where it stood unquoted in YAML, else None.

    `source` is what a fault shows in its place, where the value came from the environment.
    """

    value: Scalars
    written: str | None = None
    source: str | None = None
    position: Position = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list of nodes."""

    items: "tuple[Node, ...]" = ()
    position: Position = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key with its value; `position` is that of the key.

    `path` is the path that faults show in place of this key's own: where the user wrote the value,
    if it was written under another key.
    """

    node: "Node"
    position: Position = NOWHERE
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A mapping; keys are their written texts."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    position: Position = NOWHERE


Node = Scalar | Listing | Table


@dataclass(frozen=True, slots=True)
class Location:
    """A node and the path that leads to it, such as `graders.surfaced_id.config`.

    `path` is what faults show; `keys` are the keys and indices from where the reading began.
    """

    node: Node
    path: str = ""
    keys: tuple[str | int, ...] = ()

    def child(self, key: str) -> "Location | None":
        """Return the value of a key; None where this is no mapping or has no such key."""
        entry = self.node.entries.get(key) if isinstance(self.node, Table) else None
        return Location(entry.node, self.path_of(key), (*self.keys, key)) if entry else None

    def children(self) -> "Iterator[tuple[str, Location]]":
        """Return the keys of a mapping with their values, in the order they were written."""
        if isinstance(self.node, Table):
            for key, entry in self.node.entries.items():
                yield key, Location(entry.node, self.path_of(key), (*self.keys, key))

    def items(self) -> "Iterator[Location]":
        """Return the items of a list."""
        if isinstance(self.node, Listing):
            for index, node in enumerate(self.node.items):
                yield Location(node, f"{self.path}[{index}]", (*self.keys, index))

    def path_of(self, key: str) -> str:
        """Return the path of a key of this mapping, as the user wrote it."""
        entry = self.node.entries.get(key) if isinstance(self.node, Table) else None
        if entry is not None and entry.path is not None:
            return entry.path
        return f"{self.path}.{key}" if self.path else key

    def key_position(self, key: str) -> Position:
        """Return where a key is written."""
        entry = self.node.entries.get(key) if isinstance(self.node, Table) else None
        return entry.position if entry else self.node.position

    def follow(self, path: "tuple[int | str, ...]") -> "tuple[Location, tuple[int | str, ...]]":
        """Follow keys and indices as far as they lead; return what is found there, and the rest.

        A part that leads nowhere, such as the name of a union's member, is passed over if more
        follow.
        """
        for index, part in enumerate(path):
            following = (
                self.child(part)
                if isinstance(part, str)
                else next((item for i, item in enumerate(self.items()) if i == part), None)
            )
            if following is None:
                rest = path[index + 1 :]
                return self.follow(rest) if rest else (self, path[index:])
            self = following  # noqa: PLW0642
        return self, ()

    def text(self, key: str) -> str | None:
        """Return the value of a key as it was written; None where there is no such text."""
        location = self.child(key)
        return text_of(location.node) if location else None

    def without(self, *keys: str) -> "Location":
        """Return this mapping without some of its keys."""
        if not isinstance(self.node, Table):
            return self
        entries = {key: entry for key, entry in self.node.entries.items() if key not in keys}
        return Location(Table(entries=entries, position=self.node.position), self.path)


def text_of(node: Node) -> str | None:
    """Return a scalar as text: as it was written, where it was; None for null and for lists."""
    if not isinstance(node, Scalar) or node.value is None:
        return None
    if isinstance(node.value, str):
        return node.value
    return node.written


def is_null(node: Node) -> bool:
    """Say whether a node is null, as a key without a value is."""
    return isinstance(node, Scalar) and node.value is None


def describe(node: Node) -> str:
    """Describe a node in words, to be put after "found"."""
    if isinstance(node, Listing):
        return "a list"
    if isinstance(node, Table):
        return "a mapping"
    if node.value is None:
        return "nothing"
    if node.source is not None:
        return f"what {cut(node.source, _MOST_SHOWN)!r} stands for"
    if node.written is not None and not isinstance(node.value, str):
        return cut(node.written, _MOST_SHOWN)
    return describe_value(node.value)


def describe_value(value: Any) -> str:
    """Describe a JSON value in words, to be put after "found" or "is"."""
    if isinstance(value, str):
        return f"the text {cut(value, _MOST_SHOWN)!r}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        return "a list"
    return "a mapping" if isinstance(value, Mapping) else cut(str(value), _MOST_SHOWN)


def depth_of(node: Node) -> int:
    """Return how deep lists and mappings are nested at and below a node."""
    depth, level = 0, [node]
    while level := [one for one in level if not isinstance(one, Scalar)]:
        depth += 1
        level = [inner for one in level for inner in _inside(one)]
    return depth


def _inside(node: Node) -> Iterable[Node]:
    if isinstance(node, Table):
        return [entry.node for entry in node.entries.values()]
    return node.items if isinstance(node, Listing) else ()


def from_python(value: Any, depth: int = DEEPEST) -> Node:
    """Make nodes of Python values, as they come from a caller's dict.

    Raises:
        TypeError: a value that YAML has no form for, a key that is no text, or values that are
            nested too deep.
    """
    if depth < 0:
        raise TypeError(f"nested deeper than {DEEPEST} levels")
    if isinstance(value, PathLike):
        return Scalar(value=str(value))
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError(f"a document cannot hold the number {value}")
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise TypeError("a document cannot hold a whole number of more than 300 digits")
    if value is None or isinstance(value, str | bool | int | float):
        return Scalar(value=value)
    if isinstance(value, list | tuple):
        return Listing(items=tuple(from_python(item, depth - 1) for item in value))
    if isinstance(value, Mapping):
        entries = {_key(k): Entry(node=from_python(v, depth - 1)) for k, v in value.items()}
        return Table(entries=entries)
    raise TypeError(f"a document cannot hold a value of type {type(value).__name__}")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"a key must be a text, not {key!r}")
