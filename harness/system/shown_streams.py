"""Standard output and standard error of the command: without secrets, and never flooded."""

import codecs
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from harness.system.redaction import known_secrets

MOST_PRINTED = 200_000
"""How many characters the suite's own code may print on each stream while a run lasts."""


_ESCAPED_ASCII = "escaped_ascii"
"""ASCII by another name: by its own, Click takes it for a mistake, and writes UTF-8 past it."""


def _find_escaped_ascii(name: str) -> codecs.CodecInfo | None:
    if name != _ESCAPED_ASCII:
        return None
    ascii_ = codecs.lookup("ascii")
    return codecs.CodecInfo(
        name=name,
        encode=ascii_.encode,
        decode=ascii_.decode,
        incrementalencoder=ascii_.incrementalencoder,
        incrementaldecoder=ascii_.incrementaldecoder,
        streamreader=ascii_.streamreader,
        streamwriter=ascii_.streamwriter,
    )


codecs.register(_find_escaped_ascii)


class RedactingStream(io.TextIOWrapper):
    """A stream that shows no secret, whoever prints it.

    Hidden are the values of variables that are called like secrets, and those of `also_hide`. What
    cannot be encoded is shown as an escape: nothing is lost by it.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        is_ascii = codecs.lookup(stream.encoding).name == "ascii"
        super().__init__(
            stream.buffer,
            encoding=_ESCAPED_ASCII if is_ascii else stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        self._secrets: tuple[str, ...] = ()

    def also_hide(self, secrets: Iterable[str]) -> None:
        """Hide these values as well."""
        self._secrets = (*self._secrets, *secrets)

    def write(self, text: str, /) -> int:
        """Write a text without secrets; return the length of what was given."""
        super().write(known_secrets(self._secrets).hide(text))
        return len(text)


def hide_on_streams(secrets: Iterable[str]) -> None:
    """Hide these values in whatever is printed from now on."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, RedactingStream):
            stream.also_hide(secrets)


class BoundedStream:
    """Hands on what is printed, up to a number of characters; the rest is counted, and told of."""

    def __init__(self, stream: TextIO, most: int) -> None:
        self._stream = stream
        self._left = most
        self.dropped = 0

    def write(self, text: Any, /) -> int:
        """Write as much of a text as there is room for."""
        if not isinstance(text, str):
            # Click tells by this that the stream takes no bytes.
            raise TypeError(f"a text is written, not {type(text).__name__}")
        shown = text[: self._left]
        self._left -= len(shown)
        self.dropped += len(text) - len(shown)
        if shown:
            self._stream.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        """Answer everything else, such as `flush` or `encoding`, as the stream behind does."""
        return getattr(self._stream, name)


@contextmanager
def bounded_streams(most: int = MOST_PRINTED) -> Iterator[None]:
    """Bound what the code of a suite prints meanwhile, and say at the end what was not shown."""
    behind = (sys.stdout, sys.stderr)
    bounded = [BoundedStream(stream, most) for stream in behind]
    sys.stdout, sys.stderr = cast("list[TextIO]", bounded)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = behind
        dropped = sum(stream.dropped for stream in bounded)
        if dropped:
            # Nobody may be there to read it.
            with suppress(OSError, ValueError):
                print(  # noqa: T201  (this is what is shown)
                    f"the suite's own code printed {dropped:,} further characters, not shown",
                    file=sys.stderr,
                )
