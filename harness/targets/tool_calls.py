"""Calls of tools: the calls of one reply come in and run together, their results go out."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from harness.messages.outputs import Output
from harness.system.clock import now
from harness.targets.tool_outputs import failed_output, output_of
from harness.targets.toolbox import Tool, Toolbox
from harness.targets.user_code import UserCodeError, caller_of, text_of
from harness.types.events import ToolCall, ToolResult

_GRACE_SECONDS = 1.0  # how long a tool may take to clear up when its turn is over
Run = Callable[[ToolCall], Awaitable[ToolResult]]


async def run_together(
    calls: Sequence[ToolCall], run: Run, record: Callable[[ToolResult], None]
) -> list[ToolResult]:
    """Run calls at the same time; record each result once all results before it are there.

    Where the turn is cancelled, the results that are there are recorded in the order of the
    calls, whether or not one before them is missing.
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
    await asyncio.wait(tasks, timeout=_GRACE_SECONDS)


async def run_tool(call: ToolCall, tools: Toolbox, fixtures: Mapping[str, Any]) -> ToolResult:
    """Run one call; whatever goes wrong is a failed result that the agent sees."""
    output = await _output(call, tools, fixtures)
    return result_of(call, output)


def result_of(call: ToolCall, output: Output) -> ToolResult:
    """Give the result that answers a call."""
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
        return failed_output(_no_object(call))
    objects = {name: fixtures[name] for name in tool.fixtures}
    try:
        args, kwargs = tool.bind(call.arguments, objects)
    except Exception as error:  # noqa: BLE001  (checks may be the user's code)
        return failed_output(f"wrong arguments: {text_of(error)}")
    return await _call(tool, args, kwargs)


async def _call(tool: Tool, args: list[Any], kwargs: dict[str, Any]) -> Output:
    try:
        return output_of(await caller_of(tool.function)(*args, **kwargs))
    except UserCodeError as raised:
        return failed_output(text_of(raised.error), type(raised.error).__name__)
    except Exception as error:  # noqa: BLE001  (encoding may be the user's code)
        return failed_output(text_of(error), type(error).__name__)


def _no_object(call: ToolCall) -> str:
    if isinstance(call.arguments, str) and call.arguments == call.arguments_text:
        return f"wrong arguments: no JSON: {call.arguments_text}"
    return "wrong arguments: must be a JSON object"
