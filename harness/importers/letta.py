"""Letta's conversations: messages of its API, and agent files.

Messages are those of the server 0.16.8, told apart by `message_type`: a list, an object with
`messages` (a blocking reply among them, with its request or its `input`), or one a line as a stream
brings them. Agent files (`.af`)
are those of the server 0.6.47 and newer: every agent of a file is a conversation. An agent file has
no id of a sample: its `name` can be named as one. What Letta Code 0.34 prints as `stream-json` is
read too; the prompt is not in it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, ClassVar

from harness.importers.letta_requests import has_letta_reply, letta_parts
from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.contents import shape_error
from harness.messages.letta_code_prints import is_code_init, read_code_turns
from harness.messages.letta_messages import KNOWN_TYPES
from harness.messages.letta_recordings import read_recorded_turns
from harness.messages.letta_stored import STORED_ROLES, read_stored_turns, unknown_roles
from harness.system.texts import scrub
from harness.types.errors import POLICIES
from harness.types.events import AssistantMessage, ErrorEvent, SystemEvent
from harness.types.imports import ForeignSource, Head, Imported, Unreadable
from harness.types.trajectories import Trajectory, Turn
from harness.types.trials import Failure

_AGENT_FIELDS = ("name", "id", "agent_type", "description", "tags", "metadata", "version")
_STORED_SIGNS = ("agent_type", "in_context_message_indices", "in_context_message_ids")
_REPLY_FIELDS = ("messages", "stop_reason", "usage")


@dataclass(frozen=True, slots=True)
class LettaMessages:
    """Letta: messages of the API, recorded streams, and agent files (`.af`)."""

    specification: ClassVar[str] = "Letta API messages (server 0.16) and agent files (from 0.6)"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is a message, or holds messages or agents."""
        first = head.values[0] if head.values else None
        is_code = isinstance(first, Mapping) and is_code_init(first)
        return bool(is_code or _is_message(first) or _are_messages(first) or _is_record(first))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record, and each agent of a file.

        Raises:
            ValueError: a record holds no messages of Letta.
        """
        values = source.values(lenient=True)
        first = next(values, None)
        if first is None:
            return
        if isinstance(first[1], Mapping) and is_code_init(first[1]):
            lines = [value for _, value in chain([first], values)]
            yield _read_code(lines, first[0])
            return
        for is_line, group in groupby(chain([first], values), lambda item: _is_message(item[1])):
            if is_line:
                items = list(group)
                yield from read_letta_record([value for _, value in items], items[0][0])
            else:
                for place, value in group:
                    yield from _read_value(value, place)


def _read_value(value: Any, place: str) -> Iterator[Imported]:
    if isinstance(value, Unreadable):
        raise ValueError(f"{place}: this line {value.problem}")  # noqa: TRY004
    if isinstance(value, list) and value and not _are_messages(value):
        for index, item in enumerate(value):
            yield from read_letta_record(item, f"{place}[{index}]")
    else:
        yield from read_letta_record(value, place)


def _read_code(lines: Iterable[Any], place: str) -> Imported:
    """Read what Letta Code printed; a line that is no JSON is what else it printed."""
    texts = (line.text if isinstance(line, Unreadable) else line for line in lines)
    try:
        turns, model = read_code_turns(texts)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    return _imported(turns, set(), place=place, model=model)


def read_letta_record(record: Any, place: str) -> Iterator[Imported]:
    """Read a list of messages, an object that holds one, or an agent file.

    Raises:
        ValueError: it is none; the text begins with the place.
    """
    agents = record.get("agents") if isinstance(record, Mapping) else None
    if isinstance(agents, list):
        for index, agent in enumerate(agents):
            yield _read_agent(agent, place if len(agents) == 1 else f"{place}[{index}]")
    elif isinstance(record, Mapping) and _is_agent(record):
        yield _read_agent(record, place)
    else:
        yield _read_messages(record, place)


def _read_agent(agent: Any, place: str) -> Imported:
    if not isinstance(agent, Mapping):
        raise shape_error(f"{place}: an agent must be an object", agent)
    messages = agent.get("messages")
    try:
        messages = [] if messages is None else messages
        turns = read_stored_turns(messages, agent.get("agent_type"))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    fields = {name: agent[name] for name in _AGENT_FIELDS if agent.get(name) is not None}
    kinds = unknown_roles(messages)
    return _imported(turns, kinds, place=place, model=_model_of(agent), fields=fields)


def _model_of(agent: Mapping[str, Any]) -> str | None:
    config = agent.get("llm_config")
    named = field_text(config, ("handle", "model")) if isinstance(config, Mapping) else None
    return named or field_text(agent, MODEL_ENTRIES)


def _read_messages(record: Any, place: str) -> Imported:
    around = record if isinstance(record, Mapping) else {}
    asked, reply, beside = letta_parts(around)
    messages = reply.get("messages") if around else record
    if not isinstance(messages, list):
        raise shape_error(f"{place}: messages of Letta must be a list", messages)
    messages = [*asked, *messages]
    try:
        turns = read_recorded_turns([*messages, *_ending_of(reply)])
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    return _imported(
        turns,
        unknown_types(messages),
        place=place,
        sample_id=field_text(beside, ID_ENTRIES),
        model=field_text(beside, MODEL_ENTRIES),
        outcomes=named_outcomes(beside),
        fields=without(beside, *_REPLY_FIELDS),
    )


def _ending_of(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the end of a blocking reply as the records with which a stream ends."""
    if reply.get("stop_reason") is not None:
        yield {"message_type": "stop_reason", "stop_reason": reply["stop_reason"]}
    usage = reply.get("usage")
    if isinstance(usage, Mapping):
        yield {**usage, "message_type": "usage_statistics"}


def _imported(turns: tuple[Turn, ...], kinds: set[str], **fields: Any) -> Imported:
    failure = _failure_of(turns)
    return Imported(
        trajectory=Trajectory(turns=turns),
        status=POLICIES[failure.code].status if failure else "completed",
        failure=failure,
        unread=count_unread(turns, kinds),
        **fields,
    )


def unknown_types(messages: Iterable[Any]) -> set[str]:
    """Return the types of messages that are not understood."""
    types = {m.get("message_type") for m in messages if isinstance(m, Mapping)}
    return {scrub(kind) for kind in types if isinstance(kind, str)} - KNOWN_TYPES


def count_unread(turns: Iterable[Turn], kinds: set[str]) -> dict[str, int]:
    """Count the events of kinds that are not understood."""
    found = (e.kind for turn in turns for e in turn.events if isinstance(e, SystemEvent))
    return dict(Counter(kind for kind in found if kind in kinds))


def _failure_of(turns: tuple[Turn, ...]) -> Failure | None:
    """Return why the conversation broke off; None where its last turn came to an end."""
    last = turns[-1] if turns else Turn()
    if last.steps and last.steps[-1].stop_reason == "max_steps":
        return Failure(code="max_steps", message="the server stopped the agent at its last step")
    ends = [e for e in last.events if isinstance(e, ErrorEvent | AssistantMessage)]
    if ends and isinstance(ends[-1], ErrorEvent):
        return Failure(code="target_broke", message=f"{ends[-1].kind}: {ends[-1].message}")
    return None


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("message_type"), str)


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and _is_message(value[0])


def _is_record(value: Any) -> bool:
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, Mapping):
        return False
    agents = value.get("agents")
    if isinstance(agents, list):
        return bool(agents) and all(_has_agent_signs(agent) for agent in agents)
    return _are_messages(value.get("messages")) or has_letta_reply(value) or _is_agent(value)


def _is_agent(value: Mapping[str, Any]) -> bool:
    """Say whether an object is an agent as older files hold one."""
    messages = value.get("messages")
    if not isinstance(messages, list) or not any(sign in value for sign in _STORED_SIGNS):
        return False
    return all(isinstance(m, Mapping) and m.get("role") in STORED_ROLES for m in messages[:1])


def _has_agent_signs(value: Any) -> bool:
    signs = (*_STORED_SIGNS, "messages")
    return isinstance(value, Mapping) and any(sign in value for sign in signs)
