"""YAML text to nodes: one document, no key twice, no tags, aliases bounded, UTF-8."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from harness.loading.encodings import decode_utf8
from harness.loading.nodes import Entry, Listing, Node, Place, Scalar, Table
from harness.loading.yaml_messages import explain
from harness.loading.yaml_scalars import resolve_scalar
from harness.types.errors import Fault

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 100
_MOST_ALIASED = 100_000
_TEXT_TAGS = {"!", "tag:yaml.org,2002:str"}


class _Broken(Exception):  # noqa: N818  (carries a fault; the text cannot be read further)
    def __init__(self, place: Place, problem: str, allowed: str = "") -> None:
        super().__init__(problem)
        self.place, self.problem, self.allowed = place, problem, allowed


def read_yaml(data: bytes, file: str) -> tuple[Node | None, tuple[Fault, ...]]:
    """Read one document; None where the text cannot be read, then with the one fault that says so.

    A key that stands twice is a fault beside the node; its first value counts.
    """
    text = decode_utf8(data, file)
    if isinstance(text, Fault):
        return None, (text,)
    composer = _Composer(yaml.parse(text, Loader=_Loader))
    try:
        node = composer.document()
    except yaml.YAMLError as error:
        place, problem, allowed = explain(error, text)
        broken = _Broken(place, problem, allowed)
    except _Broken as error:
        broken = error
    else:
        return node, tuple(_fault(file, twice) for twice in composer.twice)
    return None, (_fault(file, broken),)


def _fault(file: str, broken: _Broken) -> Fault:
    place = broken.place
    return Fault(
        file=file,
        line=place.line,
        column=place.column,
        problem=broken.problem,
        allowed=broken.allowed,
    )


@dataclass(slots=True)
class _Composer:
    """Builds nodes from events; `sizes` counts the nodes behind an anchor, aliases spelt out."""

    events: Iterator[Any]
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    twice: list[_Broken] = field(default_factory=list)
    count: int = 0
    aliased: int = 0

    def document(self) -> Node:
        node: Node | None = None
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                if node is not None:
                    raise _Broken(
                        _place(event), "a second document begins here", "a suite is one document"
                    )
                node = self.node(next(self.events), 0)
        if node is None:
            raise _Broken(Place(), "the file is empty", "a suite is a mapping of keys and values")
        return node

    def node(self, event: Any, depth: int) -> Node:
        if depth > _DEEPEST:
            raise _Broken(_place(event), "nested too deeply", f"at most {_DEEPEST} levels")
        if isinstance(event, AliasEvent):
            return self.alias(event)
        before = self.count
        self.count += 1
        _refuse_tag(event)
        node = self.build(event, depth)
        if event.anchor:
            self.anchors[event.anchor] = (node, self.count - before)
        return node

    def build(self, event: Any, depth: int) -> Node:
        if isinstance(event, ScalarEvent):
            return _scalar(event)
        if isinstance(event, SequenceStartEvent):
            return Listing(items=tuple(self.items(depth)), place=_place(event))
        if isinstance(event, MappingStartEvent):
            return Table(entries=self.entries(depth), place=_place(event))
        raise _Broken(_place(event), "a value is missing here")

    def items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self.events), SequenceEndEvent):
            yield self.node(event, depth + 1)

    def entries(self, depth: int) -> dict[str, Entry]:
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            place = _place(event)
            key = self.key(event, depth)
            node = self.node(next(self.events), depth + 1)
            if key == "<<" and _is_plain(event):
                for name, entry in _merged(node, place).items():
                    merged.setdefault(name, entry)
            elif key in own:
                first = own[key].place.line
                problem = f'the key "{key}" stands here again; it is already on line {first}'
                self.twice.append(_Broken(place, problem))
            else:
                own[key] = Entry(node=node, place=place)
        return own | {name: entry for name, entry in merged.items() if name not in own}

    def key(self, event: Any, depth: int) -> str:
        node = self.node(event, depth + 1)
        if isinstance(event, ScalarEvent):
            return str(event.value)
        if isinstance(node, Scalar):
            return str(node.value if node.written is None else node.written)
        raise _Broken(_place(event), "a key must be a text, not a list or a mapping")

    def alias(self, event: Any) -> Node:
        if event.anchor not in self.anchors:
            raise _Broken(
                _place(event), f"*{event.anchor} refers to itself, or to no anchor before it"
            )
        node, size = self.anchors[event.anchor]
        self.count += size
        self.aliased += size
        if self.aliased > _MOST_ALIASED:
            raise _Broken(
                _place(event),
                "the aliases of this file stand for too many values",
                f"at most {_MOST_ALIASED:,} in all",
            )
        return node


def _scalar(event: Any) -> Scalar:
    plain = _is_plain(event) and event.tag is None
    value = resolve_scalar(event.value) if plain else event.value
    return Scalar(value=value, written=event.value if plain else None, place=_place(event))


def _is_plain(event: Any) -> bool:
    # libyaml gives unquoted scalars an empty style, the parser in Python gives them none.
    return isinstance(event, ScalarEvent) and not event.style


def _refuse_tag(event: Any) -> None:
    tag = getattr(event, "tag", None)
    if tag is None or (isinstance(event, ScalarEvent) and tag in _TEXT_TAGS):
        return
    shown = tag.replace("tag:yaml.org,2002:", "!!")
    raise _Broken(_place(event), f"the tag {shown} has no meaning in a suite", "leave it out")


def _merged(node: Node, place: Place) -> dict[str, Entry]:
    tables = node.items if isinstance(node, Listing) else (node,)
    found: dict[str, Entry] = {}
    for table in tables:
        if not isinstance(table, Table):
            raise _Broken(place, "`<<` takes a mapping, or a list of mappings")
        for name, entry in table.entries.items():
            found.setdefault(name, entry)
    return found


def _place(event: Any) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)
