"""`${NAME}` in the values of a target and in paths, taken from the environment."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.documents.findings import BadReference
from harness.documents.nodes import Listing, Location, Node, Scalar, Table
from harness.documents.yaml_scalars import resolve_number

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Fill in `${NAME}` and `${NAME:-default}`; `$${NAME}` is the literal text.

    A default counts where the variable is unset or empty, as in a shell. What is filled in is
    not looked at again.

    Raises:
        BadReference: a variable is unset and has no default, or `${` begins no reference.
    """

    def fill(match: re.Match[str]) -> str:
        if match.group() == "$${":
            return "${"
        name, default = match.group(1), match.group(2)
        if name is None:
            raise BadReference(
                "`${` begins no variable", "write ${NAME}, ${NAME:-default}, or $${ for the text ${"
            )
        if default is not None:
            return environ.get(name) or default
        if name not in environ:
            raise BadReference(
                f"the environment variable {name} is not set",
                f"set it, or write ${{{name}:-default}}",
            )
        return environ[name]

    return _REFERENCE.sub(fill, text)


def expand_node(
    location: Location, environ: Mapping[str, str], *, verbatim: Iterable[str] = ()
) -> tuple[Node, list[tuple[Location, BadReference]]]:
    """Fill in every text below a node; what could not be filled in is given with its location.

    `verbatim` are keys of this mapping whose values are prose and stay as they are.
    """
    problems: list[tuple[Location, BadReference]] = []
    kept = frozenset(verbatim)

    def walk(at: Location) -> Node:
        node = at.node
        if isinstance(node, Listing):
            return Listing(items=tuple(walk(item) for item in at.items()), position=node.position)
        if isinstance(node, Table):
            entries = {
                key: replace(node.entries[key], node=walk(child)) for key, child in at.children()
            }
            return Table(entries=entries, position=node.position)
        try:
            return _expand_scalar(node, environ)
        except BadReference as problem:
            problems.append((at, problem))
            return node

    if not isinstance(location.node, Table):
        return walk(location), problems
    entries = {
        key: replace(location.node.entries[key], node=child.node if key in kept else walk(child))
        for key, child in location.children()
    }
    return Table(entries=entries, position=location.node.position), problems


def _expand_scalar(node: Scalar, environ: Mapping[str, str]) -> Scalar:
    if not isinstance(node.value, str) or "${" not in node.value:
        return node
    text = expand(node.value, environ)
    if node.written is None:
        return Scalar(value=text, source=node.value, position=node.position)
    number = resolve_number(text)
    value = text if number is None else number
    return Scalar(value=value, written=text, source=node.value, position=node.position)
