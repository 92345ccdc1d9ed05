"""YAML text to nodes: one document, no duplicate keys, no tags, aliases bounded, UTF-8."""

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

from harness.documents.encodings import decode_utf8
from harness.documents.findings import Findings
from harness.documents.nodes import (
    DEEPEST,
    Entry,
    Listing,
    Node,
    Position,
    Scalar,
    Table,
    depth_of,
)
from harness.documents.yaml_messages import explain
from harness.documents.yaml_scalars import resolve_scalar
from harness.types.errors import Fault

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_ALIASED = 100_000
_TEXT_TAGS = {"!", "tag:yaml.org,2002:str"}


class _Broken(Exception):  # noqa: N818  (carries a fault; the text cannot be read further)
    def __init__(self, position: Position, problem: str, allowed: str = "") -> None:
        super().__init__(problem)
        self.position, self.problem, self.allowed = position, problem, allowed


def read_yaml(data: bytes, findings: Findings) -> Node | None:
    """Read one document; None where the text cannot be read, which is one fault.

    A duplicate key is a fault beside the node; its first value counts.
    """
    text = decode_utf8(data, findings.file)
    if isinstance(text, Fault):
        findings.faults.append(text)
        return None
    composer = _Composer(yaml.parse(text, Loader=_Loader))
    node = None
    try:
        node = composer.document()
    except yaml.YAMLError as error:
        broken = [_Broken(*explain(error, text))]
    except _Broken as error:
        broken = [error]
    else:
        broken = composer.duplicates
    findings.faults.extend(
        findings.make("", one.position, one.problem, one.allowed) for one in broken
    )
    return node


@dataclass(slots=True)
class _Composer:
    """Builds nodes from events; `sizes` counts the nodes behind an anchor, aliases spelt out."""

    events: Iterator[Any]
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    duplicates: list[_Broken] = field(default_factory=list)
    count: int = 0
    aliased: int = 0

    def document(self) -> Node:
        node: Node | None = None
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                if node is not None:
                    raise _Broken(
                        _position(event), "a second document begins here", "a file is one document"
                    )
                node = self.node(next(self.events), 0)
        if node is None:
            raise _Broken(Position(), "the file is empty", "write a mapping of keys and values")
        return node

    def node(self, event: Any, depth: int) -> Node:
        if isinstance(event, AliasEvent):
            return self.alias(event, depth)
        if depth > DEEPEST:
            raise _too_deep(event)
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
            return Listing(items=tuple(self.items(depth)), position=_position(event))
        if isinstance(event, MappingStartEvent):
            return Table(entries=self.entries(depth), position=_position(event))
        raise _Broken(_position(event), "a value is missing here")

    def items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self.events), SequenceEndEvent):
            yield self.node(event, depth + 1)

    def entries(self, depth: int) -> dict[str, Entry]:
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            position = _position(event)
            key = self.key(event, depth)
            node = self.node(next(self.events), depth + 1)
            if key == "<<" and _is_plain(event):
                for name, entry in _merged(node, position).items():
                    merged.setdefault(name, entry)
            elif key in own:
                first = own[key].position.line
                problem = f'duplicate key "{key}"; it is already on line {first}'
                self.duplicates.append(_Broken(position, problem))
            else:
                own[key] = Entry(node=node, position=position)
        return own | {name: entry for name, entry in merged.items() if name not in own}

    def key(self, event: Any, depth: int) -> str:
        node = self.node(event, depth + 1)
        if isinstance(event, ScalarEvent):
            return str(event.value)
        if isinstance(node, Scalar):
            return str(node.value if node.written is None else node.written)
        raise _Broken(_position(event), "a key must be a text, not a list or a mapping")

    def alias(self, event: Any, depth: int) -> Node:
        if event.anchor not in self.anchors:
            raise _Broken(
                _position(event), f"*{event.anchor} refers to itself, or to no anchor before it"
            )
        node, size = self.anchors[event.anchor]
        self.count += size
        self.aliased += size
        if self.aliased > _MOST_ALIASED:
            raise _Broken(
                _position(event),
                "the aliases of this file stand for too many values",
                f"at most {_MOST_ALIASED:,} in all",
            )
        if depth + depth_of(node) > DEEPEST:
            raise _too_deep(event)
        return node


def _too_deep(event: Any) -> _Broken:
    return _Broken(_position(event), "nested too deeply", f"at most {DEEPEST} levels")


def _scalar(event: Any) -> Scalar:
    plain = _is_plain(event) and event.tag is None
    value = resolve_scalar(event.value) if plain else event.value
    return Scalar(value=value, written=event.value if plain else None, position=_position(event))


def _is_plain(event: Any) -> bool:
    # libyaml gives unquoted scalars an empty style, the parser in Python gives them none.
    return isinstance(event, ScalarEvent) and not event.style


def _refuse_tag(event: Any) -> None:
    tag = getattr(event, "tag", None)
    if tag is None or (isinstance(event, ScalarEvent) and tag in _TEXT_TAGS):
        return
    shown = tag.replace("tag:yaml.org,2002:", "!!")
    raise _Broken(_position(event), f"the tag {shown} has no meaning here", "leave it out")


def _merged(node: Node, position: Position) -> dict[str, Entry]:
    tables = node.items if isinstance(node, Listing) else (node,)
    found: dict[str, Entry] = {}
    for table in tables:
        if not isinstance(table, Table):
            raise _Broken(position, "`<<` takes a mapping, or a list of mappings")
        for name, entry in table.entries.items():
            found.setdefault(name, entry)
    return found


def _position(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)
