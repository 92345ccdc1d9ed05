"""The content of a message: a text or a list of blocks comes in, texts and other blocks go out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.system.json_values import clean_json
from harness.system.texts import scrub

_TEXT_TYPES = ("text", "input_text", "output_text")


@dataclass(frozen=True, slots=True)
class Content:
    """A content: its `texts` in order, and the `others`, blocks of other types."""

    texts: tuple[str, ...] = ()
    others: tuple[dict[str, Any], ...] = ()


def read_content(content: Any) -> Content:
    """Split a content into its texts and its other blocks (images, audio, files, ...).

    Raises:
        ValueError: it is neither a text nor a list of texts and objects.
    """
    if isinstance(content, str):
        return Content((scrub(content),))
    if not isinstance(content, list | tuple):
        raise shape_error("content must be a text or a list of blocks", content)
    texts: list[str] = []
    others: list[dict[str, Any]] = []
    for index, block in enumerate(content):
        text = block_text(block)
        if text is not None:
            texts.append(text)
        elif isinstance(block, Mapping):
            others.append(clean_json(block))
        else:
            raise shape_error(f"content block {index} must be an object", block)
    return Content(tuple(texts), tuple(others))


def block_text(block: Any) -> str | None:
    """Return the text of a text block, None for any other block."""
    if isinstance(block, str):
        return scrub(block)
    if isinstance(block, Mapping) and block.get("type", "text") in _TEXT_TYPES:
        text = block.get("text")
        return scrub(text) if isinstance(text, str) else None
    return None


def block_kind(block: Mapping[str, Any]) -> str:
    """Return the source's word for what a block is."""
    kind = block.get("type")
    return kind if isinstance(kind, str) and kind else "content_block"


def shape_error(wanted: str, value: Any) -> ValueError:
    """Return the error that says what was wanted and what was found instead."""
    return ValueError(f"{wanted}, got {type_name(value)}")


def type_name(value: Any) -> str:
    """Name the JSON type of a value, for messages about it."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text"}
    names |= {list: "a list", tuple: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
