"""Nodes to plain values, led by the types they are meant for.

Where a type wants text, an unquoted number or truth value is the text that was written; where it
wants a number, it is the number. Where it wants anything, `Free` decides.
"""

import dataclasses
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator
from pydantic_core import PydanticUndefined

from harness.documents.nodes import Listing, Location, Node, Scalar, Table
from harness.documents.yaml_scalars import has_leading_zero, is_json_number, keeps_its_text
from harness.types.code import CodeFile, CodeRef, SuitePath, SuiteText

Free = Literal["written", "json"]
"""How a number counts where any value may stand: as `written` unless writing it gives the same
text (`1.10` is a version), or as a number wherever `json` writes one that way."""

_TEXTS = (str, SuitePath, SuiteText, CodeFile, CodeRef)
_LISTS = (list, tuple, set, frozenset, Sequence, Collection, Iterable)


def free_value(node: Node, free: Free = "written") -> Any:
    """Return the value of a node where any value may stand."""
    if isinstance(node, Listing):
        return [free_value(item, free) for item in node.items]
    if isinstance(node, Table):
        return {key: free_value(entry.node, free) for key, entry in node.entries.items()}
    if keeps_its_text(node) or (free == "json" and is_json_number(node)):
        return node.value
    return node.written


def shape(hint: Any, node: Node, free: Free) -> Any:
    """Return the value of a node for a type; a value that does not fit is left for the check."""
    members = members_of(hint)
    if isinstance(node, Scalar):
        return _shape_scalar(members, node, free)
    if isinstance(node, Listing):
        return [
            shape(_item_hint(members, index), item, free) for index, item in enumerate(node.items)
        ]
    if (record := record_of(hint)) is not None:
        hints = option_hints(record)
        return {
            key: shape(hints[key], entry.node, free)
            for key, entry in node.entries.items()
            if key in hints  # other keys are reported by whoever binds the record
        }
    inner = _value_hint(members)
    return {key: shape(inner, entry.node, free) for key, entry in node.entries.items()}


def members_of(hint: Any) -> tuple[Any, ...]:
    """Return the alternatives of a type, annotations and unions taken apart."""
    if get_origin(hint) is Annotated:
        kept, *notes = get_args(hint)
        before = [note for note in notes if isinstance(note, BeforeValidator)]
        written = [note.json_schema_input_type for note in before]
        # What is written may be of another type than what it is made into.
        return members_of(written[0] if written and written[0] is not PydanticUndefined else kept)
    if get_origin(hint) in {Union, types.UnionType}:
        return tuple(member for arg in get_args(hint) for member in members_of(arg))
    return (hint,)


def record_of(hint: Any) -> type[Any] | None:
    """Return the dataclass among the alternatives of a type that is written as a mapping."""
    for member in members_of(hint):
        if isinstance(member, type) and dataclasses.is_dataclass(member) and member not in _TEXTS:
            return member
    return None


def option_hints(record: type[Any]) -> Mapping[str, Any]:
    """Return the options of a dataclass with their types."""
    key: Any = record
    return _option_hints(key)


@lru_cache(maxsize=512)
def _option_hints(record: Any) -> Mapping[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    return {f.name: hints[f.name] for f in dataclasses.fields(record) if f.init}


def records_below(location: Location, hint: Any) -> "list[tuple[Location, type[Any]]]":
    """Return each mapping at or below a location that stands for a dataclass, with that."""
    if isinstance(location.node, Listing):
        members = members_of(hint)
        return [
            found
            for index, item in enumerate(location.items())
            for found in records_below(item, _item_hint(members, index))
        ]
    record = record_of(hint)
    if not isinstance(location.node, Table):
        return []
    if record is None:
        inner = _value_hint(members_of(hint))
        return [found for _, child in location.children() for found in records_below(child, inner)]
    hints = option_hints(record)
    below = [
        found
        for key, child in location.children()
        if key in hints
        for found in records_below(child, hints[key])
    ]
    return [(location, record), *below]


def _shape_scalar(members: tuple[Any, ...], node: Scalar, free: Free) -> Any:
    value = node.value
    if node.written is None or value is None or isinstance(value, str):
        return value
    if Any in members or object in members:
        return free_value(node, free)
    wanted = {type(arg) for m in members if get_origin(m) is Literal for arg in get_args(m)}
    kinds = wanted | {member for member in members if isinstance(member, type)}
    if type(value) in kinds or (isinstance(value, int) and float in kinds and value is not True):
        return _numeric(node, kinds)
    return node.written if kinds & set(_TEXTS) else value


def _numeric(node: Scalar, kinds: set[Any]) -> Any:
    value = node.value
    if isinstance(value, bool):
        return value if bool in kinds else node.written
    text = node.written or ""
    # 010 is 10 to YAML 1.2 and 8 to YAML 1.1; the check refuses it as the text it is.
    return text if has_leading_zero(text) else value


def _item_hint(members: tuple[Any, ...], index: int) -> Any:
    for member in members:
        args = get_args(member)
        if get_origin(member) is tuple and args and args[-1] is not Ellipsis:
            return args[index] if index < len(args) else Any
        if get_origin(member) in _LISTS and args:
            return args[0]
    return Any


def _value_hint(members: tuple[Any, ...]) -> Any:
    for member in members:
        origin = get_origin(member)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return get_args(member)[1]
    return Any
