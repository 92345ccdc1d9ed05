"""What the attributes and events of a span say, in the words of those who write them.

Read are the GenAI semantic conventions (1.28 to 1.40), Pydantic AI (0.x to 2.x), Google's Agent
Development Kit (1.x, 2.x), OpenInference (0.1), OpenLLMetry (0.x) and AutoGen (0.4 and newer).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from harness.messages.arguments import Arguments, read_arguments
from harness.messages.assistant_messages import read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.otel_messages import (
    SpanMessage,
    parse_messages,
    read_message,
    unwrap_result,
)
from harness.messages.otel_spans import Span
from harness.messages.outputs import Output, read_output
from harness.system.json_values import load_json
from harness.types.events import ToolResult
from harness.types.trajectories import Step

Kind = Literal["model", "tool", "agent", "maker", "other"]

_MODELS = ("chat", "completion", "generate_content", "text_completion")
_OPERATION = "gen_ai.operation.name"
_INFERENCE, _LOOM = "openinference.span.kind", "traceloop.span.kind"
_MESSAGE_EVENTS: Mapping[str, str] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_HISTORIES = ("pydantic_ai.all_messages", "all_messages", "all_messages_events")
_ADK_REQUEST, _ADK_RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
_ADK_OUTPUT = "gcp.vertex.agent.tool_response"
_REPEATED = (
    *("gen_ai.input.messages", "gen_ai.output.messages", "events", *_HISTORIES),
    *(_ADK_REQUEST, _ADK_RESPONSE, "final_result", "logfire.json_schema"),
)
_FLAT = ("llm.input_messages.", "llm.output_messages.", "gen_ai.prompt.", "gen_ai.completion.")

Talk = tuple[list[SpanMessage], list[SpanMessage]]
"""What a model was given, and what it said."""


def kind_of(span: Span) -> Kind:
    """Tell what a span is: a model's reply, a tool's run, an agent's, its making, or another."""
    operation = span.text(_OPERATION) or ""
    marked = (span.text(_INFERENCE) or "").upper()
    woven = span.text(_LOOM) or ""
    if operation == "execute_tool" or marked == "TOOL" or woven == "tool":
        # One of Google's spans sums up several tools that were run at once.
        return "other" if span.text("gen_ai.tool.name") == "(merged tools)" else "tool"
    if operation == "create_agent":
        return "maker"
    if operation in ("invoke_agent", "invoke_workflow") or marked in ("AGENT", "CHAIN") or woven:
        return "agent"
    if operation in _MODELS or marked == "LLM" or span.text("llm.request.type"):
        return "model"
    if len(span.text(_ADK_RESPONSE) or "") > len("{}"):
        return "model"
    return "agent" if span.first(*_HISTORIES) is not None else "other"


def talk_of(span: Span) -> Talk:
    """Return the messages of a model's or an agent's span; of several ways to say it, the first."""
    given: list[SpanMessage] = []
    said: list[SpanMessage] = []
    for inputs, outputs in _talks(span):
        given, said = given or inputs, said or outputs
        if given and said:
            break
    holders = (span.attributes, *(event.attributes for event in span.events))
    told = (holder.get("gen_ai.system_instructions") for holder in holders)
    system = next(filter(None, told), None)
    return [*(parse_messages(system, "system") if system else []), *given], said


def _talks(span: Span) -> Iterator[Talk]:
    holders = [span.attributes, *(event.attributes for event in span.events)]
    for holder in holders:
        yield _conventional(holder)
    yield _adk(span.attributes)
    yield (
        _flat(span.attributes, "llm.input_messages."),
        _flat(span.attributes, "llm.output_messages.", "assistant"),
    )
    yield (
        _flat(span.attributes, "gen_ai.prompt."),
        _flat(span.attributes, "gen_ai.completion.", "assistant"),
    )
    yield _by_events([(event.name, event.attributes) for event in span.events])
    yield _by_events(_logged(span.attributes.get("events")))
    for name in _HISTORIES:
        yield _history(span.attributes.get(name)), []
    for holder in holders:
        prompt, completion = holder.get("gen_ai.prompt"), holder.get("gen_ai.completion")
        yield parse_messages(prompt or []), parse_messages(completion or [], "assistant")


def _conventional(holder: Mapping[str, Any]) -> Talk:
    given = parse_messages(holder.get("gen_ai.input.messages") or [])
    said = parse_messages(holder.get("gen_ai.output.messages") or [], "assistant")
    return given, said


def _adk(attributes: Mapping[str, Any]) -> Talk:
    request, response = (_parsed(attributes.get(key)) for key in (_ADK_REQUEST, _ADK_RESPONSE))
    config = request.get("config")
    system = config.get("system_instruction") if isinstance(config, Mapping) else None
    content = response.get("content")
    contents = request.get("contents")
    given = parse_messages(contents) if isinstance(contents, list) else []
    said = parse_messages([content], "assistant") if isinstance(content, Mapping) else []
    return [*(parse_messages(system, "system") if system and given else []), *given], said


def _parsed(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = load_json(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def _flat(attributes: Mapping[str, Any], prefix: str, role: str = "user") -> list[SpanMessage]:
    """Read messages whose fields are attributes of their own: `….0.message.content`."""
    found = _numbered(attributes, prefix)
    return [read_message(_flat_message(fields), role) for fields in found]


def _numbered(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Group attributes by the number that follows a prefix, in the order of the numbers."""
    rows = []
    for name, value in attributes.items():
        number, _, rest = name.removeprefix(prefix).partition(".")
        if name.startswith(prefix) and number.isdecimal() and len(number) < 10:  # noqa: PLR2004
            rows.append((int(number), rest, value))
    rows.sort(key=lambda row: row[0])
    groups = groupby(rows, key=lambda row: row[0])
    return [{rest: value for _, rest, value in group} for _, group in groups]


def _flat_message(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = {name.removeprefix("message."): value for name, value in fields.items()}
    calls = [
        {name.removeprefix("tool_call."): value for name, value in call.items()}
        for call in _numbered(fields, "tool_calls.")
    ]
    contents = [
        {name.removeprefix("message_content."): value for name, value in block.items()}
        for block in _numbered(fields, "contents.")
    ]
    return {
        **{name: value for name, value in fields.items() if "." not in name},
        **({"content": contents} if contents and not fields.get("content") else {}),
        "tool_calls": [
            {
                "id": call.get("id"),
                "name": call.get("function.name", call.get("name")),
                "arguments": call.get("function.arguments", call.get("arguments")),
            }
            for call in calls
        ],
    }


def _logged(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the events that an attribute lists, each with its name."""
    if isinstance(value, str):
        try:
            value = load_json(value)
        except ValueError:
            return []
    rows = value if isinstance(value, list) else []
    return [(str(row.get("event.name")), row) for row in rows if isinstance(row, Mapping)]


def _history(value: Any) -> list[SpanMessage]:
    logged = _logged(value)
    if any(name in _MESSAGE_EVENTS or name == _CHOICE for name, _ in logged):
        given, said = _by_events(logged)
        return [*given, *said]
    return parse_messages(value or [])


def _by_events(events: list[tuple[str, Mapping[str, Any]]]) -> Talk:
    """Read the conventions up to 1.36: an event a message, and one a choice."""
    given: list[SpanMessage] = []
    said: list[SpanMessage] = []
    for name, fields in events:
        if name in _MESSAGE_EVENTS:
            given.append(read_message({"role": _MESSAGE_EVENTS[name], **fields}))
        elif name == _CHOICE:
            inner = fields.get("message")
            if isinstance(inner, str):
                said += parse_messages(inner, "assistant")
            else:
                said.append(read_message(fields, "assistant"))
    return given, said


def step_of(span: Span, said: list[SpanMessage]) -> Step:
    """Return the numbers of a model's reply."""
    reasons = span.first("gen_ai.response.finish_reasons", "llm.finish_reason")
    reason = reasons[0] if isinstance(reasons, list) and reasons else reasons
    seconds = (span.end - span.start).total_seconds() if span.start and span.end else None
    numbers = {
        "input_tokens": span.first(
            "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        ),
        "output_tokens": span.first(
            *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
            "llm.token_count.completion",
        ),
        "cost": span.first("operation.cost", "gen_ai.usage.cost", "llm.cost.total"),
    }
    return Step(
        usage=read_usage(numbers),
        model=span.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
        stop_reason=text_or_none(reason) or next((m.reason for m in said if m.reason), None),
        seconds=seconds if seconds is not None and seconds >= 0 else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """What a tool's span says: `output` is None where it does not tell what the tool gave back."""

    call_id: str | None
    name: str
    arguments: Arguments | None
    output: Output | None
    error: str | None


def run_of(span: Span) -> ToolRun:
    """Read a tool's span."""
    raw = span.first(
        *("gen_ai.tool.call.arguments", "tool_arguments", "gcp.vertex.agent.tool_call_args"),
        *("tool.parameters", "input.value", "traceloop.entity.input"),
    )
    output, told_id, failed = _output_of(span)
    given = [read_message(e.attributes, "tool") for e in span.events if e.name in _MESSAGE_EVENTS]
    if raw is None:
        # Some write the arguments as a message to the tool.
        events = (event for message in given for event in message.events)
        raw = next((event.output for event in events if isinstance(event, ToolResult)), None)
    named = span.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name")
    return ToolRun(
        call_id=read_id(span.first("gen_ai.tool.call.id", "tool_call.id", "tool.id")) or told_id,
        name=named or span.name.removeprefix("execute_tool ").removeprefix("running tool: "),
        arguments=None if raw is None else read_arguments(raw),
        output=output,
        error=span.error or ("the tool failed" if failed else None),
    )


def _output_of(span: Span) -> tuple[Output | None, str | None, bool]:
    """Return what a tool gave back, the call's id where it is told there, and whether it failed."""
    if _ADK_OUTPUT in span.attributes:
        value = _parsed(span.attributes[_ADK_OUTPUT]) or span.attributes[_ADK_OUTPUT]
        return unwrap_result(value), None, False
    names = ("gen_ai.tool.call.result", "tool_response", "output.value", "traceloop.entity.output")
    value = span.first(*names)
    if value is None:
        choices = (event for event in span.events if event.name == _CHOICE)
        found = next((event.attributes.get("message") for event in choices), None)
        said = parse_messages(found or [], "tool")
        texts = [text for message in said for text in message.texts]
        return (read_output({"content": "\n".join(texts)}) if texts else None), None, False
    envelope = _parsed(value)
    if "tool_call_id" in envelope and "content" in envelope:
        # LangChain's message of a tool.
        failed = envelope.get("status") == "error"
        told = read_output({"content": envelope["content"], "is_error": failed})
        return told, read_id(envelope["tool_call_id"]), failed
    return read_output({"content": value}), None, False


def rest_of(span: Span) -> dict[str, Any]:
    """Return a span without the messages that stand elsewhere too."""
    kept = {
        name: value
        for name, value in span.attributes.items()
        if name not in _REPEATED and not name.startswith(_FLAT)
    }
    return {"span_id": span.own, "name": span.name, "attributes": kept}
