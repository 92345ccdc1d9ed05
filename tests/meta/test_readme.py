"""The documents are whole: they name every command and option, and every plug-in with its options.

The README names the commands and links every page of `docs`, which name the rest.
"""

import dataclasses
import re
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

import harness.cli
from harness.loading.suite_heads import ScoringEntry
from harness.types.prices import Price
from harness.types.suites import GateSpec, Limits, Retries, WeightedGate

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
DOCUMENTS = "\n".join([README, *PAGES.values()])
SUITE_TABLES = {
    "limits": Limits, "retries": Retries, "scoring": ScoringEntry, "gates": GateSpec,
    "gates by weight": WeightedGate, "prices": Price,
}  # fmt: skip
SUITE_KEYS = {
    "name", "description", "dataset", "samples", "target", "graders", "epochs", "retries", "limits",
    "scoring", "gates", "max_samples", "sample_tags", "prices",
}  # fmt: skip


def is_named(word, text=DOCUMENTS):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def commands():
    group = next(value for value in vars(harness.cli).values() if isinstance(value, click.Group))
    context = click.Context(group, info_name="regrade")
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def command_options():
    return [
        f"{name} {max(parameter.opts, key=len)}"
        for name, command in commands().items()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]


def plugins(kind):
    found = {}
    for entry in entry_points(group=f"regrade.{kind}"):
        if entry.dist is None or entry.dist.name == "regrade":
            found |= entry.load()
    return found


def plugin_options():
    return [
        f"{kind} {name} {field.name}"
        for kind in ("graders", "extractors", "targets")
        for name, plugin in plugins(kind).items()
        for field in (dataclasses.fields(plugin) if dataclasses.is_dataclass(plugin) else ())
    ]


def suite_options():
    tables = {name: dataclasses.fields(table) for name, table in SUITE_TABLES.items()}
    return [f"{name} {field.name}" for name, fields in tables.items() for field in fields]


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_is_named(name):
    assert is_named(f"regrade {name}", README)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_is_linked(page):
    assert f"(docs/{page}" in README


@pytest.mark.parametrize("kind", ["graders", "extractors", "targets", "importers"])
def test_every_plug_in_is_named(kind):
    assert plugins(kind)
    assert [name for name in plugins(kind) if not is_named(name)] == []


@pytest.mark.parametrize("give", [command_options, plugin_options, suite_options])
def test_every_option_is_named(give):
    options = give()
    assert options
    assert [option for option in options if not is_named(option.split()[-1])] == []


def test_every_key_of_a_suite_is_named():
    assert sorted(key for key in SUITE_KEYS if not is_named(key)) == []
