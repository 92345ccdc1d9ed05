"""Events of OpenHands (0.x, OpenDevin included): actions and observations come in, events go out.

A call is an action that the agent took, by `tool_call_metadata` where the model called a tool; an
observation answers it by the call's id, or by the action that is its `cause`. `message` is a stock
text of the program and is never read. What the program says to keep an agent going is no turn.
"""

from collections.abc import Mapping
from typing import Any

from harness.messages.arguments import Arguments, read_arguments
from harness.messages.assistant_messages import calls_of, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.foreign_times import read_time
from harness.messages.outputs import read_output
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json
from harness.types.trajectories import Step

CONTINUE = "continue_prompt"
"""The kind of the system event that holds what the program says to keep an agent going."""

_CONTINUE = "Please continue working on the task on whatever approach you think is suitable."
_TOOLS = frozenset(
    {"browse", "browse_interactive", "call_tool_mcp", "delegate", "edit", "finish", "mcp", "push"}
    | {"read", "reject", "run", "run_ipython", "task_tracking", "think", "write"}
)
_ANSWERS = _TOOLS | {"chat", "download", "error", "failed", "success", "user_rejected"}
_NOTES = frozenset(
    {"add_task", "agent_state_changed", "change_agent_state", "condensation"}
    | {"condensation_request", "condense", "initialize", "loop_detection", "loop_recovery"}
    | {"modify_task", "null", "pause", "recall", "resume", "start", "stop", "summarize", "system"}
)
_FAILED = ("error", "user_rejected", "failed")
_BESIDE = ("thought", "security_risk", "confirmation_state", "hidden", "blocking", "is_confirmed")


def is_event(value: Any) -> bool:
    """Say whether a value is an action or an observation."""
    if not isinstance(value, Mapping):
        return False
    named = any(isinstance(value.get(key), str) for key in ("action", "observation"))
    return named and any(key in value for key in ("args", "extras", "content", "cause"))


class OpenHandsEvents:
    """Reads events into a conversation.

    `usage` is what was used in all; `failed` says why the agent's state is an error, None where it
    is none.
    """

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._response: str | None = None
        self._called: dict[Any, str] = {}
        self._users: set[Any] = set()
        self.model: str | None = None
        self.usage = read_usage(None)
        self.failed: str | None = None

    def add(self, event: Any) -> None:
        """Add the next event, or a pair of an action and its observation.

        Raises:
            ValueError: it cannot be kept as JSON.
        """
        event = clean_json(event)
        for one in event if isinstance(event, list) else [event]:
            self._add(one)

    def _add(self, event: Any) -> None:
        if not is_event(event):
            self._builder.keep_unread("event", event)
            return
        self._count(event.get("llm_metrics"))
        fields = {"at": read_time(event.get("timestamp"))}
        action = text_or_none(event.get("action"))
        if action is not None:
            self._add_action(action, event, fields)
        else:
            self._add_observation(str(event.get("observation")), event, fields)

    def _count(self, metrics: Any) -> None:
        if isinstance(metrics, Mapping):
            numbers = metrics.get("accumulated_token_usage")
            numbers = numbers if isinstance(numbers, Mapping) else {}
            self.usage = read_usage({**numbers, "cost": metrics.get("accumulated_cost")})

    def _add_action(self, action: str, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        source = event.get("source")
        args = event.get("args")
        args = args if isinstance(args, Mapping) else {}
        if action == "message":
            self._add_message(str(source), args, event, fields)
        elif action in _NOTES:
            self._builder.system(action, text_or_none(args.get("content")) or "", event, **fields)
        elif source == "user":
            self._users.add(_key(event.get("id")))
            self._builder.system("user_action", action, event, **fields)
        elif action in _TOOLS or isinstance(event.get("tool_call_metadata"), Mapping):
            self._add_call(action, args, event, fields)
        else:
            self._builder.keep_unread(action, event, **fields)

    def _add_message(
        self, source: str, args: Mapping[str, Any], event: Any, fields: dict[str, Any]
    ) -> None:
        text = args.get("content")
        if not isinstance(text, str):
            self._builder.keep_unread("message", event, **fields)
        elif source == "user" and text.startswith(_CONTINUE):
            self._builder.system(CONTINUE, text, **fields)
        elif source == "user":
            self._builder.user(text, **fields)
        elif source == "agent":
            self._begin(event.get("tool_call_metadata"))
            add_said(self._builder, text, **fields)
        else:
            self._builder.system("message", text, **fields)
        if args.get("image_urls"):
            self._builder.system("image_urls", data=args["image_urls"], **fields)

    def _begin(self, metadata: Any) -> Mapping[str, Any]:
        """Begin a step where a reply is new; return its message, else nothing."""
        response = metadata.get("model_response") if isinstance(metadata, Mapping) else None
        response = response if isinstance(response, Mapping) else {}
        own = text_or_none(response.get("id"))
        if own is not None and own == self._response:
            return {}
        self._response = own
        choices = response.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        choice = first if isinstance(first, Mapping) else {}
        model = text_or_none(response.get("model"))
        self.model = self.model or model
        reason = text_or_none(choice.get("finish_reason"))
        usage = read_usage(response.get("usage"))
        self._builder.begin_step(Step(usage=usage, model=model, stop_reason=reason))
        message = choice.get("message")
        return message if isinstance(message, Mapping) else {"content": None}

    def _add_call(
        self, action: str, args: Mapping[str, Any], event: Mapping[str, Any], fields: dict[str, Any]
    ) -> None:
        metadata = event.get("tool_call_metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        message = self._begin(metadata)
        thought = text_or_none(message.get("reasoning_content"))
        if thought:
            self._builder.reasoning(thought, **fields)
        # The tool `think` has its argument under the name that elsewhere is what was said.
        said = args.get("thought") if action != "think" else None
        text = text_or_none(message.get("content")) or text_or_none(said)
        if text:
            add_said(self._builder, text, **fields)
        own = read_id(metadata.get("tool_call_id")) or f"event-{event.get('id')}"
        self._called[_key(event.get("id"))] = own
        arguments = _arguments(own, args, metadata)
        name = text_or_none(metadata.get("function_name")) or action
        self._builder.call(own, name, arguments.value, arguments_text=arguments.text, **fields)
        told = text_or_none(args.get("final_thought")) if action == "finish" else None
        if told:
            self._builder.assistant(told, **fields)

    def _add_observation(self, kind: str, event: Mapping[str, Any], fields: dict[str, Any]) -> None:
        content, extras = event.get("content"), event.get("extras")
        extras = extras if isinstance(extras, Mapping) else {}
        metadata = event.get("tool_call_metadata")
        told = read_id(metadata.get("tool_call_id")) if isinstance(metadata, Mapping) else None
        cause = _key(event.get("cause"))
        call_id = told or self._called.get(cause)
        text = content if isinstance(content, str) else ""
        if kind == "agent_state_changed":
            self._add_state(extras)
        if call_id is None and (kind in _NOTES or cause in self._users):
            self._builder.system(kind, text, event, **fields)
        elif call_id is None and kind == "error":
            self._builder.error(kind, text, **fields)
        elif call_id is None and kind not in _ANSWERS:
            self._builder.keep_unread(kind, event, **fields)
        else:
            failed = kind in _FAILED or event.get("success") is False or extras.get("error") is True
            output = read_output({"content": content, "is_error": failed})
            # Without its call, an id of its own keeps it from being paired with another.
            own = call_id or f"event-{event.get('cause', event.get('id'))}"
            structured = output.structured or dict(extras) or None
            self._builder.result(own, output.text, ok=output.ok, structured=structured, **fields)

    def _add_state(self, extras: Mapping[str, Any]) -> None:
        is_error = extras.get("agent_state") == "error"
        self.failed = (text_or_none(extras.get("reason")) or "no reason") if is_error else None


def _key(value: Any) -> Any:
    return value if isinstance(value, int | str) else None


def _arguments(own: str, args: Mapping[str, Any], metadata: Mapping[str, Any]) -> Arguments:
    """Return the arguments as the model sent them, else those of the action."""
    response = metadata.get("model_response")
    choices = response.get("choices") if isinstance(response, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    try:
        calls = calls_of(message) if isinstance(message, Mapping) else []
    except ValueError:
        calls = []
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and call.get("id") == own:
            return read_arguments(function.get("arguments"))
    return Arguments({key: value for key, value in args.items() if key not in _BESIDE}, None)
