"""One recorded request to a model's API and its response: a record comes in, an exchange goes out.

A record is `{"request": {...}, "response": {...}}`, each the body or an object with a `body`; the
status stands beside them or in the response. The fields of one of the two may stand in the record
itself. A streamed response is put together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.endpoints.error_bodies import code_of_error, read_error_body
from harness.importers.record_fields import without
from harness.messages.streamed_replies import is_event_stream, join_stream, stream_events
from harness.system.json_values import load_json
from harness.types.trials import Failure

_FIRST_ERROR = 400
_STATUSES = ("code", "status_code", "status")
_ASKED = ("messages", "input", "contents")
_REPLIED = ("choices", "output", "content", "candidates")
_AROUND = ("request", "response", "status", "status_code", "url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its response; `status` is 0 where none is recorded.

    A `response` that was streamed is put together, with `is_cut` where the stream has no end; any
    other that is no JSON is its text. `beside` is the rest of the record.
    """

    request: Mapping[str, Any]
    response: Any
    status: int = 0
    url: str = ""
    beside: Mapping[str, Any]
    is_cut: bool = False

    @property
    def refused(self) -> bool:
        """Say whether the endpoint answered with an error, and with no reply at all."""
        reported = isinstance(self.response, Mapping) and bool(self.response.get("error"))
        return self.status >= _FIRST_ERROR or reported

    @property
    def failure(self) -> Failure | None:
        """Return what the endpoint answered in place of a reply, or of its end."""
        if not self.refused:
            cut = Failure(code="stream_cut", message="the stream has no end")
            return cut if self.is_cut else None
        error = read_error_body(self.response, status=self.status, otherwise="no message")
        return Failure(code=code_of_error(error), message=str(error))


def read_exchange(record: Any) -> Exchange | None:
    """Read a record of a request and its response; None where it is none."""
    if not isinstance(record, Mapping):
        return None
    request, response = record.get("request"), record.get("response")
    asked = _body(request)
    answer, is_cut = _answer(_body(response))
    merged: tuple[str, ...] = ()
    if request is None and _holds(record, _ASKED) and _holds(answer, _REPLIED):
        asked, merged = without(record, *_AROUND), (*_ASKED, "system", "system_instruction")
    elif response is None and isinstance(asked, Mapping) and _holds(record, _REPLIED):
        answer, merged = without(record, *_AROUND), (*_REPLIED, "usage")
        # The id of a response is not that of what it answers.
        merged += ("id",) if "object" in answer or answer.get("type") == "message" else ()
    if not isinstance(asked, Mapping):
        return None
    urls = (record.get("url"), request.get("url") if isinstance(request, Mapping) else None)
    return Exchange(
        request=asked,
        response=answer,
        status=_status(record.get("status"), record.get("status_code"), response),
        url=next((url for url in urls if isinstance(url, str)), ""),
        beside=without(record, *_AROUND, *merged),
        is_cut=is_cut,
    )


def _holds(body: Any, names: tuple[str, ...]) -> bool:
    """Say whether a body has one of the lists in which a request, or a reply, tells something."""
    return isinstance(body, Mapping) and any(isinstance(body.get(name), list) for name in names)


def _answer(body: Any) -> tuple[Any, bool]:
    """Return a response, put together where it was streamed, and whether the stream was cut."""
    if not isinstance(body, str) or not is_event_stream(body):
        return body, False
    replies = list(join_stream(stream_events(body)))
    if len(replies) != 1 or not replies[0].body:
        return body, False
    (reply,) = replies
    answer = {**reply.body, "error": reply.error} if reply.error else reply.body
    return answer, not reply.ended


def _body(value: Any) -> Any:
    """Return the body of a request or response, which may stand in it as JSON text."""
    if isinstance(value, Mapping) and "body" in value:
        value = value["body"]
    if isinstance(value, Mapping) and set(value) == {"string"}:
        value = value["string"]
    if isinstance(value, str):
        try:
            return load_json(value)
        except ValueError:
            return value
    return value


def _status(*values: Any) -> int:
    """Return the first status of HTTP: a number, or that of an object; 0 where there is none."""
    for value in values:
        inner = value.get("status") if isinstance(value, Mapping) else None
        for holder in (value, inner):
            rows = [holder.get(key) for key in _STATUSES] if isinstance(holder, Mapping) else []
            for found in (holder, *rows):
                if type(found) is int and 100 <= found < 600:  # noqa: PLR2004  (by RFC 9110)
                    return found
    return 0
