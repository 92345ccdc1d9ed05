"""Contents of Google's Gemini API (v1beta), and messages of the Gemini CLI: turns go out.

- Contents are `{"role": "user" | "model", "parts": [...]}`. A `functionResponse` answers the call
  of its name, or of its id, in whatever role it stands; its text is `output`, or `error` of a call
  that failed.
- Messages of the CLI (0.8 and newer) have a `type`, and their calls with the results in
  `toolCalls`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.messages.assistant_messages import part_event, read_id
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import block_text, shape_error
from harness.messages.letta_messages import read_date
from harness.messages.reply_steps import ReplySteps
from harness.messages.thinking import add_said
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.types.trajectories import Usage

_FAILED = ("error", "cancelled")
_SAID = ("gemini", "model")


class GeminiConversation:
    """Reads contents, or messages of the CLI, into one conversation."""

    def __init__(self) -> None:
        self.builder = TurnBuilder()
        self._steps = ReplySteps(self.builder)
        self._shared: dict[str, Any] = {}

    def instruct(self, instruction: Any) -> None:
        """Read a system instruction: a text, or a content."""
        parts = instruction.get("parts") if isinstance(instruction, Mapping) else instruction
        texts = [text for part in _parts(parts) if (text := block_text(part)) is not None]
        self.builder.system("system", "\n".join(texts))

    def content(self, content: Any) -> None:
        """Read a content of the API.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(content, Mapping):
            raise shape_error("a content must be an object", content)
        parts = list(_parts(content.get("parts")))
        if content.get("role", "user") == "user":
            self._heard(parts)
        else:
            self._said(parts)

    def message(self, message: Any) -> None:
        """Read a message of the CLI.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(message, Mapping):
            raise shape_error("a message must be an object", message)
        kind = message.get("type")
        self._shared = {"at": read_date(message.get("timestamp"))}
        parts = list(_parts(message.get("content")))
        if kind == "user":
            self._heard(parts)
        elif kind in _SAID:
            self._reply(message, parts)
        else:
            self._note(message, kind)

    def use(self, usage: Usage, model: str | None) -> None:
        """Add what the last reply used."""
        self._steps.use(usage, model)

    def _heard(self, parts: list[Any]) -> None:
        """Read what the user said, or only what functions returned."""
        returned = [part for part in parts if "functionResponse" in part]
        others = [part for part in parts if "functionResponse" not in part]
        for part in returned:
            self._returned(part["functionResponse"])
        texts = [text for part in others if (text := block_text(part)) is not None]
        if others or not returned:
            self._steps.end(of_turn=True)
            self.builder.user("\n".join(texts), **self._shared)
        for part in others:
            if block_text(part) is None:
                self._keep(part)

    def _said(self, parts: list[Any]) -> None:
        if not all("functionResponse" in part for part in parts):
            self._steps.end()
            self._steps.begin()
        for part in parts:
            text = block_text(part)
            if text is not None and part.get("thought") is True:
                self.builder.reasoning(text, **self._shared)
            elif text is not None:
                add_said(self.builder, text, **self._shared)
            elif "functionCall" in part:
                self._called(part["functionCall"])
            elif "functionResponse" in part:
                self._returned(part["functionResponse"])
            else:
                self._keep(part)

    def _reply(self, message: Mapping[str, Any], parts: list[Any]) -> None:
        self._steps.end()
        self._steps.begin()
        thoughts = message.get("thoughts")
        for thought in thoughts if isinstance(thoughts, list) else []:
            told = thought if isinstance(thought, Mapping) else {"subject": thought}
            texts = (text_or_none(told.get(name)) for name in ("subject", "description"))
            self.builder.reasoning(scrub("\n".join(filter(None, texts))), **self._shared)
        for part in parts:
            text = block_text(part)
            if text:
                add_said(self.builder, text, **self._shared)
            elif text is None:
                self._keep(part)
        tokens = message.get("tokens")
        told = tokens if isinstance(tokens, Mapping) else {}
        counts = {"input_tokens": told.get("input"), "output_tokens": told.get("output")}
        self.use(read_usage(counts), text_or_none(message.get("model")))
        self._tool_calls(message.get("toolCalls"))

    def _tool_calls(self, calls: Any) -> None:
        if calls is not None and not isinstance(calls, list):
            raise shape_error("toolCalls must be a list", calls)
        for call in calls or ():
            if not isinstance(call, Mapping):
                raise shape_error("a tool call must be an object", call)
            self._called(call)
            if call.get("result") is not None or call.get("status") in _FAILED:
                self._answered(call)

    def _answered(self, call: Mapping[str, Any]) -> None:
        """Read the result that stands in a call of the CLI."""
        texts, ok = list[str](), call.get("status") not in _FAILED
        for part in _parts(call.get("result")):
            response = part.get("functionResponse")
            if isinstance(response, Mapping):
                output, fine, _ = _output(response.get("response"))
                texts.append(output)
                ok = ok and fine
            else:
                text = block_text(part)
                texts.append(compact_json(part) if text is None else text)
        self.builder.result(read_id(call.get("id")), "\n".join(texts), ok=ok, **self._shared)

    def _called(self, call: Any) -> None:
        fields = call if isinstance(call, Mapping) else {}
        name = text_or_none(fields.get("name"))
        if name is None:
            self.builder.keep_unread("unnamed_call", clean_json(call), **self._shared)
            return
        arguments = {} if fields.get("args") is None else clean_json(fields["args"])
        self.builder.call(read_id(fields.get("id")), scrub(name), arguments, **self._shared)

    def _returned(self, response: Any) -> None:
        fields = response if isinstance(response, Mapping) else {"response": response}
        text, ok, structured = _output(fields.get("response"))
        told = {"ok": ok, "structured": structured}
        self.builder.result(read_id(fields.get("id")), text, **told, **self._shared)

    def _note(self, message: Mapping[str, Any], kind: Any) -> None:
        texts = [t for part in _parts(message.get("content")) if (t := block_text(part))]
        if kind == "error":
            self.builder.error("error", "\n".join(texts), **self._shared)
        elif kind in ("info", "warning"):
            self.builder.system(kind, "\n".join(texts), **self._shared)
        else:
            word = scrub(kind) if isinstance(kind, str) and kind else "message"
            self.builder.keep_unread(word, clean_json(message), **self._shared)

    def _keep(self, part: Mapping[str, Any]) -> None:
        """Keep a part other than text, such as an image, by the name of its field."""
        kind = next((name for name in part if name != "thoughtSignature"), "part")
        event = part_event({"type": part.get("type") or kind, **part}, self._shared)
        self.builder.add(event)


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Return the parts of a content; a text by itself is one.

    Raises:
        ValueError: they are none.
    """
    if value is None:
        return
    parts: Iterable[Any] = value if isinstance(value, list) else [value]
    for part in parts:
        if isinstance(part, str):
            yield {"text": part}
        elif isinstance(part, Mapping):
            yield clean_json(part)
        else:
            raise shape_error("a part must be a text or an object", part)


def _output(response: Any) -> tuple[str, bool, Any]:
    """Return the text of a function's response, whether it went well, and the JSON behind it."""
    if isinstance(response, str) or response is None:
        return scrub(response or ""), True, None
    if isinstance(response, Mapping):
        for name in ("error", "output"):
            if response.get(name) is not None:
                inner = response[name]
                text = scrub(inner) if isinstance(inner, str) else compact_json(inner)
                more = len(response) > 1 or not isinstance(inner, str)
                return text, name != "error", clean_json(response) if more else None
    return compact_json(response), True, clean_json(response)
