"""A streamed reply of Cohere's chat API (v2): events come in, a completion goes out.

The completion is in the shape of Chat Completions. The plan of a tool call (`tool_plan`) is what
the model thinks, not what it says.
"""

from collections.abc import Mapping
from typing import Any

TYPES = (
    *("message-start", "message-end", "content-start", "content-delta", "content-end"),
    *("tool-plan-delta", "tool-call-start", "tool-call-delta", "tool-call-end"),
    *("citation-start", "citation-end"),
)


class CohereStream:
    """Puts the events of one reply together."""

    def __init__(self) -> None:
        self._id: Any = None
        self._texts: dict[str, list[str]] = {"text": [], "thinking": [], "tool_plan": []}
        self._calls: dict[Any, dict[str, Any]] = {}
        self._usage: dict[str, Any] = {}
        self._reason: str | None = None
        self.ended = False

    def begins_anew(self, event: Mapping[str, Any]) -> bool:
        """Say whether an event is of another reply."""
        return event.get("type") == "message-start" and self.ended

    def add(self, event: Mapping[str, Any]) -> bool:
        """Add the next event; say whether it was understood."""
        delta = event.get("delta")
        message = delta.get("message") if isinstance(delta, Mapping) else None
        kind = event.get("type")
        if kind == "message-start":
            self._id = event.get("id")
        elif kind == "message-end" and isinstance(delta, Mapping):
            self._end(delta)
        elif kind in ("content-start", "content-delta") and isinstance(message, Mapping):
            self._add_texts(message.get("content"))
        elif kind == "tool-plan-delta" and isinstance(message, Mapping):
            self._add_texts(message)
        elif kind in ("tool-call-start", "tool-call-delta") and isinstance(message, Mapping):
            return self._add_call(event.get("index"), message.get("tool_calls"))
        else:
            return kind in TYPES and kind != "message-end"
        return True

    def _end(self, delta: Mapping[str, Any]) -> None:
        reason, usage = delta.get("finish_reason"), delta.get("usage")
        self._reason = reason if isinstance(reason, str) else None
        tokens = usage.get("tokens") if isinstance(usage, Mapping) else None
        self._usage = dict(tokens) if isinstance(tokens, Mapping) else {}
        self.ended = True

    def _add_texts(self, content: Any) -> None:
        for key, pieces in self._texts.items():
            piece = content.get(key) if isinstance(content, Mapping) else None
            if isinstance(piece, str):
                pieces.append(piece)

    def _add_call(self, index: Any, call: Any) -> bool:
        function = call.get("function") if isinstance(call, Mapping) else None
        if type(index) is not int or not isinstance(function, Mapping):
            return False
        whole = self._calls.setdefault(index, {"id": None, "name": None, "pieces": []})
        whole["id"] = whole["id"] or call.get("id")
        whole["name"] = whole["name"] or function.get("name")
        piece = function.get("arguments")
        whole["pieces"] += [piece] if isinstance(piece, str) else []
        return True

    def reply(self) -> dict[str, Any]:
        """Return the completion as far as it has arrived."""
        thoughts = "".join([*self._texts["tool_plan"], *self._texts["thinking"]])
        message = {
            "role": "assistant",
            "content": "".join(self._texts["text"]) or None,
            "reasoning": thoughts or None,
            "tool_calls": [_call(call) for call in self._calls.values()],
        }
        choice = {"index": 0, "message": message, "finish_reason": self._reason}
        return {"id": self._id, "choices": [choice], "usage": self._usage}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": "".join(call["pieces"])}
    return {"id": call["id"], "type": "function", "function": function}
