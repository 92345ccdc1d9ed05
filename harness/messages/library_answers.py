"""What the agent libraries of others return: an answer comes in, turns go out.

The libraries are known by the shape of their objects, and none is imported: LangChain's messages
and LangGraph's states, results of the OpenAI Agents SDK, results and messages of Pydantic AI, and
items of the Responses API.
"""

from typing import Any

from harness.messages.agents_runs import is_agents_result, read_agents_result
from harness.messages.langchain_messages import is_langchain_state, read_langchain_turns
from harness.messages.pydantic_ai_messages import (
    is_pydantic_ai_messages,
    is_pydantic_ai_result,
    read_pydantic_ai_turns,
)
from harness.messages.response_items import is_own_item, read_response_turns
from harness.types.trajectories import Turn


def read_library_answer(answer: Any) -> tuple[Turn, ...] | None:
    """Return the turns of an answer that a library made; None for any other value.

    Attributes and methods of the answer are used, and may raise whatever they like.

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
    if isinstance(answer, list | tuple) and any(map(is_own_item, answer)):
        return read_response_turns(answer)
    return None
