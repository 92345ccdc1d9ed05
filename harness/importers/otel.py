"""Traces of OpenTelemetry with spans of generative AI: a conversation is what shares an id.

Read are OTLP JSON, spans of console exporters and flat spans: in a list, one a line, or a request a
line. The spans follow the GenAI semantic conventions (1.28 to 1.40), in events or attributes, or
are those of Pydantic AI, Google's Agent Development Kit, OpenInference, OpenLLMetry or AutoGen.
Traces with the same `gen_ai.conversation.id` (`session.id`) are one conversation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import is_outcome
from harness.importers.recorded_failures import read_outage, status_of
from harness.messages.otel_attributes import kind_of, rest_of
from harness.messages.otel_conversations import build_conversation
from harness.messages.otel_spans import Span, is_span, read_spans
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported, Unreadable
from harness.types.trials import Failure

_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id")
_MODELS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "model_name")
_EVALUATION = "gen_ai.evaluation.result"
_TELLING = ("model", "tool", "agent")


@dataclass(frozen=True, slots=True)
class OpenTelemetry:
    """Spans of OpenTelemetry: one conversation a trace, or several traces of the same one."""

    specification: ClassVar[str] = (
        "OpenTelemetry GenAI semantic conventions, 1.28 to 1.40; OTLP JSON 1.x"
    )

    def claims(self, head: Head) -> bool:
        """Say whether the first records are spans."""
        rows = [row for value in head.values for row in _rows(value)[:5]]
        return any(map(is_span, rows))

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversations, in the order in which their first spans stand.

        Raises:
            ValueError: there is no span.
        """
        builder = TurnBuilder()
        spans: list[Span] = []
        for place, value in source.values(lenient=True):
            for row in _rows(value):
                for found in [row] if isinstance(row, Unreadable) else read_spans(row):
                    if isinstance(found, Span):
                        spans.append(found)
                    else:
                        builder.keep_unread("record", _kept(place, found))
        if not spans:
            raise ValueError(f"{source.shown}: there are no spans")
        groups = _conversations(_distinct(spans))
        for index, group in enumerate(groups):
            yield _read_group(source.shown, group, builder if index == 0 else TurnBuilder())


def _rows(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    inner = value.get("spans") if isinstance(value, dict) and not is_span(value) else None
    return inner if isinstance(inner, list) else [value]


def _kept(place: str, row: Any) -> Any:
    if isinstance(row, Unreadable):
        row = {"text": row.text, "problem": row.problem}
    line = place.rpartition(":")[2]
    return {"line": int(line), "value": row} if line.isdecimal() else row


def _distinct(spans: list[Span]) -> list[Span]:
    """Return each span once: some exporters write one when it starts and when it ends."""
    return list({span.key: span for span in spans}.values())


def _conversations(spans: list[Span]) -> list[list[Span]]:
    """Group spans; traces in which no model, tool or agent runs are of the first conversation."""
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    groups: dict[str, list[Span]] = {}
    quiet: list[Span] = []
    for trace, members in traces.items():
        if not any(kind_of(span) in _TELLING for span in members):
            quiet += members
            continue
        told = next((found for span in members if (found := span.text(*_CONVERSATIONS))), None)
        groups.setdefault(told or f"trace {trace}", []).extend(members)
    talks = list(groups.values()) or [[]]
    return [[*quiet, *talks[0]], *talks[1:]]


def _read_group(place: str, spans: list[Span], builder: TurnBuilder) -> Imported:
    try:
        build_conversation(spans, builder)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    failure = _failure(spans)
    ranked = sorted(spans, key=lambda span: kind_of(span) != "model")
    models = (span.text(*_MODELS) for span in ranked)
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        model=next((model for model in models if model), None),
        status=status_of(failure),
        failure=failure,
        seconds=_seconds(spans),
        outcomes=_outcomes(spans),
        fields=_fields(spans),
        unread=builder.unread,
    )


def _roots(spans: Sequence[Span]) -> list[Span]:
    known = {span.key for span in spans}
    roots = [span for span in spans if span.above not in known]
    return [span for span in roots if kind_of(span) != "maker"] or roots


def _failure(spans: Sequence[Span]) -> Failure | None:
    """Return how the conversation broke: the last of its outermost spans failed."""
    roots = _roots(spans)
    last = roots[-1] if roots else None
    return None if last is None or last.error is None else read_outage(last.error)


def _seconds(spans: Sequence[Span]) -> float | None:
    found = [(s.end - s.start).total_seconds() for s in _roots(spans) if s.start and s.end]
    return sum(seconds for seconds in found if seconds > 0) if found else None


def _outcomes(spans: Sequence[Span]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for span in spans:
        for event in span.events:
            name = event.attributes.get("gen_ai.evaluation.name")
            values = ("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label")
            told = (event.attributes.get(key) for key in values)
            value = next((value for value in told if is_outcome(value)), None)
            if event.name == _EVALUATION and isinstance(name, str) and value is not None:
                found[name] = value
    return found


def _fields(spans: Sequence[Span]) -> dict[str, Any]:
    roots = _roots(spans)
    if not roots:
        return {}
    root = roots[0]
    told = next((found for span in spans if (found := span.text(*_CONVERSATIONS))), None)
    named = {"conversation_id": told} if told else {}
    resource = {"resource": dict(root.resource)} if root.resource else {}
    return {"trace_id": root.trace, **named, **rest_of(root), **resource}
