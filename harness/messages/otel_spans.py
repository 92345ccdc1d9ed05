"""Spans of OpenTelemetry, however they were exported: JSON comes in, spans go out.

Read are OTLP JSON (1.x: `resourceSpans`, one request a file or a line), spans as the SDKs' console
exporters print them, and flat spans with `trace_id`, `span_id` and `attributes`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from harness.messages.completions import text_or_none
from harness.messages.foreign_times import read_time

_CONTAINERS = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
_ENDS = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
_SECOND = 10**9
_UNITS = ((10**17, _SECOND), (10**14, 10**6), (10**11, 10**3))
"""From which number on a time counts nanoseconds, microseconds, milliseconds: units a second."""

SpanKey = tuple[str, str]
"""The ids of a trace and of a span in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """What happened inside a span."""

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span; `error` says why it failed, None where it did not.

    `attributes` are plain values, `resource` says what program it is of.
    """

    trace: str
    own: str
    parent: str | None
    name: str
    start: datetime | None = None
    end: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None
    resource: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> SpanKey:
        """Return what tells it from all others."""
        return self.trace, self.own

    @property
    def above(self) -> SpanKey:
        """Return the key of its parent, which need not be there."""
        return self.trace, self.parent or ""

    def text(self, *names: str) -> str | None:
        """Return the first of the attributes that holds a text."""
        return next((t for name in names if (t := text_or_none(self.attributes.get(name)))), None)

    def first(self, *names: str) -> Any:
        """Return the first of the attributes that is there, None for none."""
        return next((self.attributes[name] for name in names if name in self.attributes), None)


def is_span(value: Any) -> bool:
    """Say whether a value is a span, or a request of OTLP that holds some."""
    if not isinstance(value, Mapping):
        return False
    if any(isinstance(value.get(key), list) for key in _CONTAINERS):
        return True
    trace, own = _ids(value)
    return trace is not None and own is not None and isinstance(value.get("name"), str)


def read_spans(value: Any) -> Iterator[Any]:
    """Return each span of a value as a `Span`, and what is none as it is."""
    if isinstance(value, list):
        for item in value:
            yield from read_spans(item)
        return
    if not isinstance(value, Mapping):
        yield value
        return
    containers = [rows for key in _CONTAINERS if isinstance(rows := value.get(key), list)]
    if containers:
        for row in containers[0]:
            yield from _spans_of_resource(row)
    elif isinstance(value.get("spans"), list) and not is_span(value):
        yield from read_spans(value["spans"])
    elif is_span(value):
        yield _read_span(value, _attributes(_mapping(value.get("resource")).get("attributes")))
    else:
        yield value


def _spans_of_resource(row: Any) -> Iterator[Any]:
    if not isinstance(row, Mapping):
        yield row
        return
    resource = _attributes(_mapping(row.get("resource")).get("attributes"))
    scopes = [rows for key in _SCOPES if isinstance(rows := row.get(key), list)]
    for scope in scopes[0] if scopes else ():
        spans = _mapping(scope).get("spans")
        for span in spans if isinstance(spans, list) else ():
            yield _read_span(span, resource) if is_span(span) else span


def _read_span(value: Mapping[str, Any], resource: Mapping[str, Any]) -> Span:
    trace, own = _ids(value)
    attributes = _attributes(value.get("attributes"))
    events = value.get("span_events") or value.get("events")
    found = [_read_event(event) for event in events] if isinstance(events, list) else []
    parents = (value.get(key) for key in ("parent_span_id", "parentSpanId", "parent_id"))
    return Span(
        trace=trace or "",
        own=own or "",
        parent=next((parent for parent in map(_id, parents) if parent), None),
        name=str(value.get("name")),
        start=_moment(value, _STARTS),
        end=_moment(value, _ENDS),
        attributes=attributes,
        events=tuple(found),
        error=_error(value.get("status"), attributes, found),
        resource=resource,
    )


def _ids(value: Mapping[str, Any]) -> tuple[str | None, str | None]:
    context = _mapping(value.get("context"))
    holders = (value, context)
    traces = (holder.get(key) for holder in holders for key in ("trace_id", "traceId"))
    spans = (holder.get(key) for holder in holders for key in ("span_id", "spanId"))
    return next(filter(None, map(_id, traces)), None), next(filter(None, map(_id, spans)), None)


def _id(value: Any) -> str | None:
    return value.removeprefix("0x") if isinstance(value, str) and value else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _moment(value: Mapping[str, Any], keys: tuple[str, ...]) -> datetime | None:
    found = next((value[key] for key in keys if value.get(key) is not None), None)
    if isinstance(found, str) and found.isdecimal() and len(found) < 30:  # noqa: PLR2004
        found = int(found)
    if isinstance(found, int | float) and not isinstance(found, bool):
        unit = next((per_second for least, per_second in _UNITS if found >= least), 1)
        return read_time(found, per_second=unit)
    return read_time(found)


def _read_event(value: Any) -> SpanEvent:
    value = _mapping(value)
    attributes = _attributes(value.get("attributes"))
    names = (value.get("event_name"), value.get("name"), attributes.get("event.name"))
    return SpanEvent(name=next(filter(None, map(text_or_none, names)), ""), attributes=attributes)


def _attributes(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    rows = value if isinstance(value, list) else []
    found = [row for row in rows if isinstance(row, Mapping) and isinstance(row.get("key"), str)]
    return {row["key"]: _plain(row.get("value")) for row in found}


def _plain(value: Any) -> Any:
    """Return a value of OTLP as a plain one: `{"intValue": "3"}` is 3."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    if kind == "arrayValue":
        rows = _mapping(inner).get("values")
        return [_plain(row) for row in rows] if isinstance(rows, list) else []
    if kind == "kvlistValue":
        return _attributes(_mapping(inner).get("values"))
    if kind == "intValue" and isinstance(inner, str) and inner.lstrip("-").isdecimal():
        return int(inner) if len(inner) < 30 else inner  # noqa: PLR2004  (longer is no count)
    return inner if kind.endswith("Value") else value


def _error(status: Any, attributes: Mapping[str, Any], events: list[SpanEvent]) -> str | None:
    status = _mapping(status)
    code = status.get("code", status.get("status_code"))
    kind = text_or_none(attributes.get("error.type"))
    is_error = code == 2 or str(code).upper().endswith("ERROR")  # noqa: PLR2004  (STATUS_CODE_ERROR)
    if not is_error and kind is None:
        return None
    raised = (event.attributes for event in events if event.name == "exception")
    told = next((text_or_none(found.get("exception.message")) for found in raised), None)
    words = (status.get("message"), status.get("description"), told, kind)
    return next(filter(None, map(text_or_none, words)), "error")
