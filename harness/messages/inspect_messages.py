"""Messages of a sample of Inspect (log versions 1 and 2): messages come in, turns go out.

- A tool message failed where it has an `error`, whatever its text says. The words that Inspect puts
  around an output that was cut are no output.
- A tool that the provider runs (`tool_use` in the content) is a call with its result.
- Long texts stand in `attachments`; a reference to one is replaced by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.messages.arguments import read_arguments
from harness.messages.assistant_messages import part_event, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import Content, read_content, shape_error
from harness.messages.letta_messages import read_date
from harness.messages.outputs import read_output
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.trajectories import Step, Usage

_REFERENCES = ("attachment://", "tc://")
_MOST_ATTACHED = 2**28  # characters that references may stand for, in one sample
_CUT = "The output of your call to "
_CUT_BEGIN, _CUT_END = "<START_TOOL_OUTPUT>\n", "\n<END_TOOL_OUTPUT>"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What the log's events say of the call of the model that a message is the answer of."""

    step: Step
    at: datetime | None = None


class InspectConversation:
    """Reads the messages of one sample; `calls` are those of the model, by message."""

    def __init__(self, calls: Mapping[str, ModelCall]) -> None:
        self.builder = TurnBuilder()
        self._calls = calls

    def read(self, message: Any) -> None:
        """Read the next message.

        Raises:
            ValueError: it is not of that shape.
        """
        if not isinstance(message, Mapping):
            raise shape_error("a message must be an object", message)
        role = message.get("role")
        if role == "user":
            content = read_content(_content(message))
            self.builder.user("\n".join(content.texts))
            self._keep_parts(content)
        elif role == "system":
            content = read_content(_content(message))
            self.builder.system("system", "\n".join(content.texts))
            self._keep_parts(content)
        elif role == "assistant":
            self._assistant(message)
        elif role == "tool":
            self._result(message)
        else:
            word = scrub(role) if isinstance(role, str) and role else "unnamed"
            self.builder.keep_unread(f"{word}_role", clean_json(message))

    def _assistant(self, message: Mapping[str, Any]) -> None:
        told = self._calls.get(read_id(message.get("id")) or "")
        step = told.step if told else Step(model=text_or_none(message.get("model")))
        shared = {"at": told.at if told else None}
        self.builder.begin_step(step)
        content = read_content(_content(message))
        for block in content.others:
            if block.get("type") == "reasoning":
                self._think(block, shared)
        text, calls = "\n".join(content.texts), _calls_of(message)
        if text or not (content.others or calls):
            add_said(self.builder, text, **shared)
        for block in content.others:
            if block.get("type") == "tool_use":
                self._use_tool(block, shared)
            elif block.get("type") != "reasoning":
                self.builder.add_to_step(part_event(block, shared))
        for call in calls:
            self._call(call, shared)

    def _think(self, block: Mapping[str, Any], shared: dict[str, Any]) -> None:
        hidden = block.get("redacted") is True
        text = block.get("summary") if hidden else block.get("reasoning")
        if isinstance(text, str) and text:
            self.builder.reasoning(scrub(text), **shared)
        else:
            self.builder.system("hidden_reasoning", data=clean_json(block), **shared)

    def _use_tool(self, block: Mapping[str, Any], shared: dict[str, Any]) -> None:
        call = {"id": block.get("id"), "function": block.get("name")}
        self._call({**call, "arguments": block.get("arguments")}, shared)
        error, output = block.get("error"), read_output({"content": block.get("result")})
        text = output.text or (scrub(error) if isinstance(error, str) else "")
        told = {"ok": not error, "structured": output.structured}
        self.builder.result(read_id(block.get("id")), text, **told, **shared)

    def _call(self, call: Any, shared: dict[str, Any]) -> None:
        if not isinstance(call, Mapping):
            raise shape_error("a tool call must be an object", call)
        name = text_or_none(call.get("function"))
        if name is None:
            self.builder.keep_unread("unnamed_call", clean_json(call), **shared)
            return
        arguments = read_arguments(call.get("arguments"))
        sent = {"arguments_text": arguments.text}
        self.builder.call(read_id(call.get("id")), scrub(name), arguments.value, **sent, **shared)
        if problem := text_or_none(call.get("parse_error")):
            self.builder.system("parse_error", scrub(problem), **shared)

    def _result(self, message: Mapping[str, Any]) -> None:
        error = message.get("error")
        output = read_output({"content": message.get("content")})
        told = error.get("message") if isinstance(error, Mapping) else error
        text = _without_frame(output.text) or (scrub(told) if isinstance(told, str) else "")
        structured = output.structured
        if error:
            structured = {"content": structured, "error": clean_json(error)}
        call_id = read_id(message.get("tool_call_id"))
        self.builder.result(call_id, text, ok=not error, structured=structured)

    def _keep_parts(self, content: Content) -> None:
        for block in content.others:
            self.builder.add(part_event(block, {}))


def _content(message: Mapping[str, Any]) -> Any:
    content = message.get("content")
    return "" if content is None else content


def _calls_of(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise shape_error("tool_calls must be a list", calls)
    return calls or []


def _without_frame(text: str) -> str:
    """Return an output without the words that say it was cut."""
    begin, end = text.find(_CUT_BEGIN), text.rfind(_CUT_END)
    if not text.lstrip().startswith(_CUT) or begin < 0 or end < 0:
        return text
    return text[begin + len(_CUT_BEGIN) : end]


def read_model_calls(events: Any) -> dict[str, ModelCall]:
    """Return the calls of the model that a sample's events tell of, by the message they gave."""
    found = dict[str, ModelCall]()
    for event in events if isinstance(events, list) else []:
        if isinstance(event, Mapping) and event.get("event") == "model":
            output = event.get("output")
            choice = _first_choice(output) if isinstance(output, Mapping) else {}
            message = choice.get("message")
            name = read_id(message.get("id")) if isinstance(message, Mapping) else None
            if name is not None and isinstance(output, Mapping):
                at = read_date(event.get("timestamp"))
                found[name] = ModelCall(_step(output, choice, event), at)
    return found


def _first_choice(output: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _step(output: Mapping[str, Any], choice: Mapping[str, Any], event: Mapping[str, Any]) -> Step:
    seconds = output.get("time", event.get("working_time"))
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    model, reason = text_or_none(output.get("model")), text_or_none(choice.get("stop_reason"))
    return Step(
        usage=read_usage(output.get("usage")),
        model=scrub(model) if model else None,
        stop_reason=scrub(reason) if reason else None,
        seconds=float(seconds) if is_number and seconds >= 0 else None,
    )


def read_answer(output: Any) -> tuple[Any, Usage]:
    """Return the message that a sample's output holds, and what it used; None for no message."""
    fields = output if isinstance(output, Mapping) else {}
    return _first_choice(fields).get("message"), read_usage(fields.get("usage"))


class Attachments:
    """Replaces references by the texts they stand for, up to a sum of characters."""

    def __init__(self, texts: Any) -> None:
        self._texts = texts if isinstance(texts, Mapping) else {}
        self._left = _MOST_ATTACHED

    def resolve(self, value: Any) -> Any:
        """Return a JSON value with every reference in it replaced.

        Raises:
            ValueError: the references stand for more text than a sample can be.
        """
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        if isinstance(value, dict):
            return {name: self.resolve(inner) for name, inner in value.items()}
        return value

    def _text(self, text: str) -> str:
        for protocol in _REFERENCES:
            if text.startswith(protocol):
                found = self._texts.get(text.removeprefix(protocol))
                if isinstance(found, str):
                    self._left -= len(found)
                    if self._left < 0:
                        raise ValueError("its attachments hold too much text")
                    return found
        return text


def outcome_of(value: Any) -> Any:
    """Return the value of a score as an outcome: C, I, P and N are numbers, lists are JSON text."""
    if isinstance(value, list):
        return compact_json(value)
    if not isinstance(value, str):
        return value
    letters = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
    words = {"yes": True, "true": True, "no": False, "false": False}
    return letters.get(value, words.get(value.lower(), value))
