"""Graders, extractors and targets as text: what each does, and its options."""

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from harness.types.taxonomy import Taxonomy


def plugin_table(plugins: Mapping[str, type]) -> Table:
    """List plug-ins with the first sentence of their docstring; graders with their taxonomy."""
    taxonomies = {name: getattr(plugin, "taxonomy", None) for name, plugin in plugins.items()}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    graders = any(isinstance(taxonomy, Taxonomy) for taxonomy in taxonomies.values())
    for title in ("name", *(("reads", *_FIELDS) if graders else ()), "what it does"):
        table.add_column(title.replace("_", " "), overflow="fold")
    for name, plugin in plugins.items():
        row = _row(plugin) if graders else []
        table.add_row(name, *row, _summary(plugin))
    return table


_FIELDS = tuple(field.name for field in dataclasses.fields(Taxonomy))


def _row(plugin: Any) -> list[str]:
    return [plugin.reads, *(getattr(plugin.taxonomy, name) for name in _FIELDS)]


def _summary(plugin: type) -> str:
    return (inspect.getdoc(plugin) or "").split("\n\n", 1)[0].replace("\n", " ")


def one_plugin(name: str, plugin: type) -> str:
    """Tell all of one plug-in: its docstring, taxonomy and options."""
    return "\n".join(_told(name, plugin))


def _told(name: str, plugin: Any) -> Iterator[str]:
    yield f"{name}\n"
    yield inspect.getdoc(plugin) or ""
    taxonomy = getattr(plugin, "taxonomy", None)
    if isinstance(taxonomy, Taxonomy):
        yield f"\nreads: {plugin.reads}"
        for field in _FIELDS:
            yield f"{field.replace('_', ' ')}: {getattr(taxonomy, field)}"
    options = dataclasses.fields(plugin)
    yield "\noptions:" if options else "\nno options"
    for option in options:
        yield _option(option)


def _option(option: "dataclasses.Field[Any]") -> str:
    kind = option.type if isinstance(option.type, str) else inspect.formatannotation(option.type)
    description = option.metadata.get("description", "")
    return f"  {option.name}: {kind}, {_default(option)}. {description}".rstrip()


def _default(option: "dataclasses.Field[Any]") -> str:
    if option.default is not dataclasses.MISSING:
        return f"default {option.default!r}"
    if option.default_factory is not dataclasses.MISSING:
        return f"default {option.default_factory()!r}"
    return "required"
