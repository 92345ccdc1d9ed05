"""Recorded streams of model APIs: their events come in, whole replies go out.

The APIs are OpenAI's Chat Completions (and whatever is compatible) and Responses, Anthropic's
Messages, Google's Gemini and Cohere's chat. Each is known by its events.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from harness.messages import anthropic_stream, cohere_stream
from harness.messages.anthropic_stream import AnthropicStream
from harness.messages.chunks import ReplyBuilder
from harness.messages.cohere_stream import CohereStream
from harness.messages.google_stream import GoogleStream
from harness.messages.response_stream import ResponseStream
from harness.messages.server_sent import EventData
from harness.system.json_values import load_json

Shape = Literal["chat", "anthropic", "responses"]
_DONE = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedReply:
    """A reply that was put together: `body` is in the shape of an API's whole answer.

    `error` is what the stream reported, `unread` the events that were not understood; `ended` says
    that the stream came to its end.
    """

    shape: Shape
    body: dict[str, Any]
    error: Any = None
    ended: bool = True
    unread: tuple[Any, ...] = ()


class _Stream(Protocol):
    ended: bool

    def begins_anew(self, event: Mapping[str, Any], /) -> bool: ...

    def add(self, event: Mapping[str, Any], /) -> bool: ...

    def reply(self) -> dict[str, Any]: ...


class _ChatStream:
    """Puts the chunks of one completion together."""

    def __init__(self) -> None:
        self._builder = ReplyBuilder()
        self._id: Any = None
        self.ended = False

    def begins_anew(self, event: Mapping[str, Any]) -> bool:
        return self.ended and bool(event.get("id")) and event.get("id") != self._id

    def add(self, event: Mapping[str, Any]) -> bool:
        self._id = self._id or event.get("id")
        try:
            self._builder.add(event)
        except ValueError:
            return False
        self.ended = self.ended or self._builder.stop_reason is not None
        return True

    def reply(self) -> dict[str, Any]:
        reply = self._builder.reply()
        usage = reply.usage
        choice = {"index": 0, "message": reply.message, "finish_reason": reply.stop_reason}
        return {
            "model": reply.model,
            "choices": [choice],
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cost": usage.cost_usd,
            },
        }


_STREAMS: Mapping[str, tuple[type[_Stream], Shape]] = {
    "chat": (_ChatStream, "chat"),
    "cohere": (CohereStream, "chat"),
    "anthropic": (AnthropicStream, "anthropic"),
    "google": (GoogleStream, "anthropic"),
    "responses": (ResponseStream, "responses"),
}


def stream_of(event: Any) -> str | None:
    """Name the API whose stream an event is of; None for what is no such event."""
    if not isinstance(event, Mapping):
        return None
    kind = event.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return "responses"
        if kind in anthropic_stream.TYPES:
            return "anthropic"
        return "cohere" if kind in cohere_stream.TYPES else None
    if event.get("object") == "chat.completion.chunk" or _has_delta(event.get("choices")):
        return "chat"
    is_google = isinstance(event.get("candidates"), list) or "usageMetadata" in event
    return "google" if is_google else None


def _has_delta(choices: Any) -> bool:
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, Mapping) and isinstance(first.get("delta"), Mapping)


def stream_events(text: str) -> Iterator[Any]:
    """Return the events of a stream of server-sent events; what is no JSON comes as its text."""
    decoder = EventData()
    for data in (*decoder.feed(text.encode(errors="replace")), *decoder.end()):
        try:
            yield load_json(data)
        except ValueError:
            yield data


def is_event_stream(text: str) -> bool:
    """Say whether a text is a stream of server-sent events."""
    lines = text.lstrip("\ufeff\r\n ").splitlines()
    return bool(lines) and lines[0].startswith(("data:", "event:", ":", "id:"))


def join_stream(events: Iterable[Any]) -> Iterator[StreamedReply]:
    """Return the replies of a stream, in their order."""
    joined: _Joined | None = None
    for event in events:
        kind = stream_of(event)
        if joined is None or joined.is_over(kind, event):
            if joined is not None:
                yield joined.reply()
            joined = _Joined(kind)
        joined.add(kind, event)
    if joined is not None:
        yield joined.reply()


def _is_error(event: Any) -> bool:
    return isinstance(event, Mapping) and bool(event.get("error") or event.get("type") == "error")


class _Joined:
    """Collects the events of one reply; those before the first that is understood are kept."""

    def __init__(self, kind: str | None) -> None:
        self._kind = kind
        self._stream: _Stream | None = _STREAMS[kind][0]() if kind else None
        self._error: Any = None
        self._unread: list[Any] = []

    def is_over(self, kind: str | None, event: Any) -> bool:
        """Say whether an event is of another reply."""
        if kind is None or self._stream is None:
            return False
        return kind != self._kind or self._stream.begins_anew(event)

    def add(self, kind: str | None, event: Any) -> None:
        """Add the next event."""
        if self._stream is None and kind is not None:
            self._kind, self._stream = kind, _STREAMS[kind][0]()
        stream = self._stream
        if stream is not None and event == _DONE:
            stream.ended = True
        elif kind is None and _is_error(event):
            self._error = event
        elif stream is None or kind is None or not self._read(stream, event):
            self._unread.append(event)

    def _read(self, stream: _Stream, event: Any) -> bool:
        return stream.add(event)

    def reply(self) -> StreamedReply:
        """Return the reply as far as it has arrived."""
        shape: Shape = _STREAMS[self._kind][1] if self._kind else "chat"
        return StreamedReply(
            shape=shape,
            body=self._stream.reply() if self._stream else {},
            error=self._error,
            ended=self._stream.ended if self._stream else False,
            unread=tuple(self._unread),
        )
