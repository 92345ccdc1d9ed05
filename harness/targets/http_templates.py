"""Requests with placeholders: a template and the values of a turn come in, what is sent goes out.

A placeholder is `{{name}}`. A text that is nothing but a placeholder becomes its value, whatever
JSON type that has; inside a longer text it becomes text. Nothing is evaluated, and what was filled
in is not looked at again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from harness.system.json_values import compact_json
from harness.system.suggestions import suggest
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext
from harness.types.samples import Sample

MESSAGES, SESSION_ID, INPUT, MODEL = "messages", "session_id", "input", "model"

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.[^\s{}.?]+)*)(\??)\s*\}\}")
_MAPPINGS = ("metadata", "agent_args", "extra_vars")
_PLAIN = (INPUT, MESSAGES, SESSION_ID, MODEL, "epoch", "attempt", "turn", "sample.id")
_NAMES = (*_PLAIN, *_MAPPINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnValues:
    """What placeholders are filled with.

    `messages` is the conversation with the user's latest text, `session_id` None where there is
    none yet; before the first turn `text` is empty.
    """

    context: AttemptContext
    text: str = ""
    turn: int = 0
    messages: Sequence[Mapping[str, Any]] = ()
    session_id: str | None = None


def placeholders_in(template: Any) -> frozenset[str]:
    """Return the names that a template asks for."""
    return frozenset(name for text in _texts(template) for name in _asked(text))


def _asked(text: str) -> Iterator[str]:
    return (found[1] for found in _PLACEHOLDER.finditer(text))


def _texts(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from _texts(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from _texts(value)


def template_problems(template: Any) -> Iterator[str]:
    """Yield what is wrong with the placeholders of a template."""
    for name in sorted(placeholders_in(template)):
        if name not in _NAMES and name.partition(".")[0] not in _MAPPINGS:
            close = suggest(name, _NAMES)
            yield f"there is nothing to fill {{{{{name}}}}} with; {close}"
    for key in _keys(template):
        if _PLACEHOLDER.search(key):
            yield f'the key "{key}" holds a placeholder; only values are filled in'


def _keys(template: Any) -> Iterator[str]:
    if isinstance(template, Mapping):
        for key, value in template.items():
            yield str(key)
            yield from _keys(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from _keys(value)


def fill_json(template: Any, values: TurnValues) -> Any:
    """Fill in a JSON value; `{{messages}}` as an item of a list becomes one item a message.

    Raises:
        TargetError: `bad_request`, where the sample has nothing of that name.
    """
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template.strip())
        return _value(whole, values) if whole else fill_text(template, values)
    if isinstance(template, Mapping):
        return {key: fill_json(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled for item in template for filled in _items(item, values)]
    return template


def _items(item: Any, values: TurnValues) -> Iterator[Any]:
    whole = _PLACEHOLDER.fullmatch(item.strip()) if isinstance(item, str) else None
    if whole is not None and whole[1] == MESSAGES:
        yield from values.messages
    else:
        yield fill_json(item, values)


def fill_text(text: str, values: TurnValues) -> str:
    """Fill in a text; what is no text becomes JSON, and null nothing.

    Raises:
        TargetError: `bad_request`, where the sample has nothing of that name.
    """
    return _PLACEHOLDER.sub(lambda found: _as_text(_value(found, values)), text)


def fill_url(url: str, values: TurnValues) -> str:
    """Fill in an address; a value is one segment of its path, or one value of its query.

    Raises:
        TargetError: `bad_request`, where the sample has nothing of that name, or it would lead
            to another path.
    """

    def fill(found: re.Match[str]) -> str:
        text = _as_text(_value(found, values))
        if text in {"", ".", ".."}:
            shown = f"{{{{{found[1]}}}}}"
            raise TargetError(f'{shown} is "{text}", which no address can hold', code="bad_request")
        return quote(text, safe="")

    return _PLACEHOLDER.sub(fill, url)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)


def _value(found: re.Match[str], values: TurnValues) -> Any:
    name, context = found[1], values.context
    own = {
        INPUT: values.text,
        MESSAGES: list(values.messages),
        SESSION_ID: values.session_id,
        MODEL: context.model,
        "epoch": context.epoch,
        "attempt": context.attempt,
        "turn": values.turn,
        "sample.id": context.sample.id,
    }
    if name in own:
        return own[name]
    return _of_sample(name, context.sample, optional=bool(found[2]))


def _of_sample(name: str, sample: Sample, *, optional: bool) -> Any:
    first, *keys = name.split(".")
    value: Any = getattr(sample, first)
    for key in keys:
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif optional:
            return None
        else:
            raise TargetError(
                f"the sample has no {name}, which the request asks for",
                code="bad_request",
                hint=f"give it one, or write {{{{{name}?}}}} where it may be missing",
            )
    return value
