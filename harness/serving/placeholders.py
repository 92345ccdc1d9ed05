"""Placeholders in the texts of a script: `{name}` for a value, `{hex:16}` for an invented one.

This is not a template engine: only placeholders are replaced, `{{` and `}}` stand for the braces
themselves, and what is filled in is never looked at again.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from harness.system.texts import cut

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_]\w*)(?::(?P<option>[^{}]*))?\}|[{}]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_LENGTH = re.compile(r"[1-9][0-9]{0,2}")
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "digits": "0123456789",
    "letters": "abcdefghijklmnopqrstuvwxyz",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """One placeholder: `{name}` or `{name:option}`."""

    name: str
    option: str | None = None

    def __str__(self) -> str:
        """Return the placeholder as it is written."""
        return f"{{{self.name}}}" if self.option is None else f"{{{self.name}:{self.option}}}"


class MissingValue(LookupError):  # noqa: N818  (says what is missing)
    """A placeholder names a value that this conversation does not give, or not in this form."""


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[str | Slot, ...]:
    """Cut a text into literal pieces and slots.

    Raises:
        ValueError: a brace is neither doubled nor part of a placeholder.
    """
    pieces: list[str | Slot] = []
    end = 0
    for token in _TOKEN.finditer(text):
        pieces += [text[end : token.start()], _piece(token)]
        end = token.end()
    return (*pieces, text[end:])


def _piece(token: re.Match[str]) -> str | Slot:
    if token["name"]:
        return Slot(token["name"], token["option"])
    if len(token.group()) == 1:
        raise ValueError(f"a single brace {token.group()!r} at character {token.start() + 1}")
    return token.group()[0]


def slots(text: str) -> tuple[Slot, ...]:
    """Return the slots of a text in order; raises as `parse` does."""
    return tuple(piece for piece in parse(text) if isinstance(piece, Slot))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in the place of slots.

    Raises:
        MissingValue: a slot has no value.
    """
    return _join(text, lambda slot: _value(slot, values))


def fill_json(value: Any, values: Mapping[str, str]) -> Any:
    """Fill every text inside a JSON value.

    A value is filled in as text. A text that is `{name:number}` and nothing else becomes the
    number that the value is written as: a JSON number of at most 15 digits on either side.

    Raises:
        MissingValue: a slot has no value, or none that is a number where one is asked for.
    """
    if isinstance(value, dict):
        return {key: fill_json(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_json(item, values) for item in value]
    if not isinstance(value, str):
        return value
    lone = lone_slot(value)
    if lone and lone.option == "number":
        return _number(lone, values)
    return fill(value, values)


def lone_slot(text: str) -> Slot | None:
    """Return the slot that a text consists of, None where there is anything else in it."""
    pieces = [piece for piece in parse(text) if piece != ""]
    return pieces[0] if len(pieces) == 1 and isinstance(pieces[0], Slot) else None


def invent(spec: str, seed: str) -> str:
    """Make up a value: `rt_{hex:16}` gives `rt_` and sixteen digits; one seed, one value.

    `{hex:N}`, `{digits:N}`, `{letters:N}` give N characters (1 to 999), `{pick:a|b}` one of the
    alternatives.
    """
    draw = Random(seed)  # noqa: S311  (a plausible value that can be had again, no secret)
    return _join(spec, lambda slot: "".join(_pick(draw, _choices(slot))))


def spec_problems(spec: str) -> Iterable[str]:
    """Return what is wrong with a spec for `invent`."""
    try:
        found = slots(spec)
    except ValueError as error:
        return [str(error)]
    return [f"nothing is invented by {slot}" for slot in found if not _choices(slot)]


def _join(text: str, replace: Callable[[Slot], str]) -> str:
    return "".join(piece if isinstance(piece, str) else replace(piece) for piece in parse(text))


def _value(slot: Slot, values: Mapping[str, str]) -> str:
    if slot.name not in values:
        raise MissingValue(f"there is no value for {slot} in this conversation")
    return values[slot.name]


def _number(slot: Slot, values: Mapping[str, str]) -> int | float:
    text = _value(slot, values)
    if not _NUMBER.fullmatch(text):
        raise MissingValue(f"the value of {{{slot.name}}} is not a number: {cut(text, 80)!r}")
    return float(text) if "." in text else int(text)


def _choices(slot: Slot) -> tuple[tuple[str, ...], ...]:
    """Give, for each piece of an invented value, what it may be; empty for an unknown slot."""
    option = slot.option or ""
    if slot.name == "pick" and option:
        return (tuple(option.split("|")),)
    if slot.name in _ALPHABETS and _LENGTH.fullmatch(option):
        return (tuple(_ALPHABETS[slot.name]),) * int(option)
    return ()


def _pick(draw: Random, choices: Iterable[tuple[str, ...]]) -> Iterable[str]:
    # Only `random()` itself is promised to give the same numbers in every version of Python.
    return [items[int(draw.random() * len(items))] for items in choices]
