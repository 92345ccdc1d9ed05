"""Graders, extractors and targets as text: what each does, and its options."""

import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

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
        yield f"    {', '.join(kinds.values())}"


def _kinds(plugin: Any) -> dict[str, str]:
    taxonomy = getattr(plugin, "taxonomy", None)
    if not isinstance(taxonomy, Taxonomy):
        return {}
    kinds = {field.replace("_", " "): getattr(taxonomy, field) for field in _FIELDS}
    return {"reads": f"reads the {plugin.reads}", **kinds}


def one_plugin(name: str, plugin: type) -> str:
    """Describe all of one plug-in: its docstring, taxonomy and options."""
    return "\n".join(_description(name, plugin))


def _description(name: str, plugin: Any) -> Iterator[str]:
    yield f"{name}\n"
    yield inspect.getdoc(plugin) or ""
    if kinds := _kinds(plugin):
        yield ""
        yield from (f"{field}: {kind}" for field, kind in kinds.items())
    options = dataclasses.fields(plugin)
    yield "\noptions:" if options else "\nno options"
    for option in options:
        yield from _option(option)


def _option(option: "dataclasses.Field[Any]") -> Iterator[str]:
    kind = option.type if isinstance(option.type, str) else inspect.formatannotation(option.type)
    yield f"  {option.name}: {kind.replace('harness.types.code.', '')}, {_default(option)}"
    if description := option.metadata.get("description"):
        yield _wrapped(description)


def _default(option: "dataclasses.Field[Any]") -> str:
    if option.default is not dataclasses.MISSING:
        return f"default {option.default!r}"
    if option.default_factory is not dataclasses.MISSING:
        return f"default {option.default_factory()!r}"
    return "required"


def _wrapped(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4
    )
