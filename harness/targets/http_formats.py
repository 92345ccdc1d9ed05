"""Messages of agents behind a URL: a list in one of the known shapes comes in, turns go out."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.messages.anthropic_messages import read_anthropic_turns
from harness.messages.chat import read_turns
from harness.messages.contents import shape_error
from harness.messages.gemini_contents import GeminiConversation
from harness.messages.langchain_messages import read_langchain_turns
from harness.messages.letta_turns import read_letta_turns
from harness.messages.pydantic_ai_messages import read_pydantic_ai_turns
from harness.messages.response_items import read_response_turns
from harness.messages.turn_building import TurnBuilder
from harness.targets.command_lines import Told, read_line
from harness.targets.http_options import MessageFormat
from harness.types.trajectories import Turn

_Read = Callable[[Sequence[Any]], tuple[Turn, ...]]


def read_messages(shape: MessageFormat, messages: Sequence[Any]) -> tuple[Turn, ...]:
    """Read messages of a shape; results are named by the calls they answer.

    Raises:
        ValueError: one is not of that shape.
    """
    return _READERS[shape](messages)


def _gemini(contents: Sequence[Any]) -> tuple[Turn, ...]:
    conversation = GeminiConversation()
    for content in contents:
        conversation.content(content)
    return conversation.builder.trajectory().turns


def _letta(messages: Sequence[Any]) -> tuple[Turn, ...]:
    return read_letta_turns(messages, ordered=True)


def _own(records: Sequence[Any]) -> tuple[Turn, ...]:
    """Read events in our own words, as the target `command` takes them.

    Raises:
        TargetError: one of them says so.
        ValueError: one is none.
    """
    builder = TurnBuilder()
    for index, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise shape_error(f"event {index} must be an object", record)
        try:
            told = read_line(record)
        except ValueError as error:
            raise ValueError(f"event {index}: {error}") from error
        _add(told, builder)
    return builder.trajectory().turns


def _add(told: Told, builder: TurnBuilder) -> None:
    if told.failure is not None:
        raise told.failure
    if told.step is not None:
        builder.begin_step(told.step)
    if told.event is not None:
        builder.add(told.event)
    if told.state is not None:
        builder.system("state", data=told.state)


_READERS: Mapping[MessageFormat, _Read] = MappingProxyType(
    {
        "openai-chat": read_turns,
        "openai-responses": read_response_turns,
        "anthropic": read_anthropic_turns,
        "gemini": _gemini,
        "langchain": read_langchain_turns,
        "letta": _letta,
        "pydantic-ai": read_pydantic_ai_turns,
        "regrade": _own,
    }
)
