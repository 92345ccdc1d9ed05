"""Messages of Chat Completions with parts of no known shape, which are taken out one by one."""

from collections.abc import Mapping
from typing import Any

from harness.messages.assistant_messages import read_call
from harness.messages.contents import block_text

Parts = list[tuple[str, Any]]
"""Parts with the kind of the event that holds each."""


def without_malformed(message: Mapping[str, Any]) -> tuple[dict[str, Any], Parts]:
    """Return a message without its malformed calls and content blocks, and these."""
    kept, malformed = dict(message), Parts()
    content, calls = message.get("content"), message.get("tool_calls")
    if isinstance(content, list | tuple):
        malformed += [("content_block", one) for one in content if not _is_block(one)]
        kept["content"] = [one for one in content if _is_block(one)]
    if message.get("role") == "assistant" and calls is not None:
        whole = [calls] if isinstance(calls, Mapping) else calls
        is_list = isinstance(whole, list | tuple)
        rows = list(whole) if is_list else []
        malformed += [("tool_call", one) for one in rows if not _is_call(one)]
        malformed += [] if is_list else [("tool_calls", calls)]
        kept["tool_calls"] = [one for one in rows if _is_call(one)]
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping) and not _is_call(legacy):
        malformed.append(("function_call", kept.pop("function_call")))
    return kept, malformed


def _is_block(block: Any) -> bool:
    return block_text(block) is not None or isinstance(block, Mapping)


def _is_call(call: Any) -> bool:
    try:
        return bool(list(read_call(call, {})))
    except ValueError:
        return False
