"""`${NAME}` in eval specs of Vally, filled with values that the user gives."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness.documents.findings import Findings
from harness.documents.nodes import Listing, Location, Node, Scalar, Table
from harness.documents.yaml_scalars import resolve_number
from harness.system.suggestions import suggest
from harness.types.errors import Fault, InputError

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_REFERENCE = re.compile(rf"\$\{{({_NAME})\}}")
_OPTION = "--param"
_FROM_ENVIRONMENT = ("environment", "agent_environment")
"""Keys whose `${NAME}` may come from the environment; see `Environments`."""


class Parameters:
    """Values by name; keeps which names the specs use, so that no value is left over unsaid."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Read `NAME=VALUE` from each text; a value may hold anything.

        Raises:
            InputError: a text is not of that form, or a name is there twice.
        """
        self._values: dict[str, str] = {}
        self._seen: set[str] = set()
        faults = []
        for text in texts:
            name, equals, value = text.partition("=")
            if not equals or not re.fullmatch(_NAME, name):
                faults.append(_fault(f'found "{text}"', "NAME=VALUE"))
            elif name in self._values:
                faults.append(_fault(f'"{name}" is given twice', "each name once"))
            self._values[name] = value
        if faults:
            raise InputError(faults)

    def fill(self, node: Node, findings: Findings) -> Node:
        """Return a spec with its values filled in; what has no value stays, and is noted.

        What is filled in is not looked at again; keys stay as they are.
        """
        noted: set[str] = set()

        def walk(at: Location) -> Node:
            if isinstance(at.node, Listing):
                return replace(at.node, items=tuple(map(walk, at.items())))
            if isinstance(at.node, Table):
                filled = {
                    key: replace(at.node.entries[key], node=walk(c)) for key, c in at.children()
                }
                return replace(at.node, entries=filled)
            names = dict.fromkeys(_references(at.node))
            self._seen.update(names)
            if not at.keys or at.keys[-1] not in _FROM_ENVIRONMENT:
                _note(at, [n for n in names if n not in self._values and n not in noted], findings)
                noted.update(names)
            return self._filled(at.node) if names.keys() & self._values.keys() else at.node

        return walk(Location(node))

    def _filled(self, node: Scalar) -> Scalar:
        source = str(node.value)
        text = _REFERENCE.sub(lambda match: self._values.get(match[1], match[0]), source)
        number = None if node.written is None else resolve_number(text)
        written = None if node.written is None else text
        return replace(
            node, value=text if number is None else number, written=written, source=source
        )

    def require_used(self) -> None:
        """Refuse values that no spec has asked for.

        Raises:
            InputError: with a fault for each of them.
        """
        unused = [name for name in self._values if name not in self._seen]
        if unused:
            raise InputError([_fault(_unused(name), suggest(name, self._seen)) for name in unused])


def _references(node: Scalar) -> Iterator[str]:
    if isinstance(node.value, str) and "${" in node.value:
        yield from _REFERENCE.findall(node.value)


def _note(at: Location, names: Iterable[str], findings: Findings) -> None:
    for name in names:
        findings.note(at, f"${{{name}}} stays as it is", f"fill it in with {_OPTION} {name}=VALUE")


def _unused(name: str) -> str:
    return f'"{name}" fills nothing: no eval spec of Vally says ${{{name}}}'


def _fault(problem: str, allowed: str) -> Fault:
    return Fault(file=_OPTION, problem=problem, allowed=allowed)
