"""What a tool returned: a tool message comes in, the text the agent saw goes out.

A text is kept as it is: nothing in it is decoded. Of a list of content blocks the text blocks are
joined by a line feed. Anything else becomes compact JSON.

The content may be a result of the Model Context Protocol (2025-06-18, CallToolResult): `content`,
`structuredContent` and `isError`. The structured part is appended on a line of its own, unless the
text holds it already, or the call failed: then the agent was shown the text only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.messages.contents import block_text
from harness.system.json_values import clean_json, compact_json, read_json
from harness.system.texts import scrub

_FLAGS = ("error", "is_error", "isError")
_MCP = frozenset({"structuredContent", "isError"})


@dataclass(frozen=True, slots=True)
class Output:
    """A result: `text` as the agent saw it, `structured` the JSON behind it, if there is more."""

    text: str
    ok: bool = True
    structured: Any = None


def read_output(message: Mapping[str, Any]) -> Output:
    """Read the result that a tool message carries.

    Raises:
        ValueError: the content has no JSON form.
    """
    ok = not _has_failed(message)
    content, error = message.get("content"), message.get("error")
    if isinstance(content, Mapping) and _MCP & content.keys():
        return _read_mcp_result(content, ok=ok and not _has_failed(content))
    text, structured = _text(content), _structure(content)
    if isinstance(error, str) and error:
        if content is None:
            return Output(scrub(error), ok=False)
        structured = {"error": scrub(error), "content": structured}
    return Output(text, ok, structured)


def _read_mcp_result(result: Mapping[str, Any], *, ok: bool) -> Output:
    text, rest = _text(result.get("content")), _structure(result.get("content"))
    structured = clean_json(result.get("structuredContent"))
    if structured is None:
        return Output(text, ok, rest)
    if ok and not _holds(text, structured):
        text = "\n".join(filter(None, [text, compact_json(structured)]))
    return Output(text, ok, structured if rest is None else clean_json(result))


def _holds(text: str, structured: Any) -> bool:
    if compact_json(structured) in text:
        return True
    try:
        return bool(read_json(text)[0] == structured)
    except ValueError:
        return False


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return scrub(content)
    if _is_blocks(content):
        return "\n".join(_texts(content))
    return compact_json(content)


def _structure(content: Any) -> Any:
    """Return what the text of a content leaves out, or was made from; None for nothing."""
    if content is None or isinstance(content, str):
        return None
    if _is_blocks(content) and len(_texts(content)) == len(content):
        return None
    return clean_json(content)


def _texts(blocks: Sequence[Any]) -> list[str]:
    found = (block_text(block) for block in blocks)
    return [text for text in found if text is not None]


def _is_blocks(content: Any) -> bool:
    """Tell content blocks from a JSON list: every item is a text or has a type, one has."""
    if not isinstance(content, list | tuple):
        return False
    typed = [isinstance(b, Mapping) and isinstance(b.get("type"), str) for b in content]
    plain = [isinstance(block, str) for block in content]
    return not content or (any(typed) and all(t or p for t, p in zip(typed, plain, strict=True)))


def _has_failed(message: Mapping[str, Any]) -> bool:
    return any(message.get(flag) for flag in _FLAGS) or message.get("status") == "error"
