"""One turn of an agent: the user's message goes out, its requests are answered until it answers."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from harness.messages.letta_messages import read_letta_message
from harness.messages.letta_replies import LettaReply
from harness.messages.letta_steps import with_step_rows
from harness.messages.letta_turns import LettaTurn
from harness.system.clock import now
from harness.system.time_limits import limited
from harness.targets.hidden_secrets import hiding
from harness.targets.letta_exchanges import Exchange, StreamKind
from harness.targets.letta_failures import reported_failure, stop_failure
from harness.targets.letta_leftovers import MadeAgent, do_each
from harness.targets.letta_restarts import once_up
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.tool_calls import run_together, run_tool
from harness.targets.toolbox import Tool, Toolbox
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, Event, ToolCall, ToolResult
from harness.types.protocols import AttemptContext, Record
from harness.types.trajectories import Step

_CANCEL_SECONDS = 2.0
_STEPS_SECONDS = 1.5  # with the above within what a turn that is over time may take
_DENIED = "denied by the evaluation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a session talks to its agent."""

    stream: StreamKind
    approvals: Literal["deny", "approve", "fail"]
    max_steps: int
    tools: Toolbox
    keeps_state: bool


class TurnTaking:
    """One turn while it goes on; what happens is recorded as it arrives."""

    def __init__(
        self, server: LettaServer, agent: MadeAgent, manners: Manners, context: AttemptContext
    ) -> None:
        self._server = server
        self._agent = agent
        self._manners = manners
        self._context = context
        self._turn = LettaTurn()
        self._place = f"{server.url}: agent {agent.id}"
        self._exchange = Exchange(server, agent, manners.stream, self._turn)
        self._has_answered = False
        self._replied: set[str | None] = set()
        self._held: list[Event] | None = None

    async def take(self, text: str, record: Record) -> None:
        """Send the user's message, and answer the agent's requests until it has answered.

        Raises:
            TargetError: there was no answer.
        """
        self._record = hiding(record, self._server.secrets)
        try:
            reply = await self._ask([{"role": "user", "content": text}])
            rounds = 0
            while reply.needs_approval:
                rounds += 1
                reply = await self._reply_to_calls(rounds)
            self._require_answer(reply.stop_reason)
        except asyncio.CancelledError:
            await self._cancel()
            raise
        finally:
            await self._record_steps()

    async def _ask(self, messages: Sequence[Mapping[str, Any]]) -> LettaReply:
        body: dict[str, Any] = {"messages": messages, "max_steps": self._manners.max_steps}
        if self._manners.tools:
            body["client_tools"] = [_client_tool(tool) for tool in self._manners.tools.values()]
        reply = await once_up(lambda: self._exchange.ask(body, self._take), self._context)
        if reply.failure is not None:
            secrets = self._server.secrets
            raise reported_failure(reply.failure, place=self._place, secrets=secrets)
        return reply

    def _take(self, event: Event) -> None:
        if isinstance(event, ToolResult) and event.call_id in self._replied:
            # The server repeats the result of a tool that ran here.
            return
        self._has_answered = self._has_answered or isinstance(event, AssistantMessage)
        if self._held is None:
            self._record(event)
        else:
            self._held.append(event)

    def _require_answer(self, stop_reason: str | None) -> None:
        failed = stop_failure(
            stop_reason,
            answered=self._has_answered,
            place=self._place,
            secrets=self._server.secrets,
        )
        if failed is not None:
            raise failed

    async def _reply_to_calls(self, rounds: int) -> LettaReply:
        """Run the calls of tools that are ours, and answer the others as the suite says."""
        if rounds > self._manners.max_steps:
            self._require_answer("max_steps")
        calls = [call for call in self._turn.pending if call.call_id not in self._replied]
        if not calls:
            message = f"{self._place} waits for an approval, but has made no call"
            raise TargetError(message, code="bad_reply")
        tools = self._manners.tools
        others = [call for call in calls if call.name not in tools]
        if others and self._manners.approvals == "fail":
            raise _unapproved(others)
        ours = [call for call in calls if call.name in tools]
        results = await run_together(ours, self._run, self._tell)
        given = [self._approval(call) for call in others]
        self._record_approvals(given)
        return await self._send_answers([*map(_tool_answer, results), *given], others)

    async def _send_answers(
        self, answers: Sequence[Mapping[str, Any]], others: Sequence[ToolCall]
    ) -> LettaReply:
        message = {"type": "approval", "approvals": list(answers)}
        if self._manners.stream == "tokens" and others and self._manners.approvals == "deny":
            # In this case alone the server streams no result of the call, only what follows it.
            self._held = []
        try:
            reply = await self._ask([message])
            await self._record_missing([call.call_id for call in others])
            return reply
        finally:
            held, self._held = self._held or [], None
            for event in held:
                self._record(event)
            self._replied |= {call.call_id for call in others}

    async def _record_missing(self, ids: Sequence[str | None]) -> None:
        """Record the results that the server knows of, but did not send."""
        if self._held is None or not self._exchange.runs:
            return
        path = path_of("runs", self._exchange.runs[-1], "messages")
        query = {"order": "asc", "limit": 1000}
        for message in await self._server.get(path, query, shape=list[dict[str, Any]]):
            if message.get("message_type") != "tool_return_message":
                continue
            for event in self._turn.read(message):
                if isinstance(event, ToolResult) and event.call_id in ids:
                    self._record(event)

    async def _run(self, call: ToolCall) -> ToolResult:
        fixtures, secrets = self._context.fixtures, self._server.secrets
        return await run_tool(call, self._manners.tools, fixtures, secrets=secrets)

    def _tell(self, result: ToolResult) -> None:
        self._replied.add(result.call_id)
        self._record(result)

    def _approval(self, call: ToolCall) -> dict[str, Any]:
        approve = self._manners.approvals == "approve"
        reason = {} if approve else {"reason": _DENIED}
        return {"type": "approval", "approve": approve, "tool_call_id": call.call_id, **reason}

    def _record_approvals(self, given: Sequence[Mapping[str, Any]]) -> None:
        if not given:
            return
        kind = "approval_response_message"
        message = {"message_type": kind, "approvals": list(given), "date": now().isoformat()}
        for event in read_letta_message(message):
            self._record(event)

    async def _cancel(self) -> None:
        """End the turn on the server before its next step, so that it costs no more."""
        runs = self._exchange.runs
        body = {"run_ids": [runs[-1]]} if runs else {}
        path = path_of("agents", self._agent.id, "messages", "cancel")
        with suppress(TargetError, TimeoutError):
            await limited(self._server.post(path, body), _CANCEL_SECONDS)

    async def _record_steps(self) -> None:
        for step in await self._steps():
            self._record(step)

    async def _steps(self) -> tuple[Step, ...]:
        """Return the steps, with what the server knows of each where it can still be asked."""
        steps = self._turn.steps
        rows: list[Mapping[str, Any]] = []

        async def read(run: str) -> None:
            path = path_of("runs", run, "steps")
            rows.extend(await self._server.get(path, {"limit": 1000}, shape=list[dict[str, Any]]))

        with suppress(TargetError, TimeoutError):
            await limited(do_each(self._exchange.runs, read), _STEPS_SECONDS)
        return with_step_rows(steps.all, steps.ids, rows)


def _client_tool(tool: Tool) -> Mapping[str, Any]:
    described: Mapping[str, Any] = tool.schema["function"]
    return described


def _unapproved(calls: Sequence[ToolCall]) -> TargetError:
    names = ", ".join(dict.fromkeys(call.name for call in calls))
    return TargetError(
        f"the agent asks for approval of {names}",
        code="bad_request",
        hint="set target.approvals to approve or deny, or list the tool's file under "
        "target.client_tools",
    )


def _tool_answer(result: ToolResult) -> dict[str, Any]:
    return {
        "type": "tool",
        "tool_call_id": result.call_id,
        "tool_return": result.output,
        "status": "success" if result.ok else "error",
    }
