"""Compressed replies: the bytes that were sent come in, what they stand for goes out in pieces.

A few kilobytes may stand for gigabytes, and twice compressed ones for far more. HTTP libraries
decode all that has arrived at once; here no piece is longer than `PIECE_BYTES`, so that whoever
counts them can stop in time. Formats: RFC 1950 and RFC 1952; encodings: RFC 9110, section 8.4.
"""

import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from harness.endpoints.failures import failure

ACCEPTED: Mapping[str, str] = {"accept-encoding": "gzip"}
"""The header that asks for what can be read."""

PIECE_BYTES = 2**16
"""How long a piece may be that compressed bytes stand for."""

_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})
_EITHER_HEADER = zlib.MAX_WBITS | 32


class Inflater:
    """Decodes one reply, compressed once or not at all."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        """Begin a reply.

        Raises:
            ValueError: it is compressed in a way that cannot be read, such as twice.
        """
        told = headers.get("content-encoding", "").lower()
        names = [name for part in told.split(",") if (name := part.strip()) not in {"", "identity"}]
        if len(names) > 1 or not _KNOWN.issuperset(names):
            raise ValueError(f"the reply is encoded as {', '.join(names)}; gzip was asked for")
        self._decoder = zlib.decompressobj(_EITHER_HEADER) if names else None
        self._has_begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the next bytes stand for.

        Raises:
            ValueError: they cannot be decoded.
        """
        if self._decoder is None:
            yield data
            return
        self._has_begun = self._has_begun or bool(data)
        part = b""
        while data or len(part) == PIECE_BYTES:
            if self._decoder.eof:
                # A reply may have several parts, and be filled up with zeros.
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._decoder = zlib.decompressobj(_EITHER_HEADER)
            part = _decoded(self._decoder, data)
            data = self._decoder.unconsumed_tail or self._decoder.unused_data
            if part:
                yield part

    def end(self) -> None:
        """Check that the reply was whole.

        Raises:
            ConnectionError: it was not.
        """
        if self._decoder is not None and self._has_begun and not self._decoder.eof:
            raise ConnectionError("the reply ends amid its compressed data")


def _decoded(decoder: "zlib._Decompress", data: bytes) -> bytes:
    try:
        return decoder.decompress(data, PIECE_BYTES)
    except zlib.error as error:
        raise ValueError(f"the reply cannot be decompressed: {error}") from None


async def inflated(raw: Any, headers: Mapping[str, str], place: str) -> AsyncGenerator[bytes, None]:
    """Yield what the raw bytes of a reply stand for; `place` is the request that it answers.

    `raw` is the generator of bytes that an HTTP library gives; it is closed.

    Raises:
        TargetError: `bad_reply`, where it cannot be decoded.
        ConnectionError: it was not whole.
    """
    try:
        inflater = Inflater(headers)
        async with aclosing(raw):
            async for data in raw:
                for part in inflater.feed(data):
                    yield part
    except ValueError as error:
        raise failure(f"{place}: {error}", code="bad_reply") from error
    inflater.end()
