"""A streamed answer of a Chat Completions endpoint: chunks come in, one reply goes out.

The reply is the one that the whole answer would give, although endpoints differ: the role is in
the first chunk, or in all; the last holds the usage and no choices; ids are empty or left out after
the first piece of a call, or sent with each; the index of a call is missing, begins at 1, or is 0
for every call; arguments come in pieces, whole, or as an object.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from harness.messages.completions import ModelReply, normalize_message, read_usage, text_or_none
from harness.messages.contents import block_text, shape_error
from harness.system.json_values import read_json
from harness.types.trajectories import Usage

_MOST_CHECKED = 32_000_000
_JOINED = frozenset({"reasoning_content", "reasoning", "refusal"})


class ReplyBuilder:
    """Puts the chunks of one reply together."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._content: list[Any] = []
        self._calls = _Calls()
        self._usage = Usage()
        self._model: str | None = None
        self.stop_reason: str | None = None

    @property
    def begun(self) -> bool:
        """Say whether any part of an answer has arrived."""
        return any((self._calls.all, any(self._content), self._texts, self._fields))

    def add(self, chunk: Any) -> None:
        """Add the next chunk; of several choices the first counts.

        Raises:
            ValueError: it is not of that shape.
        """
        if not isinstance(chunk, Mapping):
            raise shape_error("a chunk must be an object", chunk)
        self._model = text_or_none(chunk.get("model")) or self._model
        vendor = chunk.get("x_groq")
        self._add_usage(vendor.get("usage") if isinstance(vendor, Mapping) else None)
        self._add_usage(chunk.get("usage"))
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, Mapping) and not choice.get("index"):
                self._add_choice(choice)

    def _add_usage(self, usage: Any) -> None:
        if isinstance(usage, Mapping):
            self._usage = read_usage(usage)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self._add_usage(choice.get("usage"))
        self.stop_reason = text_or_none(choice.get("finish_reason")) or self.stop_reason
        delta = choice.get("delta")
        for key, value in delta.items() if isinstance(delta, Mapping) else ():
            if value is not None and key not in {"role", "index"}:
                self._add_field(key, value)

    def _add_field(self, key: str, value: Any) -> None:
        if key == "content":
            self._add_content(value)
        elif key == "tool_calls":
            self._calls.add(value)
        elif key == "function_call":
            self._calls.add([{"index": 0, "function": value}])
        elif key in _JOINED and isinstance(value, str):
            self._texts.setdefault(key, []).append(value)
        elif isinstance(value, list) and isinstance(self._fields.get(key), list):
            self._fields[key].extend(value)
        else:
            self._fields[key] = value

    def _add_content(self, content: Any) -> None:
        if not isinstance(content, str | list):
            raise shape_error("content must be a text or a list of blocks", content)
        for block in [content] if isinstance(content, str) else content:
            text = block_text(block)
            self._content.append(block if text is None else text)

    def reply(self) -> ModelReply:
        """Return the reply as far as it has arrived."""
        message = {**self._fields, "content": _join(self._content)}
        message |= {key: "".join(texts) for key, texts in self._texts.items()}
        message["tool_calls"] = [call.whole() for call in self._calls.all]
        return ModelReply(
            message=normalize_message(message),
            usage=self._usage,
            model=self._model,
            stop_reason=self.stop_reason,
        )


def _join(content: list[Any]) -> Any:
    """Join the pieces of text; None where there was no content at all."""
    joined: list[Any] = []
    for is_text, group in groupby(content, key=lambda piece: isinstance(piece, str)):
        pieces = list(group)
        joined += [{"type": "text", "text": "".join(pieces)}] if is_text else pieces
    if len(joined) == 1 and block_text(joined[0]) is not None:
        return joined[0]["text"]
    return joined or None


class _Calls:
    """The tool calls of one reply, in the order in which they began."""

    def __init__(self) -> None:
        self.all: list[_CallBuilder] = []
        self._by_place: dict[tuple[str, Any], _CallBuilder] = {}

    def add(self, deltas: Any) -> None:
        """Add pieces of calls; each continues the call that it names, or begins one."""
        if not isinstance(deltas, list | Mapping):
            raise shape_error("tool_calls must be a list", deltas)
        for delta in [deltas] if isinstance(deltas, Mapping) else deltas:
            if not isinstance(delta, Mapping):
                raise shape_error("a tool call must be an object", delta)
            self._call_of(delta).add(delta)

    def _call_of(self, delta: Mapping[str, Any]) -> "_CallBuilder":
        """Find the call that a piece continues: by index, else by id, else the last one."""
        index, call_id = delta.get("index"), delta.get("id")
        if isinstance(index, int):
            place: tuple[str, Any] = ("index", index)
        elif isinstance(call_id, str) and call_id:
            place = ("id", call_id)
        else:
            place = ("last", None)
        found = self._by_place.get(place)
        if found is None or found.is_ended_by(delta):
            found = _CallBuilder()
            self.all.append(found)
        self._by_place |= {place: found, ("last", None): found}
        return found


class _CallBuilder:
    """Puts the pieces of one tool call together."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._name = ""
        self._pieces: list[str] = []
        self._object: Any = None
        self._custom = False
        self._checked = 0

    def is_ended_by(self, delta: Mapping[str, Any]) -> bool:
        """Say whether a piece with the index or id of this call begins another one.

        It does if it names a tool and has another id; without an id, if it names a tool and the
        arguments so far are complete. A call that was checked over and over goes on for ever.
        """
        function = delta.get("function")
        if not isinstance(function, Mapping) or not function.get("name") or not self._name:
            return False
        own, new = self._fields.get("id"), delta.get("id")
        return bool(own != new) if own and new else self._is_complete()

    def _is_complete(self) -> bool:
        if self._object is not None:
            return True
        if self._checked > _MOST_CHECKED:
            return False
        text = "".join(self._pieces)
        self._checked += len(text)
        try:
            read_json(text)
        except ValueError:
            return False
        return True

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add the next piece; an empty text adds nothing."""
        for key, value in delta.items():
            if key == "function" and isinstance(value, Mapping):
                self._add_parts(value.get("name"), value.get("arguments"))
            elif key == "custom" and isinstance(value, Mapping):
                self._custom = True
                self._add_parts(value.get("name"), value.get("input"))
            elif value not in (None, "") and key != "index":
                self._fields.setdefault(key, value)

    def _add_parts(self, name: Any, arguments: Any) -> None:
        if isinstance(name, str) and name != self._name:
            self._name += name
        if isinstance(arguments, str):
            self._pieces.append(arguments)
        elif arguments is not None:
            self._object = arguments

    def whole(self) -> dict[str, Any]:
        """Return the call as a whole answer holds it."""
        text = "".join(self._pieces)
        if self._custom:
            return {**self._fields, "custom": {"name": self._name, "input": text}}
        arguments = text if self._object is None else self._object
        return {**self._fields, "function": {"name": self._name, "arguments": arguments}}
