"""Calls of tools: the calls of one reply come in and run together, their results go out."""

import asyncio
from collections import deque
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from itertools import islice
from os import PathLike, fspath
from typing import Any

import msgspec
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from harness.messages.outputs import Output
from harness.system.clock import now
from harness.system.json_values import clean_json, compact_json
from harness.system.redaction import redacted_line
from harness.system.texts import error_line, scrub
from harness.system.user_calls import GRACE_SECONDS, UserCodeError, caller_of
from harness.targets.toolbox import Tool, Toolbox
from harness.types.events import ToolCall, ToolResult

AT_ONCE = 32
"""How many calls of one reply run at the same time."""

_WIDTH = 2_000  # of what went wrong, the agent is shown this many characters
_MOST_VALUES = 1_000_000  # a result is read by a model
Run = Callable[[ToolCall], Awaitable[ToolResult]]


async def run_together(
    calls: Sequence[ToolCall], run: Run, record: Callable[[ToolResult], None]
) -> list[ToolResult]:
    """Run calls at the same time; record each result once all results before it are recorded.

    At most `AT_ONCE` run at once. Where the turn is cancelled, the results so far are recorded
    in the order of the calls, whether or not one before them is missing; a call that ignores its
    cancellation is left to itself.
    """
    slots = asyncio.Semaphore(AT_ONCE)

    async def run_in_slot(call: ToolCall) -> ToolResult:
        async with slots:
            return await run(call)

    tasks = [asyncio.ensure_future(run_in_slot(call)) for call in calls]
    results: list[ToolResult] = []
    try:
        for task in tasks:
            # Awaited itself, a task would swallow the cancellation of the turn where it can.
            await asyncio.wait({task})
            results.append(task.result())
            record(results[-1])
    except BaseException:
        await _stop(tasks)
        for task in tasks[len(results) :]:
            if task.done() and not task.cancelled() and task.exception() is None:
                record(task.result())
        raise
    return results


async def _stop(tasks: Sequence["asyncio.Future[ToolResult]"]) -> None:
    for task in tasks:
        task.cancel()
        # Without this asyncio reports an exception that a call raises after it was given up.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait(tasks, timeout=GRACE_SECONDS)


async def run_tool(
    call: ToolCall,
    tools: Toolbox,
    fixtures: Mapping[str, Any],
    *,
    secrets: Collection[str] = (),
) -> ToolResult:
    """Run one call; whatever goes wrong is a failed result that the agent sees.

    `secrets` are values that no message about a failure may hold.
    """
    try:
        output = await _output(call, tools, fixtures)
    except CallFailedError as failed:
        output = failed_output(failed.message, secrets)
    return result_of(call, output)


class CallFailedError(Exception):
    """A call failed; `message` says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def result_of(call: ToolCall, output: Output) -> ToolResult:
    """Return the result that answers a call."""
    return ToolResult(
        call_id=call.call_id,
        name=call.name,
        output=output.text,
        ok=output.ok,
        structured=output.structured,
        step=call.step,
        at=now(),
    )


async def _output(call: ToolCall, tools: Toolbox, fixtures: Mapping[str, Any]) -> Output:
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(tools) or "none"
        raise CallFailedError(f"unknown tool {call.name}; the tools are: {known}")
    if not isinstance(call.arguments, dict):
        raise CallFailedError(f"wrong arguments: {_no_object(call)}")
    objects = {name: fixtures[name] for name in tool.fixtures}
    try:
        args, kwargs = tool.bind(call.arguments, objects)
    except ValueError as error:
        raise CallFailedError(f"wrong arguments: {error}") from error
    except BaseException as error:
        # Checks of types may be the user's code, which may raise anything.
        raise CallFailedError(f"wrong arguments: {error_line(error)}") from error
    return await _call(tool, args, kwargs)


def _no_object(call: ToolCall) -> str:
    if isinstance(call.arguments, str) and call.arguments == call.arguments_text:
        return f"no JSON: {call.arguments_text}"
    return "must be a JSON object"


async def _call(tool: Tool, args: list[Any], kwargs: dict[str, Any]) -> Output:
    try:
        value = await caller_of(tool.function)(*args, **kwargs)
        # Encoding may take long, and may be the user's code: it is done in a thread.
        return output_of(value) if type(value) is str else await caller_of(output_of)(value)
    except UserCodeError as raised:
        if isinstance(raised.error, CallFailedError):
            raise raised.error from raised
        raise CallFailedError(error_line(raised.error)) from raised


def output_of(value: Any) -> Output:
    """Return a tool's result: a text as it is, anything else as compact JSON.

    Records are encoded as mappings: dataclasses, those of pydantic and msgspec, rows of a
    database.

    Raises:
        CallFailedError: it has no JSON form. Generators and other iterators have none, since they
            may have no end.
    """
    if isinstance(value, str):
        return Output(scrub(str(value)))
    try:
        _require_finite(value)
        structured = clean_json(to_jsonable_python(value, fallback=_encode))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        kind = type(value).__name__
        problem = f"TypeError: the tool returned a value of type {kind}: {error}"
        raise CallFailedError(problem) from error
    return Output(compact_json(structured), structured=structured)


def _require_finite(value: Any) -> None:
    """Refuse a value that holds an iterator, or too many values.

    Raises:
        TypeError: it does.
    """
    waiting, count = [value], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, Iterator):
            raise TypeError("an iterator may have no end; return a list of its items")
        inner = list(islice(_inner(one), _MOST_VALUES + 1))
        count += len(inner)
        if count > _MOST_VALUES:
            raise TypeError(f"more than {_MOST_VALUES:,} values, or one that holds itself")
        waiting += inner


def _inner(value: Any) -> Iterable[Any]:
    """Return the values inside a container or a record; of other values there are none."""
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple | AbstractSet | deque):
        return value
    if isinstance(value, BaseModel):
        return vars(value).values()
    if is_dataclass(value) and not isinstance(value, type):
        return (getattr(value, field.name, None) for field in fields(value))
    return ()


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping) or hasattr(value, "keys"):
        return dict(value)
    if isinstance(value, PathLike):
        return fspath(value)
    return msgspec.to_builtins(value, str_keys=True)


def failed_output(message: str, secrets: Collection[str] = ()) -> Output:
    """Return the result of a call that failed: what went wrong, on one line without secrets."""
    return Output(redacted_line(scrub(message), _WIDTH, secrets), ok=False)
