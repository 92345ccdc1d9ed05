"""Whole replies of an agent behind a URL, and what all replies share: bytes in, a turn out."""

from collections.abc import Callable, Sequence
from typing import Any

import httpx

from harness.endpoints.failures import failure, reported
from harness.system.json_values import load_json
from harness.system.redaction import redacted_line
from harness.system.threads import in_thread
from harness.targets.http_exchanges import parts_of, place_of
from harness.targets.http_model_streams import ModelStream
from harness.targets.http_options import HttpResponse
from harness.targets.http_parts import ReplyParts, ReportedError
from harness.types.errors import TargetError
from harness.types.events import Event
from harness.types.trajectories import Turn

_LONG = 1_000_000  # reading so many bytes of JSON would hold up everybody else
_SHOWN = 200  # of a reply that cannot be read, this many characters are shown

OnValue = Callable[[Any], None]
"""Receives each JSON value of a reply, such as one that holds the id of a session."""


class ReplyFailures:
    """Makes the errors of one reply: each names the request, and holds no secret."""

    def __init__(self, response: httpx.Response, secrets: frozenset[str]) -> None:
        self.place = place_of(response)
        self._secrets = secrets

    def unreadable(self, problem: str, text: str) -> TargetError:
        """Return the error for a reply that is not what it should be, with its beginning."""
        shown = redacted_line(text, _SHOWN, self._secrets)
        return self.bad(f"{problem}: {shown}")

    def bad(self, problem: str) -> TargetError:
        """Return the error for a reply that is not what it should be."""
        return failure(f"{self.place}: {problem}", code="bad_reply", secrets=self._secrets)

    def cut(self, problem: str) -> TargetError:
        """Return the error for a stream without its end."""
        text = f"{self.place}: {problem.removeprefix(f'{self.place}: ')}"
        return failure(text, code="stream_cut", secrets=self._secrets)

    def reported(self, error: ReportedError, *, begun: bool) -> TargetError:
        """Return the error that the server reports inside a reply.

        Once an answer has begun, the request has had an effect, and is not sent again.
        """
        found = reported(error.body, place=self.place, secrets=self._secrets)
        return self.cut(str(error)) if found.policy.resent and begun else found


class WholeReply:
    """Reads a reply that is no stream: JSON, or a plain text."""

    def __init__(self, options: HttpResponse, asked: Sequence[str], on_value: OnValue) -> None:
        self._options = options
        self._parts = ReplyParts(options, asked, joins=False)
        self._on_value = on_value

    def partial(self) -> tuple[Event, ...]:
        """Return what has arrived of a reply without an end: of a whole one, nothing."""
        return ()

    async def read(self, response: httpx.Response, failures: ReplyFailures) -> Turn:
        """Read an answer to its end.

        Raises:
            TargetError: it is not what the suite says, or reports an error.
        """
        kind = response.headers.get("content-type", "").lower()
        encoding = response.charset_encoding or "utf-8"
        data = b"".join([part async for part in parts_of(response)])
        if not self._options.reads_parts and "json" not in kind:
            if "html" in kind:
                raise failures.unreadable("the reply is a page", _text(data, encoding))
            self._parts.add_text(_text(data, encoding))
        elif len(data) > _LONG:
            await in_thread(self._take, data, failures)
        else:
            self._take(data, failures)
        return turn_of(self._parts, failures)

    def _take(self, data: bytes, failures: ReplyFailures) -> None:
        try:
            value = load_json(data.removeprefix(b"\xef\xbb\xbf"))
            self._on_value(value)
            self._parts.add(value)
        except ReportedError as error:
            raise failures.reported(error, begun=False) from error
        except ValueError as error:
            raise failures.unreadable(str(error), data.decode(errors="replace")) from error
        if self._options.reads_parts:
            return
        if not isinstance(value, str):
            where = "say under target.response where its text or messages are"
            raise failures.unreadable(f"the reply is JSON; {where}", data.decode(errors="replace"))
        self._parts.add_text(value)


def _text(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, errors="replace")
    except LookupError:  # a server may name any encoding
        return data.decode(errors="replace")


def turn_of(parts: ReplyParts | ModelStream, failures: ReplyFailures) -> Turn:
    """Return the turn that a reply holds.

    Raises:
        TargetError: it holds none, or what cannot be read; or it reports an error.
    """
    try:
        return parts.turn()
    except ReportedError as error:
        raise failures.reported(error, begun=parts.begun) from error
    except ValueError as error:
        raise failures.bad(str(error)) from error
