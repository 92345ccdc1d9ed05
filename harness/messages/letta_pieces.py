"""A message of Letta in pieces: the records of a stream of tokens come in, the message goes out."""

from collections.abc import Mapping
from typing import Any

from harness.messages.assistant_messages import read_id
from harness.messages.contents import read_content, shape_error

_CALL_TYPES = frozenset({"tool_call_message", "approval_request_message"})
JOINED_TYPES = _CALL_TYPES | {"assistant_message", "reasoning_message"}
"""The types of messages that arrive in pieces."""


class MessagePieces:
    """Puts the pieces of one message together; begun by the first of them.

    `has_calls` is whether it makes calls, and `is_from_server` whether they are told as the server
    tells them, not as Letta Code does.
    """

    def __init__(self, kind: str, first: Mapping[str, Any]) -> None:
        self.kind = kind
        self.has_calls = kind in _CALL_TYPES
        self.is_from_server = isinstance(first.get("tool_calls"), Mapping)
        self._first = first
        self._texts: list[str] = []
        self._others: list[dict[str, Any]] = []
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self.add(first)

    def takes(self, kind: str, chunk: Mapping[str, Any]) -> bool:
        """Say whether a record is a further piece of this message."""
        if kind != self.kind or isinstance(chunk.get("tool_calls"), list | tuple):
            return False
        keys = ("id", "otid")
        return bool(chunk.get("id")) and all(chunk.get(k) == self._first.get(k) for k in keys)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add the next piece.

        Raises:
            ValueError: it is not of that shape; the text names the type and the place.
        """
        try:
            if self.kind == "assistant_message":
                self._add_content(chunk.get("content"))
            elif self.kind == "reasoning_message":
                self._add_reasoning(chunk.get("reasoning"))
            else:
                self._add_call(chunk)
        except ValueError as error:
            raise ValueError(f"{self.kind}: {error}") from error

    def _add_content(self, content: Any) -> None:
        if content is not None:
            read = read_content(content)
            self._texts += read.texts
            self._others += read.others

    def _add_reasoning(self, text: Any) -> None:
        if text is not None and not isinstance(text, str):
            raise shape_error("reasoning must be a text", text)
        self._texts.append(text or "")

    def _add_call(self, chunk: Mapping[str, Any]) -> None:
        delta = chunk.get("tool_calls") or chunk.get("tool_call")
        if delta is None:
            return
        if not isinstance(delta, Mapping):
            raise shape_error("tool_call must be an object", delta)
        call_id = read_id(delta.get("tool_call_id"))
        call = (
            self._by_id.get(call_id) if call_id is not None else next(iter(self._calls[-1:]), None)
        )
        if call is None:
            call = _Call(call_id)
            self._calls.append(call)
        if call_id is not None:
            self._by_id[call_id] = call
        call.add(delta)

    def whole(self) -> dict[str, Any]:
        """Return the message as a stream by steps holds it."""
        message = dict(self._first)
        text = "".join(self._texts)
        if self.kind == "assistant_message":
            block = {"type": "text", "text": text}
            message["content"] = [block, *self._others] if self._others else text
        elif self.kind == "reasoning_message":
            message["reasoning"] = text
        else:
            message["tool_calls"] = [call.whole() for call in self._calls]
            message["tool_call"] = next(iter(message["tool_calls"]), None)
        return message


class _Call:
    """Puts the pieces of one call together: the name comes once, the arguments bit by bit."""

    def __init__(self, call_id: str | None) -> None:
        self._id = call_id
        self._name: Any = None
        self._pieces: list[str] = []
        self._value: Any = None

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add the next piece."""
        self._name = delta.get("name") or self._name
        arguments = delta.get("arguments")
        if isinstance(arguments, str):
            self._pieces.append(arguments)
        elif arguments is not None:
            self._value = arguments

    def whole(self) -> dict[str, Any]:
        """Return the call."""
        arguments = "".join(self._pieces) if self._value is None else self._value
        return {"name": self._name, "arguments": arguments, "tool_call_id": self._id}
