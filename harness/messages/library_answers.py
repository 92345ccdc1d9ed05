"""What the libraries of others return: an answer comes in, turns go out.

They are known by the shape of their objects, and none is imported: LangChain's messages and
LangGraph's states, results of the OpenAI Agents SDK, results and messages of Pydantic AI, and
conversations of the SDKs of Anthropic's Messages and OpenAI's Responses API.
"""

from collections.abc import Mapping
from typing import Any

from harness.messages.agents_runs import is_agents_result, read_agents_result
from harness.messages.anthropic_messages import is_anthropic_message, read_anthropic_turns
from harness.messages.langchain_messages import is_langchain_state, read_langchain_turns
from harness.messages.langchain_shapes import is_langchain_message
from harness.messages.plain_values import plain
from harness.messages.pydantic_ai_messages import (
    is_pydantic_ai_messages,
    is_pydantic_ai_result,
    read_pydantic_ai_turns,
)
from harness.messages.response_items import is_own_item, read_response_turns
from harness.types.trajectories import Turn


def read_library_answer(answer: Any) -> tuple[Turn, ...] | None:
    """Return the turns of an answer that a library made; None for any other value.

    Chat Completions messages are left to their own reader. Attributes and methods of the answer
    are used, and may raise whatever they like.

    Raises:
        ValueError: it is such an answer, and cannot be kept.
    """
    if answer is None or isinstance(answer, str | bytes):
        return None
    if is_agents_result(answer):
        return read_agents_result(answer)
    if is_pydantic_ai_result(answer) or is_pydantic_ai_messages(answer):
        return read_pydantic_ai_turns(answer)
    if is_langchain_state(answer):
        return read_langchain_turns(answer)
    if is_langchain_message(answer):
        return read_langchain_turns([answer])
    return _read_rows(answer) if isinstance(answer, list | tuple) else None


def _read_rows(answer: list[Any] | tuple[Any, ...]) -> tuple[Turn, ...] | None:
    """Read messages or items of an SDK, which may be its objects, or hold them."""
    if not any(map(_may_be_own, answer)):
        return None
    rows = plain(answer)
    if any(map(is_anthropic_message, rows)):
        return read_anthropic_turns(rows)
    return read_response_turns(rows) if any(map(is_own_item, rows)) else None


def _may_be_own(row: Any) -> bool:
    """Say whether a row may be another API's than Chat Completions, without looking into it."""
    if not isinstance(row, Mapping):
        return hasattr(row, "model_dump")
    return "role" not in row or isinstance(row.get("content"), list | tuple)
