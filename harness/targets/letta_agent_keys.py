"""What is written inside the options of an inline agent, held against the types of letta-client.

The server ignores keys that it does not know, and says of a missing one only when the first agent
is made.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Required, get_args, get_origin, get_type_hints

from letta_client.types.agent_create_params import AgentCreateParams

from harness.system.suggestions import suggest


def agent_key_problems(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each key and each kind that no agent can be made with."""
    hints = get_type_hints(AgentCreateParams)
    for name, value in body.items():
        shapes = list(_shapes(hints.get(name)))
        if not shapes:
            continue
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield from _entry_problems(f"{name}[{index}]", entry, shapes)
        else:
            yield from _entry_problems(name, value, shapes)


def _shapes(hint: Any) -> Iterator[type[Any]]:
    """Yield the mappings that a type allows, itself or inside lists and alternatives."""
    if hasattr(hint, "__required_keys__"):  # of typing, or of typing_extensions
        yield hint
    elif get_origin(hint) is not Literal:
        for part in get_args(hint):
            yield from _shapes(part)


def _entry_problems(place: str, entry: Any, shapes: list[type[Any]]) -> Iterator[str]:
    if not isinstance(entry, Mapping):
        return
    kinds = {kind: shape for shape in shapes for kind in _kinds(shape)}
    kind = entry.get("type")
    if kinds and kind is not None:
        if kind not in kinds:
            yield f'{place}: unknown type "{kind}"; {suggest(str(kind), kinds)}'
            return
        shapes = [kinds[kind]]
    known = {key for shape in shapes for key in get_type_hints(shape)}
    for key in entry:
        if key not in known:
            yield f'{place}: unknown key "{key}"; {suggest(str(key), known)}'
    if len(shapes) == 1:
        for key in _required(shapes[0]) - entry.keys():
            yield f'{place}: "{key}" is missing'


def _kinds(shape: type[Any]) -> tuple[str, ...]:
    hint = get_type_hints(shape).get("type")
    return get_args(hint) if get_origin(hint) is Literal else ()


def _required(shape: type[Any]) -> set[str]:
    hints = get_type_hints(shape, include_extras=True)
    return {key for key, hint in hints.items() if get_origin(hint) is Required}
