"""Letta's tool calls and returns: a message comes in, its calls or results go out."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.messages.assistant_messages import read_call, read_id
from harness.messages.contents import shape_error
from harness.messages.outputs import read_output
from harness.system.json_values import clean_json
from harness.types.events import Event, SystemEvent, ToolResult

UNNAMED_CALL = "unnamed_call"
"""The kind of the system event for a call that names no tool."""


def read_letta_calls(message: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the calls of a message; `shared` is what all its events have in common.

    Raises:
        ValueError: they are not of that shape; the text names the place.
    """
    for place, call in _calls_of(message):
        try:
            yield from _read_call(call, shared)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error


def _calls_of(message: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the calls, each with its place: `tool_calls` has all, `tool_call` the first only."""
    calls = message.get("tool_calls")
    if isinstance(calls, Mapping):
        return [("tool_calls", calls)]
    if calls is not None and not isinstance(calls, list | tuple):
        raise shape_error("tool_calls must be a list", calls)
    if calls:
        return [(f"tool_calls[{index}]", call) for index, call in enumerate(calls)]
    call = message.get("tool_call")
    return [] if call is None else [("tool_call", call)]


def _read_call(call: Any, shared: Mapping[str, Any]) -> Iterator[Event]:
    if not isinstance(call, Mapping):
        raise shape_error("must be an object", call)
    name = call.get("name")
    if name is None or name == "":
        yield SystemEvent(kind=UNNAMED_CALL, data=clean_json(call), **shared)
        return
    parts = {"id": call.get("tool_call_id"), "name": name, "arguments": call.get("arguments")}
    yield from read_call(parts, shared)


def read_letta_returns(message: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the results of a message: one message answers all calls of a step.

    `output` is the text of the return and `ok` whether its status is `success`. What the tool
    printed is kept apart: `structured` is `{"stdout": [...], "stderr": [...]}` with the texts as
    they are, where there is any of either. A return of parts other than text (images) has them in
    `structured` as `content`, beside the two.

    Raises:
        ValueError: they are not of that shape; the text names the place.
    """
    for place, result in _returns_of(message):
        try:
            yield _read_return(result, shared)
        except ValueError as error:
            raise ValueError(f"{place}{error}") from error


def _returns_of(message: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the results, each with its place; the top level repeats the first one only."""
    results = message.get("tool_returns")
    if results is not None and not isinstance(results, list | tuple):
        raise shape_error("tool_returns must be a list", results)
    if results:
        return [(f"tool_returns[{index}]: ", result) for index, result in enumerate(results)]
    return [("", message)]


def _read_return(result: Any, shared: Mapping[str, Any]) -> ToolResult:
    if not isinstance(result, Mapping):
        raise shape_error("must be an object", result)
    status = result.get("status")
    ok = not result.get("is_err") if status is None else status == "success"
    output = read_output({"content": result.get("tool_return"), "error": not ok})
    return ToolResult(
        call_id=read_id(result.get("tool_call_id")),
        name=None,
        output=output.text,
        ok=ok,
        structured=_structure(result, output.structured),
        **shared,
    )


def _structure(result: Mapping[str, Any], content: Any) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    stdout, stderr = _lines(result, "stdout"), _lines(result, "stderr")
    if stdout or stderr:
        found = {"stdout": stdout, "stderr": stderr}
    if content is not None:
        found["content"] = content
    return found or None


def _lines(result: Mapping[str, Any], key: str) -> list[Any]:
    value = clean_json(result.get(key))
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]
