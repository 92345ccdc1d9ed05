"""YAML text as plain values, with the line and column of each.

A plain scalar is a whole number, a decimal number, `true`, `false` or nothing (`null`, `~`) only
where it is written as in JSON; all else is text, so `NO`, `010` and `2024-01-01` stay what they
are. Anchors, tags and duplicate keys are faults.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.reader import ReaderError

from harness.types.errors import Fault

Path = tuple[str | int, ...]
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document: its `value`, the place (line, column; from 1) of each path, the faults."""

    value: Any
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def place(self, path: Path) -> tuple[int, int]:
        """Give the place of a path, or of the nearest thing around it that has one."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (0, 0))


def read_document(text: str, file: str) -> Document:
    """Read one YAML document; what is wrong with the YAML itself stands in its `faults`."""
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        reader = _Reader(file)
        value = None if node is None else reader.read(node, ())
    except ReaderError as error:
        return Document(None, faults=[_character_fault(error, text, file)])
    except yaml.YAMLError as error:
        return Document(None, faults=[_yaml_fault(error, file)])
    except RecursionError:
        return Document(None, faults=[Fault(file=file, problem="nested too deeply")])
    return Document(value, reader.places, reader.faults)


def _character_fault(error: ReaderError, text: str, file: str) -> Fault:
    before = text[: error.position]
    return Fault(
        file=file,
        line=before.count("\n") + 1,
        column=len(before) - before.rfind("\n"),
        problem=f"the character U+{error.character:04X} cannot stand in YAML",
    )


def _yaml_fault(error: yaml.YAMLError, file: str) -> Fault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    words = (getattr(error, "context", None), getattr(error, "problem", None))
    problem = ", ".join(word for word in words if word) or str(error).splitlines()[0]
    if mark is None:
        return Fault(file=file, problem=f"no YAML: {problem}")
    return Fault(file=file, line=mark.line + 1, column=mark.column + 1, problem=problem)


class _Reader:
    """Turns nodes into values and remembers where they stood."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.places: dict[Path, tuple[int, int]] = {}
        self.faults: list[Fault] = []
        self._seen: set[int] = set()

    def read(self, node: yaml.Node, path: Path) -> Any:
        self.places.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
        # An alias is the same node again: refused, so that no document grows while it is read.
        if id(node) in self._seen:
            return self._refuse(node, path, "an alias", "write the value out")
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._refuse(key_node, path, "a key that is no text", "keys are texts")
                continue
            key = str(key_node.value)
            mark = key_node.start_mark
            if key in found:
                first = self.places[(*path, key)][0]
                self._refuse(key_node, (*path, key), "a duplicate key", f"first on line {first}")
                continue
            self.places[(*path, key)] = (mark.line + 1, mark.column + 1)
            found[key] = self.read(value_node, (*path, key))
        return found

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        text = str(node.value)
        if node.tag != "tag:yaml.org,2002:str":
            return self._refuse(node, path, f"the tag {node.tag}", "quote a value to make it text")
        return plain_value(text) if getattr(node, "style", None) is None else text

    def _refuse(self, node: yaml.Node, path: Path, problem: str, allowed: str) -> None:
        mark = node.start_mark
        self.faults.append(
            Fault(
                file=self.file,
                line=mark.line + 1,
                column=mark.column + 1,
                path=dotted(path),
                problem=problem,
                allowed=allowed,
            )
        )


def plain_value(text: str) -> Any:
    """Give what an unquoted scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def dotted(path: Iterable[str | int]) -> str:
    """Write a path as `models.careful.0.when`."""
    return ".".join(map(str, path))
