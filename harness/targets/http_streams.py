"""Streamed replies of an agent behind a URL: server-sent events come in, a turn goes out."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from harness.endpoints.failures import classify
from harness.messages.server_sent import EventData
from harness.system.json_paths import select
from harness.system.json_values import load_json
from harness.targets.http_exchanges import parts_of
from harness.targets.http_model_streams import ModelStream
from harness.targets.http_options import HttpResponse
from harness.targets.http_parts import ReplyParts, ReportedError
from harness.targets.http_replies import OnValue, ReplyFailures, turn_of
from harness.targets.http_stream_ends import CLOSE, is_end_name, marks_end
from harness.types.errors import TargetError
from harness.types.events import Event
from harness.types.trajectories import Turn

_DRAIN_SECONDS = 0.1  # wait for the end of a stream, so that its connection is used again
_DONE = "[DONE]"
_HINT = f"name what ends it as target.response.done; `{CLOSE}` if it just ends"


class StreamedReply:
    """Reads a stream of events; without paths it is the stream of a model API."""

    def __init__(self, options: HttpResponse, asked: Sequence[str], on_value: OnValue) -> None:
        self._options = options
        self._on_value = on_value
        self._parts: ReplyParts | ModelStream = ModelStream()
        if options.reads_parts:
            self._parts = ReplyParts(options, asked, joins=True)
        self._is_over = False
        self._is_marked = False  # over by what has come so far, if nothing follows

    def partial(self) -> tuple[Event, ...]:
        """Return what has arrived of a stream without an end."""
        return self._parts.partial() if self._parts.begun else ()

    async def read(self, response: httpx.Response, failures: ReplyFailures) -> Turn:
        """Read a stream to its end.

        Raises:
            TargetError: it was cut, is not what the suite says, or reports an error.
        """
        events = EventData()
        try:
            await self._receive(response, events, failures)
        except TargetError:
            raise
        except Exception as error:
            # What follows the end, or does not come, is no matter.
            if not self._is_over:
                known = classify(error)
                if known is None:
                    raise
                raise failures.cut(str(known)) from error
        for text in events.end():
            self._take(events.name, text, failures)
        self._require_end(failures)
        return turn_of(self._parts, failures)

    async def _receive(
        self, response: httpx.Response, events: EventData, failures: ReplyFailures
    ) -> None:
        async with asyncio.timeout(None) as limit:
            async for data in parts_of(response):
                for text in events.feed(data):
                    self._take(events.name, text, failures)
                if self._is_over and limit.when() is None:
                    limit.reschedule(asyncio.get_running_loop().time() + _DRAIN_SECONDS)

    def _require_end(self, failures: ReplyFailures) -> None:
        """Check that the stream has ended, as far as anything tells that."""
        done = self._options.done
        if self._is_over or done == CLOSE:
            return
        if done is not None:
            raise failures.cut(f"the stream ended without {done}")
        if isinstance(self._parts, ModelStream):
            if not self._parts.ended:
                raise failures.cut("the stream ended before the reply did")
        elif self._parts.begun and not self._is_marked:
            error = failures.cut("the stream ended without a mark that it is whole")
            error.hint = _HINT
            raise error

    def _take(self, name: str, text: str, failures: ReplyFailures) -> None:
        """Take the next event, given its name and data."""
        if self._is_over:
            return
        data = text.strip()
        done = self._options.done
        self._is_over = data == _DONE or (done is not None and done in (name, data))
        value = self._value(text)
        is_end = self._is_over or (done is None and is_end_name(name))
        self._mark(value, is_end=is_end)
        if data in {"", _DONE} or (is_end and not isinstance(value, dict)):
            # What ends a stream is no piece of the text, but may hold numbers.
            return
        try:
            self._raise_named(name, value)
            self._on_value(value)
            self._parts.add(value)
            self._is_over = self._is_over or self._leads_to_end(value)
        except ReportedError as error:
            raise failures.reported(error, begun=self._parts.begun) from error
        except ValueError as error:
            raise failures.unreadable(str(error), text) from error

    def _mark(self, value: Any, *, is_end: bool) -> None:
        """Note whether the stream may be over; what the agent says after a mark takes it back."""
        if is_end or marks_end(value):
            self._is_marked = True
        elif self._is_marked:
            self._is_marked = not self._brings_more(value)

    def _brings_more(self, value: Any) -> bool:
        paths = filter(None, (self._options.text, self._options.messages))
        found = (one for path in paths for one in select(path, value))
        return any(one not in (None, "", []) for one in found)

    def _raise_named(self, name: str, value: Any) -> None:
        if name == "error" and self._options.error is None:
            raise ReportedError(value)

    def _value(self, text: str) -> Any:
        try:
            value = load_json(text)
        except ValueError:
            return text
        # A piece of text that looks like a number is a piece of text.
        return text if self._options.text == "$" and not isinstance(value, str) else value

    def _leads_to_end(self, value: Any) -> bool:
        done = self._options.done
        if done is None or not self._options.ends_by_path:
            return False
        return any(found not in (None, False, "", 0) for found in select(done, value))
