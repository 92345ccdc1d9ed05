"""Items of OpenAI's Responses API (v1): items come in, events go out.

They are what `input` takes and `output` gives: messages, calls and their outputs, reasoning. Calls
of one response are one step; in a history, a step ends where the user or a tool speaks.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from harness.messages.assistant_messages import (
    DUPLICATE_KEYS,
    part_event,
)
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import read_content, shape_error
from harness.messages.outputs import Output
from harness.messages.response_tools import (
    is_call,
    is_output,
    read_call_item,
    read_output_item,
)
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json
from harness.system.texts import scrub
from harness.types.trajectories import Step, Turn

FAILED_CALL = "tool_call_failed"
"""The kind of the error event that says that a call failed of which no output is recorded."""

# A tuple: a role may be any JSON value, also one that cannot be hashed.
_ROLES = ("user", "assistant", "system", "developer")
_NOTES = frozenset(
    {"compaction", "context_compaction", "item_reference", "mcp_approval_request"}
    | {"mcp_approval_response", "mcp_list_tools", "additional_tools"}
)
"""Items that are neither said nor done: they are kept as system events."""


def is_item(value: Any) -> bool:
    """Say whether a value looks like an item: a message with a role, or a type of an item."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    if kind in (None, "message"):
        return value.get("role") in _ROLES
    return is_own_item(value)


def is_own_item(value: Any) -> bool:
    """Say whether a value is an item of a type that only the Responses API has."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or "role" in value:
        return False
    known = kind in _NOTES or (kind == "reasoning" and "summary" in value)
    return known or is_output(kind) or _is_own_call(kind, value)


def _is_own_call(kind: str, item: Mapping[str, Any]) -> bool:
    # Other tools' records have a `tool_call` of their own, which has no id of this kind.
    return is_call(kind) and kind != "tool_call" and ("call_id" in item or "status" in item)


def read_response_turns(items: Iterable[Any]) -> tuple[Turn, ...]:
    """Read a conversation from the list of its items.

    Raises:
        ValueError: one cannot be kept as JSON.
    """
    builder = TurnBuilder()
    reader = ResponseItems(builder)
    for item in items:
        reader.add(item)
    return builder.trajectory().turns


class ResponseItems:
    """Reads items into a conversation."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._open = False
        self._whole = False
        self._searches = 0

    def begin(self, step: Step) -> None:
        """Say that the items up to `end` are one response, and what its numbers are."""
        self._builder.begin_step(step)
        self._open = self._whole = True

    def end(self) -> None:
        """Say that the response is over."""
        self._open = self._whole = False

    def add(self, item: Any, *, agent: str | None = None, at: datetime | None = None) -> None:
        """Add the next item, made by `agent` at a time; what is no item is kept as unread.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        item = clean_json(item)
        kind = self._kind(item)
        if kind in ("tool_search_call", "tool_search_output"):
            item = self._numbered(kind, item)
        fields: dict[str, Any] = {"agent": agent} if agent else {}
        fields |= {"at": at} if at else {}
        if kind is None:
            self._builder.keep_unread("item", item, **fields)
        elif kind in _ROLES:
            self._add_message(kind, item, fields)
        elif is_output(kind):
            self._add_output(item, fields)
        elif is_call(kind):
            self._add_call(item, fields)
        elif kind == "reasoning":
            self._add_reasoning(item, fields)
        elif kind in _NOTES:
            self._builder.system(kind, data=item, **fields)
        else:
            self._builder.keep_unread(kind, item, **fields)

    def _kind(self, item: Any) -> str | None:
        kind = item.get("type") if isinstance(item, Mapping) else None
        if kind in (None, "message") and isinstance(item, Mapping):
            role = item.get("role")
            return role if role in _ROLES else None
        return kind if isinstance(kind, str) and kind else None

    def _numbered(self, kind: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give a search that has no id one: its output would be taken for another call's."""
        self._searches += kind == "tool_search_call"
        own = item.get("call_id") or f"tool_search-{self._searches}"
        return {**item, "call_id": own}

    def _model_speaks(self) -> None:
        if not self._open:
            self._builder.begin_step()
            self._open = True

    def _others_speak(self) -> None:
        self._open = self._whole

    def _add_message(self, role: str, item: Mapping[str, Any], fields: dict[str, Any]) -> None:
        try:
            content = read_content(item.get("content") or "")
        except ValueError:
            self._builder.keep_unread(role, item, **fields)
            return
        if role == "assistant":
            self._model_speaks()
            text = "".join(content.texts)
            calls = item.get("tool_calls")  # as Chat Completions messages have them
            if text or not (calls or (content.others and not content.texts)):
                add_said(self._builder, text, **fields)
            if calls:
                self._builder.keep_unread("tool_calls", calls, **fields)
        elif role == "user":
            self._others_speak()
            self._builder.user("\n".join(content.texts), at=fields.get("at"))
        else:
            self._builder.system(role, "\n".join(content.texts), **fields)
        for block in content.others:
            part = part_event(block, {})
            self._builder.system(part.kind, part.text, part.data, **fields)

    def _add_call(self, item: Mapping[str, Any], fields: dict[str, Any]) -> None:
        self._model_speaks()
        call = read_call_item(item)
        if call.caller:
            fields = {**fields, "parent_call_id": call.caller}
        arguments = call.arguments
        self._builder.call(
            call.call_id, call.name, arguments.value, arguments_text=arguments.text, **fields
        )
        if arguments.duplicates:
            data = {"call_id": call.call_id, "keys": list(arguments.duplicates)}
            self._builder.system(DUPLICATE_KEYS, data=data, **fields)
        if call.result is not None:
            self._add_result(call.call_id, call.result, fields)
        elif call.failed:
            message = f"{call.name} failed; no output is recorded"
            self._builder.error(FAILED_CALL, message, **{**fields, "parent_call_id": call.call_id})

    def _add_output(self, item: Mapping[str, Any], fields: dict[str, Any]) -> None:
        call_id, output = read_output_item(item)
        self._add_result(call_id, output, fields)
        self._others_speak()

    def _add_result(self, call_id: str | None, output: Output, fields: dict[str, Any]) -> None:
        more = {"ok": output.ok, "structured": output.structured, **fields}
        self._builder.result(call_id, output.text, **more)

    def _add_reasoning(self, item: Mapping[str, Any], fields: dict[str, Any]) -> None:
        self._model_speaks()
        texts = [*_part_texts(item.get("summary")), *_part_texts(item.get("content"))]
        for text in texts:
            self._builder.reasoning(text, **fields)
        if not texts:
            # What it thought is hidden; that it did is kept.
            self._builder.system("reasoning", data=item, **fields)


def _part_texts(parts: Any) -> list[str]:
    if isinstance(parts, str):
        return [scrub(parts)] if parts else []
    rows = parts if isinstance(parts, list) else []
    texts = (part.get("text") for part in rows if isinstance(part, Mapping))
    return [scrub(text) for text in texts if isinstance(text, str) and text]


def add_response(reader: ResponseItems, builder: TurnBuilder, response: Any) -> None:
    """Add a whole response: its output, and its numbers as those of one step.

    Raises:
        ValueError: it is none, or cannot be kept as JSON.
    """
    if not isinstance(response, Mapping):
        raise shape_error("a response must be an object", response)
    output = response.get("output")
    reader.begin(read_response_step(response))
    for item in output if isinstance(output, list) else []:
        reader.add(item)
    reader.end()
    if output is not None and not isinstance(output, list):
        builder.keep_unread("output", clean_json(output))


def read_response_step(response: Mapping[str, Any]) -> Step:
    """Return the numbers of a response; what cut it off is its stop reason."""
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    return Step(
        usage=read_usage(response.get("usage")),
        model=text_or_none(response.get("model")),
        stop_reason=text_or_none(reason) or text_or_none(response.get("status")),
    )
