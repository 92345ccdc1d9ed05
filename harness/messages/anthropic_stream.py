"""A streamed reply of Anthropic's Messages API (2023-06-01): events come in, a message goes out.

A call whose block has no end is not whole: its arguments are the text as far as it came, and are
never read as JSON.
"""

from collections.abc import Mapping
from typing import Any

from harness.messages.contents import block_kind

TYPES = (
    *("message_start", "message_delta", "message_stop", "ping"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
)
_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_MARKS = ("signature_delta", "citations_delta")


class AnthropicStream:
    """Puts the events of one reply together."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {"type": "message", "role": "assistant"}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._whole: set[int] = set()
        self.ended = False

    def begins_anew(self, event: Mapping[str, Any]) -> bool:
        """Say whether an event is of another reply."""
        return event.get("type") == "message_start" and bool(self._blocks or self.ended)

    def add(self, event: Mapping[str, Any]) -> bool:
        """Add the next event; say whether it was understood."""
        match event.get("type"):
            case "message_start":
                return self._begin(event.get("message"))
            case "message_delta":
                return self._change(event)
            case "message_stop":
                self.ended = True
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                return self._add_block(event)
        return True

    def _begin(self, message: Any) -> bool:
        if not isinstance(message, Mapping):
            return False
        self._message |= {key: value for key, value in message.items() if key != "content"}
        return True

    def _change(self, event: Mapping[str, Any]) -> bool:
        delta, usage, own = event.get("delta"), event.get("usage"), self._message.get("usage")
        if isinstance(delta, Mapping):
            self._message |= delta
        if isinstance(usage, Mapping):
            known = {key: value for key, value in usage.items() if value is not None}
            self._message["usage"] = {**(own if isinstance(own, Mapping) else {}), **known}
        return isinstance(delta, Mapping)

    def _add_block(self, event: Mapping[str, Any]) -> bool:
        index = event.get("index")
        if type(index) is not int:
            return False
        if event["type"] == "content_block_stop":
            self._whole.add(index)
            return True
        block = event.get("content_block")
        if event["type"] == "content_block_start":
            self._blocks[index] = dict(block) if isinstance(block, Mapping) else {}
            return isinstance(block, Mapping)
        return self._add_delta(index, event.get("delta"))

    def _add_delta(self, index: int, delta: Any) -> bool:
        kind = delta.get("type") if isinstance(delta, Mapping) else None
        if kind in _MARKS:
            return True
        key = _PIECES.get(kind) if isinstance(kind, str) else None
        piece = delta.get(key) if key else None
        if not isinstance(piece, str):
            return False
        kinds = {"text": "text", "thinking": "thinking", "partial_json": "tool_use"}
        self._blocks.setdefault(index, {"type": kinds[str(key)]})
        self._pieces.setdefault(index, []).append(piece)
        return True

    def reply(self) -> dict[str, Any]:
        """Return the message as far as it has arrived."""
        content = [self._block(index, block) for index, block in self._blocks.items()]
        return {**self._message, "content": content}

    def _block(self, index: int, block: dict[str, Any]) -> dict[str, Any]:
        text = "".join(self._pieces.get(index, ()))
        kind = block_kind(block)
        if kind in ("text", "thinking"):
            own = block.get(kind)
            return {**block, kind: f"{own if isinstance(own, str) else ''}{text}"}
        if not kind.endswith("tool_use"):
            return block
        is_whole = index in self._whole
        sent = {"input_json": text} if text or not is_whole else {}
        return {**block, **sent, "is_whole": is_whole}
