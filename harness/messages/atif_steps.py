"""Steps of ATIF, the Agent Trajectory Interchange Format (1.0 to 1.8): steps come in, turns go out.

- A step of the user begins a turn; one of the agent is a reply of the model.
- A result without `source_call_id` answers the calls of its step in their order, which a system
  event `paired_by_position` says. What was observed without any call is no result: a system event
  `observation`.
- A trajectory of a sub-agent, and a reference to one, is a system event; its calls are not those of
  this agent.
- A field that the format does not know is a system event `unknown_field`.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from harness.messages.arguments import read_arguments
from harness.messages.assistant_messages import part_event, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import read_content, shape_error
from harness.messages.letta_messages import read_date
from harness.messages.outputs import read_output
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.trajectories import Step

PAIRED_BY_POSITION = "paired_by_position"
OBSERVATION = "observation"
SUBAGENT = "subagent_trajectory"
SUBAGENT_REFERENCE = "subagent_trajectory_ref"
UNKNOWN_FIELD = "unknown_field"

_STEP = frozenset(
    {
        *("step_id", "timestamp", "source", "model_name", "reasoning_effort", "message"),
        *("reasoning_content", "tool_calls", "observation", "metrics", "is_copied_context"),
        *("llm_call_count", "extra"),
    }
)
_CALL = frozenset({"tool_call_id", "function_name", "arguments", "extra"})
_RESULT = frozenset({"source_call_id", "content", SUBAGENT_REFERENCE, "extra"})


class AtifConversation:
    """Reads the steps of one conversation, which several trajectories may hold together."""

    def __init__(self) -> None:
        self.builder = TurnBuilder()
        self._seen: set[str] = set()

    def read(self, steps: Any, *, continued: bool = False) -> None:
        """Read the steps of a trajectory.

        Where it continues another, steps that repeat those of the earlier one as its context are
        left out.

        Raises:
            ValueError: they are not of that shape; the text names the index.
        """
        if not isinstance(steps, list):
            raise shape_error("steps must be a list", steps)
        said = set[str]()
        for index, step in enumerate(steps):
            if not isinstance(step, Mapping):
                raise shape_error(f"steps[{index}] must be an object", step)
            key = compact_json([step.get("source"), step.get("message")])
            said.add(key)
            if continued and step.get("is_copied_context") and key in self._seen:
                continue
            try:
                self._read(step)
            except ValueError as error:
                raise ValueError(f"steps[{index}]: {error}") from error
        self._seen |= said

    def add_subagents(self, trajectories: Any) -> None:
        """Keep the trajectories of sub-agents that stand in that of the agent."""
        for one in trajectories if isinstance(trajectories, list) else []:
            agent = one.get("agent") if isinstance(one, Mapping) else None
            name = text_or_none(agent.get("name")) if isinstance(agent, Mapping) else None
            self.builder.system(SUBAGENT, scrub(name or ""), data=clean_json(one))

    def _read(self, step: Mapping[str, Any]) -> None:
        shared = {"at": read_date(step.get("timestamp"))}
        source = step.get("source")
        if source == "user":
            self._user(step, shared)
        elif source == "agent":
            self._agent(step, shared)
        elif source == "system":
            text, others = _message(step)
            self.builder.system("system", text, **shared)
            self._keep_parts(others, shared)
        else:
            self.builder.keep_unread("step", clean_json(step), **shared)
            return
        self._observe(step, shared)
        self._keep_unknown(step, _STEP, shared)

    def _user(self, step: Mapping[str, Any], shared: dict[str, Any]) -> None:
        text, others = _message(step)
        self.builder.user(text, **shared)
        self._keep_parts(others, shared)

    def _agent(self, step: Mapping[str, Any], shared: dict[str, Any]) -> None:
        self.builder.begin_step(_reply(step))
        thought = step.get("reasoning_content")
        if isinstance(thought, str) and thought:
            self.builder.reasoning(scrub(thought), **shared)
        text, others = _message(step)
        if text:
            add_said(self.builder, text, **shared)
        self._keep_parts(others, shared)
        for call in _calls(step):
            self._call(call, shared)

    def _call(self, call: Mapping[str, Any], shared: dict[str, Any]) -> None:
        name = call.get("function_name")
        if not isinstance(name, str) or not name:
            self.builder.keep_unread("unnamed_call", clean_json(call), **shared)
            return
        arguments = read_arguments(call.get("arguments"))
        sent = {"arguments_text": arguments.text}
        call_id = read_id(call.get("tool_call_id"))
        self.builder.call(call_id, scrub(name), arguments.value, **sent, **shared)
        self._keep_unknown(call, _CALL, shared)

    def _observe(self, step: Mapping[str, Any], shared: dict[str, Any]) -> None:
        observation = step.get("observation")
        if observation is None:
            return
        results = observation.get("results") if isinstance(observation, Mapping) else None
        if not isinstance(results, list):
            raise shape_error("observation.results must be a list", results)
        calls = [read_id(call.get("tool_call_id")) for call in _calls(step)]
        answered = {read_id(r.get("source_call_id")) for r in results if isinstance(r, Mapping)}
        waiting = deque(call for call in calls if call is None or call not in answered)
        for result in results:
            if not isinstance(result, Mapping):
                raise shape_error("a result must be an object", result)
            self._result(result, waiting, shared)

    def _result(
        self, result: Mapping[str, Any], waiting: deque[str | None], shared: dict[str, Any]
    ) -> None:
        call_id = read_id(result.get("source_call_id"))
        output = read_output({"content": result.get("content")})
        if call_id is not None or waiting:
            by_position = call_id is None
            call_id = waiting.popleft() if by_position else call_id
            extra = result.get("extra")
            structured = output.structured
            if extra:
                structured = {"content": structured, "extra": clean_json(extra)}
            self.builder.result(call_id, output.text, structured=structured, **shared)
            if by_position:
                self.builder.system(PAIRED_BY_POSITION, data={"tool_call_id": call_id}, **shared)
        elif result.get("content") is not None:
            self.builder.system(OBSERVATION, output.text, data=output.structured, **shared)
        if result.get(SUBAGENT_REFERENCE):
            references = clean_json(result[SUBAGENT_REFERENCE])
            self.builder.system(SUBAGENT_REFERENCE, data=references, **shared)
        self._keep_unknown(result, _RESULT, shared)

    def _keep_parts(self, parts: Iterable[Mapping[str, Any]], shared: dict[str, Any]) -> None:
        for part in parts:
            self.builder.add(part_event(part, shared))

    def _keep_unknown(
        self, fields: Mapping[str, Any], known: frozenset[str], shared: dict[str, Any]
    ) -> None:
        unknown = {name: value for name, value in fields.items() if name not in known}
        if unknown:
            self.builder.keep_unread(UNKNOWN_FIELD, clean_json(unknown), **shared)


def _message(step: Mapping[str, Any]) -> tuple[str, tuple[dict[str, Any], ...]]:
    message = step.get("message")
    content = read_content("" if message is None else message)
    return "\n".join(content.texts), content.others


def _calls(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = step.get("tool_calls")
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise shape_error("tool_calls must be a list", calls)
    for call in calls:
        if not isinstance(call, Mapping):
            raise shape_error("a tool call must be an object", call)
    return calls


def _reply(step: Mapping[str, Any]) -> Step:
    metrics = step.get("metrics")
    told = metrics if isinstance(metrics, Mapping) else {}
    usage = read_usage({**told, "cost": told.get("cost_usd")})
    model = text_or_none(step.get("model_name"))
    return Step(usage=usage, model=scrub(model) if model else None)
