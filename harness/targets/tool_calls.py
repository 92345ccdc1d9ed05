"""Calls of tools: the calls of one reply come in and run together, their results go out."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import msgspec
from pydantic_core import PydanticSerializationError, to_jsonable_python

from harness.messages.outputs import Output
from harness.system.clock import now
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import error_line, one_line, scrub
from harness.system.user_calls import GRACE_SECONDS, UserCodeError, caller_of
from harness.targets.toolbox import Tool, Toolbox
from harness.types.events import ToolCall, ToolResult

_WIDTH = 2_000  # of what went wrong, the agent is shown this many characters
Run = Callable[[ToolCall], Awaitable[ToolResult]]


async def run_together(
    calls: Sequence[ToolCall], run: Run, record: Callable[[ToolResult], None]
) -> list[ToolResult]:
    """Run calls at the same time; record each result once all results before it are recorded.

    Where the turn is cancelled, the results so far are recorded in the order of the calls,
    whether or not one before them is missing.
    """
    tasks = [asyncio.ensure_future(run(call)) for call in calls]
    results: list[ToolResult] = []
    try:
        for task in tasks:
            results.append(await task)
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
    await asyncio.wait(tasks, timeout=GRACE_SECONDS)


async def run_tool(call: ToolCall, tools: Toolbox, fixtures: Mapping[str, Any]) -> ToolResult:
    """Run one call; whatever goes wrong is a failed result that the agent sees."""
    output = await _output(call, tools, fixtures)
    return result_of(call, output)


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
        return failed_output(f"unknown tool {call.name}; the tools are: {known}")
    if not isinstance(call.arguments, dict):
        return failed_output(f"wrong arguments: {_no_object(call)}")
    objects = {name: fixtures[name] for name in tool.fixtures}
    try:
        args, kwargs = tool.bind(call.arguments, objects)
    except ValueError as error:
        return failed_output(f"wrong arguments: {error}")
    except Exception as error:  # noqa: BLE001  (checks may be the user's code)
        return failed_output(f"wrong arguments: {error_line(error)}")
    return await _call(tool, args, kwargs)


def _no_object(call: ToolCall) -> str:
    if isinstance(call.arguments, str) and call.arguments == call.arguments_text:
        return f"no JSON: {call.arguments_text}"
    return "must be a JSON object"


async def _call(tool: Tool, args: list[Any], kwargs: dict[str, Any]) -> Output:
    try:
        return output_of(await caller_of(tool.function)(*args, **kwargs))
    except UserCodeError as raised:
        return failed_output(error_line(raised.error))
    except Exception as error:  # noqa: BLE001  (encoding may be the user's code)
        return failed_output(error_line(error))


def output_of(value: Any) -> Output:
    """Return a tool's result: a text as it is, anything else as compact JSON.

    Records are encoded as mappings: dataclasses, those of pydantic and msgspec, rows of a
    database. What has no JSON form is a failed result that says so.
    """
    if isinstance(value, str):
        return Output(scrub(str(value)))
    try:
        structured = clean_json(to_jsonable_python(value, fallback=_encode))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        return failed_output(f"TypeError: the tool returned a {type(value).__name__}: {error}")
    return Output(compact_json(structured), structured=structured)


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping) or hasattr(value, "keys"):
        return dict(value)
    if isinstance(value, PathLike):
        return fspath(value)
    return msgspec.to_builtins(value, str_keys=True)


def failed_output(message: str) -> Output:
    """Return the result of a call that failed: what went wrong, on one line."""
    return Output(one_line(scrub(message), _WIDTH), ok=False)
