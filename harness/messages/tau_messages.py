"""Messages of a simulation of tau2-bench (1.x): they come in, events go out.

The user is simulated and may have tools too: its calls and their results are no calls of the agent
and become system events. A tool message names its call in `id`, and `error` says that it failed.
What the model's endpoint answered (`raw_data`) repeats the call: only the thoughts are taken.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.messages.assistant_messages import calls_of, read_call, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import read_content
from harness.messages.letta_messages import read_date
from harness.messages.outputs import read_output
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json
from harness.types.trajectories import Step

USER_CALL, USER_RESULT = "user_tool_call", "user_tool_result"
"""Kinds of the system events that hold what the simulated user did with tools of its own."""

_MOST_SECONDS = 10**6


class TauMessages:
    """Reads messages into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder

    def add(self, message: Any) -> None:
        """Add the next message.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        message = clean_json(message)
        several = message.get("tool_messages") if isinstance(message, Mapping) else None
        for one in several if isinstance(several, list) else [message]:
            self._add(one)

    def _add(self, message: Any) -> None:
        found = message.get("role") if isinstance(message, Mapping) else None
        role = found if isinstance(found, str) and found else "message"
        at = read_date(message.get("timestamp")) if isinstance(message, Mapping) else None
        try:
            if role == "assistant":
                self._add_assistant(message, {"at": at})
            elif role == "user":
                self._add_user(message, {"at": at})
            elif role == "tool":
                self._add_result(message, {"at": at})
            elif role == "system":
                self._builder.system("system", "\n".join(_texts(message)), at=at)
            else:
                self._builder.keep_unread(role, message)
        except ValueError:
            self._builder.keep_unread(role, message)

    def _add_assistant(self, message: Mapping[str, Any], fields: dict[str, Any]) -> None:
        texts = _texts(message)
        calls = [event for call in calls_of(message) for event in read_call(call, fields)]
        self._builder.begin_step(_step(message))
        for thought in _thoughts(message):
            self._builder.reasoning(thought, **fields)
        if texts:
            add_said(self._builder, "\n".join(texts), **fields)
        for event in calls:
            self._builder.add_to_step(event)

    def _add_user(self, message: Mapping[str, Any], fields: dict[str, Any]) -> None:
        texts, calls = _texts(message), calls_of(message)
        if any(text.strip() for text in texts) or not calls:
            self._builder.user("\n".join(texts), **fields)
        for call in calls:
            name = call.get("name") if isinstance(call, Mapping) else None
            self._builder.system(USER_CALL, text_or_none(name) or "", call, **fields)

    def _add_result(self, message: Mapping[str, Any], fields: dict[str, Any]) -> None:
        output = read_output(
            {"content": message.get("content"), "error": bool(message.get("error"))}
        )
        if message.get("requestor") == "user":
            self._builder.system(USER_RESULT, output.text, message, **fields)
            return
        call_id = read_id(message.get("id")) or read_id(message.get("tool_call_id"))
        more = {"ok": output.ok, "structured": output.structured, **fields}
        self._builder.result(call_id, output.text, **more)


def _texts(message: Mapping[str, Any]) -> Sequence[str]:
    content = message.get("content")
    return () if content is None else read_content(content).texts


def _step(message: Mapping[str, Any]) -> Step:
    usage, cost = message.get("usage"), message.get("cost")
    numbers = usage if isinstance(usage, Mapping) else {}
    raw = message.get("raw_data")
    raw = raw if isinstance(raw, Mapping) else {}
    return Step(
        usage=read_usage({**numbers, "cost": cost}),
        model=text_or_none(raw.get("model")),
        stop_reason=text_or_none(raw.get("finish_reason")),
        seconds=_seconds(message.get("generation_time_seconds")),
    )


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_SECONDS else None


def _thoughts(message: Mapping[str, Any]) -> Iterator[str]:
    raw = message.get("raw_data")
    inner = raw.get("message") if isinstance(raw, Mapping) else None
    if not isinstance(inner, Mapping):
        return
    plain = text_or_none(inner.get("reasoning_content"))
    blocks = inner.get("thinking_blocks")
    rows = [{"thinking": plain}] if plain else blocks if isinstance(blocks, list) else []
    for row in rows:
        thought = text_or_none(row.get("thinking")) if isinstance(row, Mapping) else None
        if thought is not None:
            yield thought
