"""A streamed reply of OpenAI's Responses API (v1): events come in, a response goes out.

The last event repeats the whole response. Without it, the items that were done are taken, and of
an item that was not the text or the arguments as far as they came.
"""

from collections.abc import Mapping
from typing import Any

_LAST = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_PIECES = (
    *("response.output_text.delta", "response.function_call_arguments.delta"),
    *("response.custom_tool_call_input.delta", "response.mcp_call_arguments.delta"),
)


class ResponseStream:
    """Puts the events of one response together."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {"object": "response"}
        self._items: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._done: set[int] = set()
        self.ended = False

    def begins_anew(self, event: Mapping[str, Any]) -> bool:
        """Say whether an event is of another response."""
        return event.get("type") == "response.created" and bool(self._items or self.ended)

    def add(self, event: Mapping[str, Any]) -> bool:
        """Add the next event; say whether it was understood."""
        kind, index = event.get("type"), event.get("output_index")
        response, item = event.get("response"), event.get("item")
        if isinstance(response, Mapping):
            self._response |= response
            self.ended = self.ended or kind in _LAST
        elif type(index) is int and isinstance(item, Mapping):
            self._items[index] = dict(item)
            self._done |= {index} if kind == "response.output_item.done" else set()
        elif type(index) is int and kind in _PIECES and isinstance(event.get("delta"), str):
            self._pieces.setdefault(index, []).append(event["delta"])
        # The other events repeat, piece by piece, what the item and the response hold.
        return True

    def reply(self) -> dict[str, Any]:
        """Return the response as far as it has arrived."""
        if self._response.get("output"):
            return self._response
        items = [self._item(index, item) for index, item in sorted(self._items.items())]
        return {**self._response, "output": items}

    def _item(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        text = "".join(self._pieces.get(index, ()))
        if index in self._done or not text:
            return item
        if item.get("type") == "message":
            return {**item, "content": [{"type": "output_text", "text": text}]}
        return {**item, "input" if item.get("type") == "custom_tool_call" else "arguments": text}
