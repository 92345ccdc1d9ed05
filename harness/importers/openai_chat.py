"""Chat Completions messages, as OpenAI's API (v1) takes and gives them.

A record is `{"messages": [...]}` with whatever stands beside, a list of messages, a completion as
the API gives it, or a recorded `{"request": {...}, "response": {...}}`, whose conversation is the
request's messages and the reply. `usage` beside the messages is what the whole took, unless each
message of the agent has its own; beside `choices` it is that of the reply. `outcomes` may hold
outcomes by name. What stands in `<think>` blocks is reasoning, and what Pydantic AI says in the
user's place is no turn.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import replace

from harness.importers.exchange_records import read_exchange
from harness.importers.exchanges import (
    Dialect,
    Talk,
    split_talks,
    talk_record,
)
from harness.importers.merged_replies import followed_by
from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.assistant_messages import read_assistant_message
from harness.messages.chat import ROLES, read_turns
from harness.messages.completions import read_completion, read_usage
from harness.messages.pairing import name_results
from harness.messages.retry_prompts import join_retries
from harness.messages.thinking import part_thinking
from harness.types.events import SystemEvent
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Step, Trajectory, Turn, Usage


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """Chat Completions messages: one conversation a record, with `messages`, and `id` beside."""

    specification: ClassVar[str] = "OpenAI Chat Completions API, v1"

    def claims(self, head: Head) -> bool:
        """Say whether the first record holds chat messages."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first and not _is_message(first[0]):
            first = first[0]
        messages = _messages_of(first)
        return messages is not None and (not messages or _is_message(messages[0]))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record, or for requests that go on with each other.

        Raises:
            ValueError: a record holds no chat messages.
        """
        for found in split_talks(source.records(_is_message), _DIALECT):
            if isinstance(found, Talk):
                yield _read_talk(found)
            else:
                yield read_chat_record(found[1], found[0])


def read_chat_record(record: Any, place: str) -> Imported:
    """Read one record.

    Raises:
        ValueError: it holds no chat messages; the text begins with the place.
    """
    messages = _messages_of(record)
    if messages is None:
        raise ValueError(f"{place}: the record holds no list of messages")
    around = record if isinstance(record, Mapping) else {}
    unread: dict[str, int] = {}
    turns = _read([*messages, *_other_choices(around, unread)], unread, place)
    if _reply(around):
        turns = _with_numbers(turns, around)
    is_completion = around.get("object") == "chat.completion"
    was_read = ("messages", "choices", *(["message"] if _bare_reply(around) else []))
    return Imported(
        place=place,
        trajectory=Trajectory(turns=turns),
        # The id of a completion names no sample.
        sample_id=field_text(around, ID_ENTRIES[: 1 if is_completion else None]),
        model=field_text(around, MODEL_ENTRIES),
        outcomes={**_held_outcomes(around), **named_outcomes(around)},
        fields=without(around, *was_read),
        unread=unread,
        usage=None if around.get("choices") else _usage(around, turns),
    )


def _held_outcomes(record: Mapping[str, Any]) -> dict[str, Any]:
    held = record.get("outcomes")
    return named_outcomes(held, held) if isinstance(held, Mapping) else {}


def _usage(record: Mapping[str, Any], turns: tuple[Turn, ...]) -> Usage | None:
    """Return what a record says was used in all; None where each reply says it, or nothing does."""
    told = read_usage(record.get("usage"))
    steps = [step for turn in turns for step in turn.steps]
    if told == Usage() or (steps and all(_is_counted(step.usage) for step in steps)):
        return None
    return told


def _is_counted(usage: Usage) -> bool:
    return usage.input_tokens is not None and usage.output_tokens is not None


def _read(messages: Iterable[Any], unread: dict[str, int], place: str) -> tuple[Turn, ...]:
    try:
        turns = read_turns(messages, unread=unread)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    joined = join_retries(turns)
    return part_thinking(turns if len(joined) == len(turns) else name_results(joined))


def _read_talk(talk: Talk) -> Imported:
    unread: dict[str, int] = {}
    response = talk.last.response
    reply = [] if talk.last.refused else _reply(response)
    more: list[Any] = _other_choices(response, unread) if reply else []
    if not reply and response is not None and not talk.last.refused:
        unread["response"] = 1
        more = [SystemEvent(kind="response", data=response)]
    turns = _read([*talk.history, *reply, *more, *talk.ending()], unread, talk.place)
    if reply and isinstance(response, Mapping):
        turns = _with_numbers(turns, response)
    return talk_record(talk, Trajectory(turns=turns), unread)


def _with_numbers(turns: tuple[Turn, ...], completion: Mapping[str, Any]) -> tuple[Turn, ...]:
    """Give the last step the numbers of the completion that made it."""
    try:
        reply = read_completion(completion)
        events = read_assistant_message(reply.message)
    except ValueError:
        # Its message is kept as unread.
        return turns
    if not turns or not turns[-1].steps or not events:
        return turns
    step = Step(usage=reply.usage, model=reply.model, stop_reason=reply.stop_reason)
    last = replace(turns[-1], steps=(*turns[-1].steps[:-1], step))
    return (*turns[:-1], last)


def _other_choices(completion: Any, unread: dict[str, int]) -> list[Any]:
    """Keep the other answers to the same question: the conversation goes on with the first."""
    choices = completion.get("choices") if isinstance(completion, Mapping) else None
    others = choices[1:] if isinstance(choices, list) else []
    if others:
        unread["choice"] = len(others)
    return [SystemEvent(kind="choice", data=choice) for choice in others]


def _messages_of(record: Any) -> list[Any] | None:
    if isinstance(record, list):
        return record if any(map(_is_message, record)) else None
    if not isinstance(record, Mapping):
        return None
    exchange = read_exchange(record)
    if exchange is not None:
        return _messages_of(exchange.request)
    messages = record.get("messages")
    reply = _reply(record)
    if isinstance(messages, list) and not messages:
        return reply
    asked = _messages_of(messages) if isinstance(messages, list) else []
    if asked is None:
        return None
    return (followed_by(asked, reply[0], "content", "tool_calls") if reply else asked) or None


def _reply(response: Any) -> list[Any]:
    choices = response.get("choices") if isinstance(response, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else _bare_reply(response)
    return [{"role": "assistant", **message}] if isinstance(message, Mapping) else []


def _bare_reply(response: Any) -> Any:
    """Return the one message of a reply that has no choices, as Ollama gives it."""
    message = response.get("message") if isinstance(response, Mapping) else None
    return message if _is_reply(message) else None


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("role") in ROLES


def _is_reply(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("role") == "assistant"


_DIALECT = Dialect(key="messages", reply=_reply, is_reply=_is_reply)
