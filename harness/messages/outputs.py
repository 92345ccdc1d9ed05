"""What a tool gave back: a tool message's content comes in, the text the agent saw goes out.

A text is kept as it is: nothing in it is decoded. Of a list of content blocks the text blocks are
joined by a line feed. Anything else becomes compact JSON.

Results of the Model Context Protocol (2025-06-18, CallToolResult) hold `content`,
`structuredContent` and `isError`. A structured part that the text does not already say stands on a
line of its own below it, unless the call failed: of a failed call the agent was told the text only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.messages.contents import block_text
from harness.system.json_values import clean_json, compact_json, read_json
from harness.system.texts import scrub

_FLAGS = ("error", "is_error", "isError")


@dataclass(frozen=True, slots=True)
class Output:
    """A result: `text` as the agent saw it, `structured` the JSON behind it, if there is more."""

    text: str
    ok: bool = True
    structured: Any = None


def read_output(message: Mapping[str, Any]) -> Output:
    """Read the result that a tool message (or a CallToolResult) carries.

    Raises:
        ValueError: the content is no JSON value.
    """
    content = message.get("content")
    if isinstance(content, Mapping) and _is_mcp_result(content):
        inner = read_output(content)
        return Output(inner.text, inner.ok and not _failed(message), inner.structured)
    ok = not _failed(message)
    structured = message.get("structuredContent")
    if structured is not None:
        return _with_structure(content, clean_json(structured), ok=ok)
    return _with_error(message, content, ok=ok)


def _with_error(message: Mapping[str, Any], content: Any, *, ok: bool) -> Output:
    error = message.get("error")
    if not isinstance(error, str) or not error:
        return Output(_text(content), ok, _structure(content))
    if content is None:
        return Output(scrub(error), ok=False)
    beside = {"error": scrub(error), "content": _structure(content)}
    return Output(_text(content), ok=False, structured=beside)


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return scrub(content)
    if _is_blocks(content):
        return "\n".join(_texts(content))
    return compact_json(clean_json(content))


def _structure(content: Any) -> Any:
    if content is None or isinstance(content, str):
        return None
    if _is_blocks(content) and len(_texts(content)) == len(content):
        return None
    return clean_json(content)


def _with_structure(content: Any, structured: Any, *, ok: bool) -> Output:
    text, rest = _text(content), _structure(content)
    kept = structured if rest is None else {"content": rest, "structuredContent": structured}
    if ok and not _says(content, text, structured):
        text = "\n".join(part for part in (text, compact_json(structured)) if part)
    return Output(text, ok, kept)


def _says(content: Any, text: str, structured: Any) -> bool:
    texts = _texts(content) if _is_blocks(content) else [text]
    return compact_json(structured) in text or any(_value(t) == structured for t in texts)


def _value(text: str) -> Any:
    try:
        return read_json(text)[0]
    except ValueError:
        return None


def _texts(blocks: Sequence[Any]) -> list[str]:
    found = (block_text(block) for block in blocks)
    return [text for text in found if text is not None]


def _is_blocks(content: Any) -> bool:
    """Tell content blocks from a JSON list: every item is a text or says its type, one does."""
    if not isinstance(content, list | tuple):
        return False
    typed = [isinstance(b, Mapping) and isinstance(b.get("type"), str) for b in content]
    plain = [isinstance(block, str) for block in content]
    return not content or (any(typed) and all(t or p for t, p in zip(typed, plain, strict=True)))


def _is_mcp_result(content: Mapping[str, Any]) -> bool:
    told = "structuredContent" in content or "isError" in content
    return told and isinstance(content.get("content"), list)


def _failed(message: Mapping[str, Any]) -> bool:
    return any(message.get(flag) for flag in _FLAGS) or message.get("status") == "error"
