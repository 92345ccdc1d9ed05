"""What is wrong with an option, in words: what was found, and what its type allows."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from harness.documents.nodes import Node, Scalar, describe
from harness.documents.shapes import members_of, option_hints, record_of
from harness.documents.yaml_scalars import has_leading_zero
from harness.system.suggestions import suggest
from harness.types.code import CodeFile, CodeRef, SuitePath, SuiteText

_WORDS: Mapping[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "",
    SuitePath: "a path",
    SuiteText: "a text",
    CodeFile: "a Python file",
    CodeRef: "file.py:name",
}
_BOUNDS = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "at least {}"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "at most {}"),
    "too_short": ("min_length", "at least {} of them"),
    "too_long": ("max_length", "at most {} of them"),
    "string_too_short": ("min_length", "at least {} characters"),
}


def explain_error(
    error: Mapping[str, Any], node: Node, record: type[Any], keys: tuple[str | int, ...]
) -> tuple[str, str]:
    """Return problem and what is allowed for one error of the check.

    `keys` lead from the mapping that stands for `record` to the node.
    """
    kind, context = str(error["type"]), error.get("ctx", {})
    if kind == "value_error":
        return _sentence(str(context.get("error", error["msg"]))), ""
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"found {describe(node)}", words.format(f"{context[name]:,.10g}")
    if kind == "string_pattern_mismatch":
        return f"found {describe(node)}", f"a text that matches {context['pattern']}"
    hint = _hint_at(record, keys)
    allowed = words_for(hint) if hint is not None else ""
    if isinstance(node, Scalar) and has_leading_zero(node.written or "") and not node.source:
        bare = (node.written or "").lstrip("+-").lstrip("0") or "0"
        return f"the number {node.written} begins with a zero", f"write {bare}, or quote a text"
    literals = [arg for m in members_of(hint) if get_origin(m) is Literal for arg in get_args(m)]
    if literals and isinstance(node, Scalar) and isinstance(node.value, str):
        return f"found {describe(node)}", suggest(node.value, map(_shown, literals))
    return f"found {describe(node)}", allowed or _sentence(str(error["msg"]))


def _sentence(text: str) -> str:
    plain = " ".join(text.split()).rstrip(".")
    return plain[:1].lower() + plain[1:] if plain[1:2].islower() else plain


def _hint_at(record: type[Any], keys: tuple[str | int, ...]) -> Any:
    """Return the type of the option that keys lead to; None where they lead elsewhere."""
    hint: Any = record
    for key in keys:
        found = record_of(hint)
        if found is not None and isinstance(key, str):
            hint = option_hints(found).get(key)
        else:
            args = [arg for m in members_of(hint) for arg in get_args(m) if arg is not Ellipsis]
            hint = args[-1] if args else None
        if hint is None:
            return None
    return hint


def words_for(hint: Any) -> str:
    """Describe what a type allows; empty where any value may stand."""
    words = [word for member in members_of(hint) if (word := _word(member))]
    return " or ".join(dict.fromkeys(words))


def _word(member: Any) -> str:
    if member in _WORDS:
        return _WORDS[member]
    origin, args = get_origin(member), get_args(member)
    if origin is Literal:
        return "one of: " + ", ".join(map(_shown, args))
    if origin in {list, tuple, set, frozenset}:
        inner = words_for(args[0]) if args else ""
        return f"a list of {_plural(inner)}" if inner else "a list"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a mapping"
    return "a mapping of options" if record_of(member) is not None else ""


def _shown(literal: Any) -> str:
    return str(literal).lower() if isinstance(literal, bool) else str(literal)


def _plural(words: str) -> str:
    plain = words.removeprefix("a ").removeprefix("an ")
    return {
        "text": "texts",
        "number": "numbers",
        "whole number": "whole numbers",
        "path": "paths",
        "mapping of options": "mappings",
        "Python file": "Python files",
    }.get(plain, f"values, each {words}")
