"""Graders, extractors, targets and formats as text: what each does, and its options."""

import dataclasses
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from harness.types.code import CodeFile, CodeRef, SuitePath, SuiteText
from harness.types.taxonomy import Taxonomy

_FIELDS = tuple(field.name for field in dataclasses.fields(Taxonomy))
_WIDTH = 96


def all_plugins(plugins: Mapping[str, type]) -> str:
    """List plug-ins, each with the first sentence of its docstring and what kind of check it is."""
    return "\n".join(line for name, plugin in plugins.items() for line in _listed(name, plugin))


def _listed(name: str, plugin: type) -> Iterator[str]:
    yield name
    yield _wrapped((inspect.getdoc(plugin) or "").split("\n\n", 1)[0])
    if kinds := _kinds(plugin):
        yield f"    reads {', '.join(kinds.values())}"
    if specification := getattr(plugin, "specification", None):
        yield f"    {specification}"


def _kinds(plugin: Any) -> dict[str, str]:
    taxonomy = getattr(plugin, "taxonomy", None)
    if not isinstance(taxonomy, Taxonomy):
        return {}
    kinds = {field.replace("_", " "): getattr(taxonomy, field) for field in _FIELDS}
    return {"reads": f"the {plugin.reads}", **kinds}


def one_plugin(name: str, plugin: type) -> str:
    """Describe all of one plug-in: its docstring, taxonomy and options."""
    return "\n".join(_description(name, plugin))


def _description(name: str, plugin: Any) -> Iterator[str]:
    yield f"{name}\n"
    yield inspect.getdoc(plugin) or ""
    if kinds := _kinds(plugin):
        yield ""
        yield from (f"{field}: {kind}" for field, kind in kinds.items())
    if specification := getattr(plugin, "specification", None):
        yield f"\nspecification: {specification}"
        return
    options = dataclasses.fields(plugin)
    yield "\noptions:" if options else "\nno options"
    for option in options:
        yield from _option(option)


def _option(option: "dataclasses.Field[Any]") -> Iterator[str]:
    yield f"  {option.name}: {_plain_type(option.type)}, {_default(option)}"
    if description := option.metadata.get("description"):
        yield _wrapped(description)


def _plain_type(kind: Any) -> str:
    """Describe a type as someone who writes YAML calls it."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if kind in _PLAIN_TYPES:
        return _PLAIN_TYPES[kind]
    parts = [part for part in get_args(kind) if part not in (type(None), ...)]
    if get_origin(kind) is Literal:
        return " | ".join(map(str, parts))
    if get_origin(kind) in (list, tuple, Sequence):
        return f"list of {_plain_type(parts[0])}"
    if get_origin(kind) in (dict, Mapping) or dataclasses.is_dataclass(kind):
        return "mapping"
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_plain_type, parts))
    return inspect.formatannotation(kind)


_PLAIN_TYPES: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Any: "anything",
    SuitePath: "path",
    SuiteText: "text",
    CodeFile: "Python file",
    CodeRef: "file.py:name",
}


def _default(option: "dataclasses.Field[Any]") -> str:
    if option.default is not dataclasses.MISSING:
        return f"default {_plain_value(option.default)}"
    if option.default_factory is not dataclasses.MISSING:
        return f"default {_plain_value(option.default_factory())}"
    return "required"


def _plain_value(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        return "{}"
    return "none" if value is None else json.dumps(value, default=repr, ensure_ascii=False)


def _wrapped(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4
    )
