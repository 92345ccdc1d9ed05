"""`${NAME}` in the values of a target and in paths, taken from the environment."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.documents.findings import BadReference
from harness.documents.nodes import Listing, Location, Node, Scalar, Table
from harness.documents.yaml_scalars import resolve_number
from harness.system.variables import VariableError, fill_variables


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Fill in `${NAME}` and `${NAME:-default}`; `$${NAME}` is the literal text.

    Raises:
        BadReference: a variable is unset and has no default, or `${` begins no reference.
    """
    try:
        return fill_variables(text, environ)
    except VariableError as error:
        raise BadReference(error.problem, error.allowed) from None


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
