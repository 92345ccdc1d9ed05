"""Events of the OpenHands SDK (1.x): they come in, events of ours go out.

An action and its observation are paired by the call's id. What the model thought may stand twice,
in `reasoning_content` and in the visible text: it counts once. A tool's result is failed where
`is_error` says so, whatever its exit code.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from harness.messages.arguments import Arguments, read_arguments
from harness.messages.assistant_messages import read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import read_content
from harness.messages.foreign_times import read_time
from harness.messages.outputs import read_output
from harness.messages.thinking import split_thinking
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json
from harness.types.trajectories import Step, Usage

_NOTES = frozenset(
    {"Condensation", "CondensationRequest", "CondensationSummaryEvent", "HookExecutionEvent"}
    | {"InterruptEvent", "LLMCompletionLogEvent", "PauseEvent", "StreamingDeltaEvent"}
    | {"SystemPromptEvent", "TokenEvent"}
)
_ERRORS = ("ConversationErrorEvent", "ServerErrorEvent")
_LIMIT = "ConversationIterationLimitEvent"
_STATE = "ConversationStateUpdateEvent"
_BAD_ENDS = ("error", "stuck")


def is_sdk_event(value: Any) -> bool:
    """Say whether a value is an event of the SDK."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    named = isinstance(kind, str) and (
        "Event" in kind or "Condensation" in kind or "Reject" in kind
    )
    return named and "source" in value and "timestamp" in value


class OpenHandsSdkEvents:
    """Reads events into a conversation.

    `usage` is what was used in all; `failed` says why the conversation broke, None where it did
    not.
    """

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._response: str | None = None
        self._called: dict[str, str | None] = {}
        self.model: str | None = None
        self.usage = read_usage(None)
        self.failed: str | None = None

    def add(self, event: Any) -> None:
        """Add the next event.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        event = clean_json(event)
        kind = text_or_none(event.get("kind")) if isinstance(event, Mapping) else None
        if kind is None:
            self._builder.keep_unread("event", event)
            return
        fields = {"at": read_time(event.get("timestamp"))}
        try:
            self._read(kind, event, fields)
        except ValueError:
            self._builder.keep_unread(kind, event, **fields)

    def _read(self, kind: str, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        if kind == "MessageEvent":
            self._add_message(event, fields)
        elif kind == "ActionEvent":
            self._add_action(event, fields)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._add_result(event, fields)
        elif kind == _STATE:
            self._add_state(event, fields)
        elif kind in _ERRORS or kind == _LIMIT:
            told = text_or_none(event.get("detail")) or text_or_none(event.get("code"))
            self.failed = told or ("maximum iterations reached" if kind == _LIMIT else kind)
            self._builder.error(text_or_none(event.get("code")) or kind, self.failed, **fields)
        elif kind in _NOTES:
            self._builder.system(kind, _note_text(event), event, **fields)
        else:
            self._builder.keep_unread(kind, event, **fields)

    def _add_message(self, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        message = event.get("llm_message")
        if not isinstance(message, Mapping):
            raise ValueError("llm_message must be an object")  # noqa: TRY004  (kept as unread)
        content = read_content(message.get("content") or "")
        text = "\n".join(content.texts)
        if event.get("source") == "user":
            self._builder.user(text, **fields)
        elif message.get("role") == "assistant":
            self._begin(event)
            self._add_said(text, message, fields)
        else:
            self._builder.system("message", text, message, **fields)
        for block in content.others:
            self._builder.system(str(block.get("type", "content_block")), data=block, **fields)
        extended = event.get("extended_content")
        if isinstance(extended, list) and extended:
            self._builder.system("extended_content", "\n".join(_texts(extended)), **fields)

    def _begin(self, event: Mapping[str, Any]) -> None:
        own = text_or_none(event.get("llm_response_id"))
        if own is None or own != self._response:
            self._builder.begin_step(Step())
        self._response = own

    def _add_said(self, text: str, holder: Mapping[str, Any], fields: dict[str, Any]) -> None:
        visible, thoughts = split_thinking(text)
        plain = text_or_none(holder.get("reasoning_content"))
        blocks = holder.get("thinking_blocks")
        rows = blocks if isinstance(blocks, list) else []
        told = [row.get("thinking") for row in rows if isinstance(row, Mapping)]
        found = [plain, *told, *thoughts]
        stripped = [thought.strip() for thought in found if isinstance(thought, str)]
        for thought in dict.fromkeys(filter(None, stripped)):
            self._builder.reasoning(thought, **fields)
        if visible.strip():
            self._builder.assistant(visible, **fields)

    def _add_action(self, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        call = event.get("tool_call")
        call = call if isinstance(call, Mapping) else {}
        name = text_or_none(event.get("tool_name")) or text_or_none(call.get("name"))
        if name is None:
            raise ValueError("an action needs the name of its tool")
        own = read_id(event.get("tool_call_id")) or read_id(call.get("id"))
        action = event.get("action")
        action = action if isinstance(action, Mapping) else {}
        thought = event.get("thought")
        self._begin(event)
        said = thought if isinstance(thought, str) else "\n".join(_texts(thought or ()))
        self._add_said(said, event, fields)
        arguments = _arguments(call, action)
        self._builder.call(own, name, arguments.value, arguments_text=arguments.text, **fields)
        if isinstance(event.get("id"), str):
            self._called[event["id"]] = own
        if action.get("kind") == "FinishAction" and text_or_none(action.get("message")):
            self._builder.assistant(action["message"], **fields)

    def _add_result(self, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        action = text_or_none(event.get("action_id"))
        own = read_id(event.get("tool_call_id")) or self._called.get(action or "")
        # Without an id it would be paired with another call.
        call_id = own or f"event-{event.get('id')}"
        observation = event.get("observation")
        if isinstance(observation, Mapping):
            content = observation.get("content", observation.get("output"))
            rest = {k: v for k, v in observation.items() if k not in ("content", "is_error")}
            failed = bool(observation.get("is_error"))
            output = read_output({"content": rest if content is None else content})
            structured = output.structured if content is None else rest
            ok = not failed
        else:
            told = event.get("error", event.get("rejection_reason"))
            output, structured, ok = read_output({"content": told}), None, False
        self._builder.result(call_id, output.text, ok=ok, structured=structured or None, **fields)

    def _add_state(self, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        key, value = event.get("key"), event.get("value")
        if key == "stats" and isinstance(value, Mapping):
            self._count(value.get("usage_to_metrics"))
            return
        if key == "execution_status":
            self.failed = f"the agent ended with {value}" if value in _BAD_ENDS else None
        text = value if isinstance(value, str) else ""
        self._builder.system(text_or_none(key) or _STATE, text, value, **fields)

    def _count(self, metrics: Any) -> None:
        rows = metrics.values() if isinstance(metrics, Mapping) else ()
        found = [row for row in rows if isinstance(row, Mapping)]
        self.usage = sum((_usage(row) for row in found), Usage())
        models = (text_or_none(row.get("model_name")) for row in found)
        self.model = next((model for model in models if model), None)


def _usage(metrics: Mapping[str, Any]) -> Usage:
    numbers = metrics.get("accumulated_token_usage")
    numbers = numbers if isinstance(numbers, Mapping) else {}
    return read_usage({**numbers, "cost": metrics.get("accumulated_cost")})


def _texts(blocks: Any) -> Iterable[str]:
    return read_content(blocks if isinstance(blocks, list | tuple) else [blocks]).texts


def _note_text(event: Mapping[str, Any]) -> str:
    prompt = event.get("system_prompt")
    inner = prompt.get("text") if isinstance(prompt, Mapping) else event.get("summary")
    return inner if isinstance(inner, str) else ""


def _arguments(call: Mapping[str, Any], action: Mapping[str, Any]) -> Arguments:
    if "arguments" in call:
        return read_arguments(call["arguments"])
    return Arguments({key: value for key, value in action.items() if key != "kind"}, None)
