"""One conversation of the target `letta`: a turn is one message of the user to the agent."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from harness.messages.letta_messages import read_letta_message
from harness.messages.letta_replies import LettaReply
from harness.messages.letta_steps import with_step_rows
from harness.messages.letta_turns import LettaTurn
from harness.system.clock import now
from harness.system.json_values import clean_json
from harness.system.redaction import redact_json
from harness.system.time_limits import limited
from harness.targets.letta_exchanges import Exchange, StreamKind
from harness.targets.letta_failures import reported_failure, stop_failure
from harness.targets.letta_leftovers import MadeAgent
from harness.targets.letta_makers import WITH_PARTS
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.tool_calls import run_together, run_tool
from harness.targets.toolbox import Toolbox
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, Event, ToolCall, ToolResult
from harness.types.protocols import AttemptContext, Record
from harness.types.trajectories import Step

_CANCEL_SECONDS = 2.0
_STEPS_SECONDS = 1.5  # with the above within what a turn that is over time may take
_DENIED = "denied by the evaluation"
_SECRET = frozenset({"secrets", "tool_exec_environment_variables"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a session talks to its agent."""

    stream: StreamKind
    approvals: Literal["deny", "approve", "fail"]
    max_steps: int
    tools: Toolbox
    keeps_agents: bool
    keeps_state: bool


class LettaSession:
    """A conversation with one agent.

    A turn that is cut off by a time limit is cancelled on the server, which ends it before its next
    step; what happened until then stays in the record.
    """

    def __init__(
        self,
        server: LettaServer,
        agent: MadeAgent,
        manners: Manners,
        context: AttemptContext,
        leave: Callable[[], Awaitable[None]],
    ) -> None:
        self._server = server
        self._agent = agent
        self._manners = manners
        self._context = context
        self._leave = leave

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: there was no answer.
        """
        turn = _Turn(self._server, self._agent, self._manners, self._context, record)
        await turn.take(text)

    async def start_session(self) -> None:
        """Clear the agent's context; its memory stays.

        Raises:
            TargetError: the server does not do it.
        """
        path = path_of("agents", self._agent.id, "reset-messages")
        await self._server.patch(path, {"add_default_initial_messages": False})

    async def final_state(self) -> Mapping[str, Any]:
        """Return the agent's memory blocks, tools and tags, or all of its state.

        Raises:
            TargetError: the server does not tell.
        """
        state = await self._server.get(path_of("agents", self._agent.id), WITH_PARTS)
        if self._manners.keeps_state:
            kept = {key: value for key, value in state.items() if key not in _SECRET}
        else:
            kept = _short(state)
        shown: dict[str, Any] = redact_json(clean_json(kept), self._server.secrets)
        return shown

    async def close(self) -> None:
        """Delete the agent, unless it is kept."""
        await self._leave()


def _short(state: Mapping[str, Any]) -> dict[str, Any]:
    blocks = state.get("blocks") or ()
    return {
        **{key: state.get(key) for key in ("id", "name", "model")},
        "blocks": [
            {key: block.get(key) for key in ("label", "value", "limit", "description")}
            for block in blocks
        ],
        "tags": list(state.get("tags") or ()),
        "tools": [tool.get("name") for tool in state.get("tools") or ()],
    }


class _Turn:
    """One turn while it goes on."""

    def __init__(
        self,
        server: LettaServer,
        agent: MadeAgent,
        manners: Manners,
        context: AttemptContext,
        record: Record,
    ) -> None:
        self._server = server
        self._agent = agent
        self._manners = manners
        self._context = context
        self._record = record
        self._turn = LettaTurn()
        self._place = f"{server.url}: agent {agent.id}"
        self._exchange = Exchange(server, agent, manners.stream, self._turn)
        self._answered = False
        self._told: set[str | None] = set()

    async def take(self, text: str) -> None:
        """Send the user's message, and answer the agent's requests until it has answered."""
        try:
            reply = await self._ask([{"role": "user", "content": text}])
            asked = 0
            while reply.needs_approval:
                asked += 1
                if asked > self._manners.max_steps:
                    raise self._failed("max_steps")
                answers = await self._answers(self._turn.pending)
                reply = await self._ask([{"type": "approval", "approvals": answers}])
            self._require_answer(reply)
        except asyncio.CancelledError:
            await self._cancel()
            raise
        finally:
            await self._record_steps()

    async def _ask(self, messages: Sequence[Mapping[str, Any]]) -> LettaReply:
        body: dict[str, Any] = {"messages": messages, "max_steps": self._manners.max_steps}
        if self._manners.tools:
            body["client_tools"] = [_client_tool(tool) for tool in self._manners.tools.values()]
        reply = await self._exchange.ask(body, self._take)
        if reply.failure is not None:
            raise reported_failure(reply.failure, place=self._place, secrets=self._server.secrets)
        return reply

    def _take(self, event: Event) -> None:
        if isinstance(event, ToolResult) and event.call_id in self._told:
            # The server repeats the result of a tool that ran here.
            return
        self._answered = self._answered or isinstance(event, AssistantMessage)
        self._record(event)

    def _require_answer(self, reply: LettaReply) -> None:
        failed = stop_failure(
            reply.stop_reason,
            answered=self._answered,
            place=self._place,
            secrets=self._server.secrets,
        )
        if failed is not None:
            raise failed

    def _failed(self, stop_reason: str) -> TargetError:
        failed = stop_failure(stop_reason, answered=self._answered, place=self._place)
        return failed or TargetError(stop_reason, code="bad_reply")

    async def _answers(self, calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
        """Run the calls of tools that are ours, and answer the others as the suite says."""
        ours = [call for call in calls if call.name in self._manners.tools]
        others = [call for call in calls if call.name not in self._manners.tools]
        if not calls:
            message = f"{self._place} waits for an approval, but has made no call"
            raise TargetError(message, code="bad_reply")
        if others and self._manners.approvals == "fail":
            raise self._unapproved(others)
        results = await run_together(ours, self._run, self._tell)
        given = [_approval(call, self._manners.approvals) for call in others]
        if given:
            self._record_approvals(given)
        return [*map(_tool_answer, results), *given]

    async def _run(self, call: ToolCall) -> ToolResult:
        fixtures, secrets = self._context.fixtures, self._server.secrets
        return await run_tool(call, self._manners.tools, fixtures, secrets=secrets)

    def _tell(self, result: ToolResult) -> None:
        self._told.add(result.call_id)
        self._record(result)

    def _unapproved(self, calls: Sequence[ToolCall]) -> TargetError:
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        return TargetError(
            f"the agent asks for approval of {names}",
            code="bad_request",
            hint="set target.approvals to approve or deny, or list the tool's file under "
            "target.client_tools",
        )

    def _record_approvals(self, given: Sequence[Mapping[str, Any]]) -> None:
        message = {
            "message_type": "approval_response_message",
            "approvals": list(given),
            "date": now().isoformat(),
        }
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
        with suppress(TargetError, TimeoutError):
            for run in self._exchange.runs:
                path = path_of("runs", run, "steps")
                rows += await limited(self._server.get(path, {"limit": 1000}), _STEPS_SECONDS)
        return with_step_rows(steps.all, steps.ids, rows)


def _client_tool(tool: Any) -> Mapping[str, Any]:
    described: Mapping[str, Any] = tool.schema["function"]
    return described


def _approval(call: ToolCall, policy: str) -> dict[str, Any]:
    approve = policy == "approve"
    reason = {} if approve else {"reason": _DENIED}
    return {"type": "approval", "approve": approve, "tool_call_id": call.call_id, **reason}


def _tool_answer(result: ToolResult) -> dict[str, Any]:
    return {
        "type": "tool",
        "tool_call_id": result.call_id,
        "tool_return": result.output,
        "status": "success" if result.ok else "error",
    }
