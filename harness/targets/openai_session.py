"""One conversation of the target `openai`: ask the model, run the tools it calls, ask again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.endpoints.endpoints import Endpoint
from harness.endpoints.failures import failure
from harness.endpoints.resending import resend
from harness.messages.assistant_messages import MODEL_REFUSAL, read_assistant_message, read_id
from harness.messages.completions import ModelReply, as_request_message
from harness.system.clock import monotonic, now
from harness.system.json_values import clean_json
from harness.system.redaction import redact, redact_json
from harness.targets.openai_agent import OpenAIAgent
from harness.targets.tool_calls import failed_output, result_of, run_together, run_tool
from harness.targets.toolbox import Toolbox
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, Event, SystemEvent, ToolCall, ToolResult
from harness.types.protocols import AttemptContext, Record
from harness.types.suites import SCRIPTED
from harness.types.trajectories import Step

PARTIAL = "partial_reply"
"""The kind of the system event that holds a reply which was cut: no answer, and no calls."""

MOST_CALLS = 1_000
"""How many tools one reply may call."""


@dataclass(frozen=True, slots=True)
class _ReplyPlace:
    """The place of a reply in the conversation: its turn, and its step in the turn."""

    turn: int
    step: int


class OpenAISession:
    """A conversation with one agent; a turn ends with the first reply that calls no tool.

    - A reply without text and calls ends the turn with an empty text.
    - A refusal ends the turn; its text is a system event, since it is not the message's content.
    - A reply that was cut at its token limit counts as far as it goes; a call in it whose
      arguments are incomplete is not run, and its result says so.
    - A reply that calls more than `MOST_CALLS` tools is none: `bad_reply`.
    - A reply that the provider's content filter stopped ends the attempt.
    """

    paces_requests = True

    def __init__(
        self,
        *,
        agent: OpenAIAgent,
        endpoint: Endpoint,
        tools: Toolbox,
        context: AttemptContext,
    ) -> None:
        self._agent = agent
        self._endpoint = endpoint
        self._tools = tools
        self._context = context
        self._messages = _opening(agent, context)
        self._request = _request(agent, tools, context)
        self._turn = 0

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: there was no answer, or none after `max_steps` replies.
        """
        self._messages.append({"role": "user", "content": text})
        turn = self._turn
        self._turn += 1
        for step in range(self._agent.max_steps):
            reply = await self._ask(_ReplyPlace(turn, step), record)
            calls = self._take(reply, step, record)
            if not calls:
                return
            if step + 1 < self._agent.max_steps:
                await self._run(calls, reply, record)
        raise TargetError(
            f"no answer after {self._agent.max_steps} replies of the model",
            code="max_steps",
            hint="raise target.max_steps if the task needs more",
        )

    async def close(self) -> None:
        """Leave the conversation; the clients are the connection's."""

    async def _ask(self, place: _ReplyPlace, record: Record) -> ModelReply:
        started = monotonic()

        def keep(part: ModelReply) -> None:
            record(_step(part, monotonic() - started))
            record(_partial(part, place.step, self._endpoint.secrets))

        async def ask() -> ModelReply:
            nonlocal started
            started = monotonic()
            body = {**self._request, "messages": self._messages}
            return await self._endpoint.ask(body, keep)

        reply: ModelReply = await resend(lambda: self._context.paced(ask), wait=self._context.wait)
        reply = replace(reply, message=_with_ids(reply.message, place))
        if reply.stop_reason == "content_filter":
            keep(reply)
            raise TargetError("the provider's filter stopped the reply", code="content_filter")
        record(_step(reply, monotonic() - started))
        return reply

    def _take(self, reply: ModelReply, step: int, record: Record) -> list[ToolCall]:
        """Record what a reply says, add it to the conversation, and return its calls."""
        try:
            _require_few_calls(reply)
            events: Sequence[Event] = read_assistant_message(reply.message, step=step, at=now())
        except ValueError as error:
            record(_partial(reply, step, self._endpoint.secrets))
            message = f"the reply's message: {error}"
            raise failure(message, code="bad_reply", secrets=self._endpoint.secrets) from error
        for event in events if any(map(_is_answer, events)) else (*events, _silence(step)):
            record(event)
        self._messages.append(as_request_message(reply.message))
        return [event for event in events if isinstance(event, ToolCall)]

    async def _run(self, calls: Sequence[ToolCall], reply: ModelReply, record: Record) -> None:
        cut = reply.stop_reason == "length"

        async def run(call: ToolCall) -> ToolResult:
            if cut and (not isinstance(call.arguments, dict) or call.arguments_text == ""):
                text = "not run: the reply was cut at its token limit, inside this call"
                return result_of(call, failed_output(text))
            fixtures, secrets = self._context.fixtures, self._endpoint.secrets
            return await run_tool(call, self._tools, fixtures, secrets=secrets)

        for result in await run_together(calls, run, record):
            self._messages.append(
                {"role": "tool", "tool_call_id": result.call_id, "content": result.output}
            )


def _opening(agent: OpenAIAgent, context: AttemptContext) -> list[Mapping[str, Any]]:
    instructions = agent.instructions
    system = [] if instructions is None else [{"role": "system", "content": instructions}]
    return [*system, *context.sample.history]


def _request(agent: OpenAIAgent, tools: Toolbox, context: AttemptContext) -> dict[str, Any]:
    """Return the body of a request without its messages."""
    body = {**agent.request, "model": context.model}
    schemas = [*(body.get("tools") or []), *(tool.schema for tool in tools.values())]
    if schemas:
        body["tools"] = schemas
    if body.get("stream"):
        body.setdefault("stream_options", {"include_usage": True})
    if context.model.startswith(SCRIPTED):
        body.setdefault("seed", context.epoch)
    return body


def _with_ids(message: dict[str, Any], place: _ReplyPlace) -> dict[str, Any]:
    """Give every call of a reply an id of its own; missing and repeated ones are made up."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    seen: set[str] = set()
    named = []
    for index, call in enumerate(calls):
        call_id = read_id(call.get("id")) if isinstance(call, Mapping) else None
        if call_id is None or call_id in seen:
            call_id = f"call_{place.turn}_{place.step}_{index}"
        seen.add(call_id)
        named.append({**call, "id": call_id} if isinstance(call, Mapping) else call)
    return {**message, "tool_calls": named}


def _step(reply: ModelReply, seconds: float) -> Step:
    return Step(
        usage=reply.usage, model=reply.model, stop_reason=reply.stop_reason, seconds=seconds
    )


def _require_few_calls(reply: ModelReply) -> None:
    count = len(reply.message.get("tool_calls", ()))
    if count > MOST_CALLS:
        raise ValueError(f"{count:,} tool calls; a reply may have {MOST_CALLS:,}")


def _partial(reply: ModelReply, step: int, secrets: Collection[str]) -> SystemEvent:
    """Return a cut reply as an event, without secrets: it may be an error page."""
    content = reply.message.get("content")
    return SystemEvent(
        kind=PARTIAL,
        text=redact(content, secrets) if isinstance(content, str) else "",
        data=redact_json(clean_json(reply.message), secrets),
        step=step,
        at=now(),
    )


def _is_answer(event: Event) -> bool:
    refusal = isinstance(event, SystemEvent) and event.kind == MODEL_REFUSAL
    return refusal or isinstance(event, AssistantMessage | ToolCall)


def _silence(step: int) -> AssistantMessage:
    return AssistantMessage(text="", step=step, at=now())
