"""One request to a Chat Completions endpoint: a request body goes in, the model's reply comes out.

The reply is read from the bytes that came, not from the SDK's objects: endpoints take liberties
with the shape, and a stream that was cut must be distinguished from one that has ended.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import aclosing
from typing import Any

from openai import AsyncAPIResponse, AsyncOpenAI

from harness.endpoints.compressed_replies import inflated
from harness.endpoints.error_bodies import read_error_body
from harness.endpoints.failures import classify, failure, reported
from harness.messages.chunks import ReplyBuilder
from harness.messages.completions import ModelReply, read_completion
from harness.messages.server_sent import EventData
from harness.system.json_values import load_json
from harness.system.redaction import redacted_line
from harness.system.threads import in_thread
from harness.types.errors import TargetError

_DRAIN_SECONDS = 0.1  # wait for the end of a stream, so that its connection is used again

MOST_BYTES = 32_000_000
"""How long a reply may be, in bytes."""

_LONG = 1_000_000  # reading so many bytes of JSON would hold up everybody else
_SHOWN = 200  # of a reply that cannot be read, this many characters are shown

Keep = Callable[[ModelReply], None]


class Endpoint:
    """A client of an endpoint, and the secrets that no message about it may hold."""

    def __init__(self, client: AsyncOpenAI, secrets: Collection[str]) -> None:
        self._client = client
        self.secrets = secrets

    async def close(self) -> None:
        """Close the client and its connections."""
        await self._client.close()

    async def ask(self, body: Mapping[str, Any], keep: Keep) -> ModelReply:
        """Send one request and read the reply; `keep` receives the beginning of one that was cut.

        Raises:
            TargetError: there is no reply, or no whole one.
        """
        try:
            # All of the body goes as `extra_body`, which the SDK sends as it is.
            async with self._client.chat.completions.with_streaming_response.create(
                messages=[], model="", stream=bool(body.get("stream")), extra_body=dict(body)
            ) as response:
                return await self._read(response, keep, asked=bool(body.get("stream")))
        except TargetError:
            raise
        except Exception as error:
            known = classify(error, secrets=self.secrets)
            if known is None:
                raise
            raise known from error

    async def _read(
        self, response: AsyncAPIResponse[Any], keep: Keep, *, asked: bool
    ) -> ModelReply:
        kind = response.headers.get("content-type", "").lower()
        plain = asked and "json" not in kind and "html" not in kind
        if "event-stream" in kind or plain:
            return await _Stream(self._place(response), self.secrets, keep).read(response)
        place = self._place(response)
        data = b"".join([part async for part in _parts(response, place)])
        if len(data) > _LONG:
            return await in_thread(self._whole, data, place)
        return self._whole(data, place)

    def _place(self, response: AsyncAPIResponse[Any]) -> str:
        request = response.http_request
        return f"{request.method} {str(request.url).partition('?')[0]}"

    def _whole(self, data: bytes, place: str) -> ModelReply:
        try:
            body = load_json(data)
            _raise_reported(body, place, self.secrets)
            return read_completion(body)
        except ValueError as error:
            shown = redacted_line(data.decode(errors="replace"), _SHOWN, self.secrets)
            message = f"{place}: {error}: {shown}"
            raise failure(message, code="bad_reply", secrets=self.secrets) from error


async def _parts(response: AsyncAPIResponse[Any], place: str) -> AsyncIterator[bytes]:
    """Yield the bytes of a reply as they come.

    Raises:
        TargetError: `bad_reply`, where they are more than a reply may have.
    """
    length = 0
    raw = response.http_response.aiter_raw()
    async with aclosing(inflated(raw, response.headers, place)) as parts:
        async for part in parts:
            length += len(part)
            if length > MOST_BYTES:
                message = f"{place}: the reply is longer than {MOST_BYTES // 1_000_000} MB"
                raise failure(message, code="bad_reply")
            yield part


def _raise_reported(body: Any, place: str, secrets: Collection[str]) -> None:
    """Raise the error that an endpoint reports inside an answer with status 200."""
    if not isinstance(body, Mapping):
        return
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    for carrier in (body, first):
        if isinstance(carrier, Mapping) and carrier.get("error"):
            raise _reported(carrier["error"], place, secrets)
    if body.get("object") == "error":
        raise _reported(body, place, secrets)


def _reported(error: Any, place: str, secrets: Collection[str]) -> TargetError:
    body = read_error_body(error)
    status = f" {body.status}" if body.status else ""
    return reported(body, place=f"{place}{status}", secrets=secrets)


class _Stream:
    """Reads one streamed reply."""

    def __init__(self, place: str, secrets: Collection[str], keep: Keep) -> None:
        self._place = place
        self._secrets = secrets
        self._keep = keep
        self._builder = ReplyBuilder()
        self._events = EventData()
        self._done = False

    async def read(self, response: AsyncAPIResponse[Any]) -> ModelReply:
        """Read to the end; a reply is whole if it has a finish_reason, or the stream its [DONE]."""
        try:
            await self._receive(response)
            self._require_end()
        except BaseException:
            if self._builder.begun:
                self._keep(self._builder.reply())
            raise
        return self._builder.reply()

    def _require_end(self) -> None:
        if not self._is_whole:
            raise self._cut("the stream ended without finish_reason or [DONE]")

    @property
    def _is_whole(self) -> bool:
        return self._done or self._builder.stop_reason is not None

    def _cut(self, message: str) -> TargetError:
        text = f"{self._place}: {message}"
        return failure(text, code="stream_cut", secrets=self._secrets)

    async def _receive(self, response: AsyncAPIResponse[Any]) -> None:
        try:
            await self._receive_bytes(response)
        except TargetError:
            raise
        except Exception as error:
            if self._is_whole:
                return
            known = classify(error, secrets=self._secrets)
            if known is None:
                raise
            raise self._cut(str(known)) from error
        self._receive_rest()

    async def _receive_bytes(self, response: AsyncAPIResponse[Any]) -> None:
        async with asyncio.timeout(None) as limit:
            async for data in _parts(response, self._place):
                for text in self._events.feed(data):
                    self._take(text)
                if self._done and limit.when() is None:
                    limit.reschedule(asyncio.get_running_loop().time() + _DRAIN_SECONDS)

    def _receive_rest(self) -> None:
        """Take what follows the last blank line; half an event there is a cut."""
        try:
            for text in self._events.end():
                self._take(text)
        except TargetError as error:
            if error.code == "bad_reply" and not self._is_whole:
                raise self._cut("the stream ended inside an event") from error
            if error.code != "bad_reply":
                raise

    def _take(self, text: str) -> None:
        if self._done or not text.strip():
            return
        if text.strip() == "[DONE]":
            self._done = True
            return
        try:
            chunk = load_json(text)
            self._raise_reported(chunk)
            self._builder.add(chunk)
        except ValueError as error:
            shown = redacted_line(text, _SHOWN, self._secrets)
            message = f"{self._place}: {error}: {shown}"
            raise failure(message, code="bad_reply", secrets=self._secrets) from error

    def _raise_reported(self, chunk: Any) -> None:
        try:
            _raise_reported(chunk, self._place, self._secrets)
        except TargetError as error:
            # Once an answer has begun, the request has had an effect, and is not sent again.
            if error.policy.resent and self._builder.begun:
                raise self._cut(str(error)) from error
            raise
