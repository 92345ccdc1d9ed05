"""Recorded streams of model APIs: one file, one conversation of the replies in it.

Server-sent events (HTML standard, section 9.2), or their data one a line or in a list, of OpenAI's
Chat Completions and Responses (v1), Anthropic's Messages (2023-06-01), Google's Gemini (v1beta)
and Cohere's chat (v2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.endpoints.error_bodies import code_of_error, read_error_body
from harness.messages.streamed_replies import (
    StreamedReply,
    is_event_stream,
    join_stream,
    stream_events,
    stream_of,
)
from harness.messages.streamed_turns import StreamedTurns
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trials import Failure


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """Streamed replies of model APIs, as they came over the wire: one conversation a file."""

    specification: ClassVar[str] = (
        "server-sent events or chunks of OpenAI, Anthropic, Google Gemini and Cohere APIs"
    )

    def claims(self, head: Head) -> bool:
        """Say whether a file begins with an event of a stream."""
        if head.text:
            return is_event_stream(head.text) and "data:" in head.text
        first = head.values[0] if head.values else None
        return stream_of(first[0] if isinstance(first, list) and first else first) is not None

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation.

        Raises:
            ValueError: the file holds no event of a stream.
        """
        replies = list(join_stream(_events(source)))
        if not any(reply.body for reply in replies):
            raise ValueError(f"{source.shown}: the file holds no event of a model's stream")
        builder = _Replies()
        try:
            for reply in replies:
                builder.add(reply)
        except ValueError as error:
            raise ValueError(f"{source.shown}: {error}") from error
        yield builder.imported(source.shown)


def _events(source: ForeignSource) -> Iterator[Any]:
    text = source.text()
    if is_event_stream(text):
        yield from stream_events(text)
    else:
        yield from (event for _, event in source.records())


class _Replies:
    """Collects the replies of one stream, and how the last of them ended."""

    def __init__(self) -> None:
        self._turns = StreamedTurns()
        self._failure: Failure | None = None

    def add(self, reply: StreamedReply) -> None:
        """Add the next reply, and how it ended."""
        self._turns.add(reply)
        self._end(reply)

    def _end(self, reply: StreamedReply) -> None:
        error = reply.error or reply.body.get("error")
        if error:
            body = read_error_body(error, otherwise="no message")
            self._failure = Failure(code=code_of_error(body), message=str(body))
        elif not reply.ended:
            self._failure = Failure(code="stream_cut", message="the stream has no end")
        else:
            self._failure = None
            return
        self._turns.builder.error(self._failure.code, self._failure.message)

    def imported(self, place: str) -> Imported:
        """Return the record of the stream."""
        return Imported(
            place=place,
            trajectory=self._turns.trajectory(),
            model=self._turns.model,
            status="completed" if self._failure is None else "target_error",
            failure=self._failure,
            unread=self._turns.builder.unread,
        )
