"""Rubrics with placeholders: `{name}` stands for a value, `{{` and `}}` for braces.

The syntax is that of Python's formatting, of which names alone are taken: a rubric may come from
a dataset, so attributes, indices, conversions and format specifications are refused.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any

from harness.system.json_values import compact_json
from harness.system.texts import one_line

RESERVED = ("input", "ground_truth", "submission")
"""The placeholders that every rubric has; the variables of a sample may not be called so."""

MOST_CHARACTERS = 4_000_000
"""How long a filled rubric may be; no model reads more."""

_SHOWN = 80
_MOST_NAMES = 20


class PromptError(ValueError):
    """A prompt cannot be made; the text says why."""


def placeholders(rubric: str) -> tuple[str, ...]:
    """Return the names of a rubric's placeholders in order, each once.

    Raises:
        PromptError: a brace stands alone, or a placeholder is more than a name.
    """
    return tuple(dict.fromkeys(name for _, name in _parts(rubric) if name is not None))


def unescaped(rubric: str) -> str:
    """Return a rubric without placeholders as it is meant: `{{` is `{`.

    Raises:
        PromptError: as `placeholders` does.
    """
    return "".join(literal for literal, _ in _parts(rubric))


def fill(rubric: str, values: Mapping[str, str]) -> str:
    """Put values into a rubric; braces in a value are left alone.

    Raises:
        PromptError: as `placeholders` does; or for a placeholder without a value.
    """
    if missing := [name for name in placeholders(rubric) if name not in values]:
        raise PromptError(unknown_placeholders(missing, values))
    parts = _parts(rubric)
    return _joined(text for literal, name in parts for text in (literal, values.get(name or "")))


def replace_listed(rubric: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` for each of the values; all other braces are left alone.

    Raises:
        PromptError: the text grows too long.
    """
    if not values:
        return rubric
    names = "|".join(re.escape(name) for name in sorted(values, key=len, reverse=True))
    # With one group, every second piece is a name.
    pieces = re.split(rf"\{{({names})\}}", rubric)
    return _joined(values[text] if at % 2 else text for at, text in enumerate(pieces))


def unknown_placeholders(names: Sequence[str], known: Iterable[str]) -> str:
    """Say which placeholders stand for nothing, and which stand for something."""
    allowed = _listed(tuple(known)) or "none"
    return f"unknown placeholder {_listed(names)}; there are {allowed}"


def require_length(length: int) -> None:
    """Refuse a prompt that no model reads.

    Raises:
        PromptError: it has more than `MOST_CHARACTERS`.
    """
    if length > MOST_CHARACTERS:
        raise PromptError(f"the prompt is longer than {MOST_CHARACTERS:,} characters")


def _joined(pieces: Iterable[str | None]) -> str:
    kept, length = list[str](), 0
    for piece in pieces:
        if piece:
            length += len(piece)
            # Before it is made: a rubric of a dataset may name the submission a million times.
            require_length(length)
            kept.append(piece)
    return "".join(kept)


def _listed(names: Sequence[str]) -> str:
    shown = [f"{{{one_line(name, _SHOWN)}}}" for name in names[:_MOST_NAMES]]
    more = [f"{len(names) - len(shown)} more"] if len(names) > len(shown) else []
    return ", ".join([*shown, *more])


def shown_value(value: Any) -> str:
    """Return a value as a judge reads it: a text as it is, nothing as "", all else as JSON.

    Raises:
        PromptError: there is no JSON for it.
    """
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else compact_json(value)
    except ValueError as error:
        raise PromptError(f"a value cannot be shown to a judge: {error}") from error


def _parts(rubric: str) -> Iterator[tuple[str, str | None]]:
    """Yield each literal text with the name of the placeholder after it, None for none.

    Raises:
        PromptError: a brace stands alone, or a placeholder is more than a name.
    """
    try:
        for literal, name, spec, conversion in Formatter().parse(rubric):
            if name is not None:
                _require_name(name, spec or "", conversion)
            yield literal, name
    except PromptError:
        raise
    except ValueError as error:
        message = f"{error}; write {{{{ and }}}} for braces that are no placeholder"
        raise PromptError(message) from error


def _require_name(name: str, spec: str, conversion: str | None) -> None:
    if name.isidentifier() and not spec and not conversion:
        return
    written = f"{name}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}"
    raise PromptError(
        f"the placeholder {{{one_line(written, _SHOWN)}}} is no plain name; "
        "write {name} for a value, and {{ and }} for braces that are no placeholder"
    )
