"""A conversation put together from spans: spans come in, events go out.

Every request to a model repeats what was said before, and a tool's span repeats what the next
request holds: everything counts once. A tool's span is the word on how its call went. What is said
inside a tool's run is a sub-agent's: its events name the call, and no user speaks there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from harness.messages.otel_attributes import Kind, kind_of, rest_of, step_of, talk_of
from harness.messages.otel_calls import SpanCalls
from harness.messages.otel_messages import SpanMessage
from harness.messages.otel_places import Place, find_places
from harness.messages.otel_spans import Span, SpanKey
from harness.messages.retry_prompts import RETRY_PROMPT, is_retry_prompt
from harness.messages.turn_building import AGENT_PROMPT, TurnBuilder
from harness.types.events import SystemEvent, ToolCall, ToolResult

_MEDIA = ("audio", "blob", "file", "image", "image_url", "inline_data", "media", "uri", "video")


@dataclass(slots=True)
class _Scope:
    """What was said so far where one agent works."""

    known: list[int] = field(default_factory=list)
    systems: set[str] = field(default_factory=set)


def build_conversation(spans: Sequence[Span], builder: TurnBuilder) -> None:
    """Add the events of spans to a conversation, in the order in which they started.

    A tool inside which something else goes on gives its result when it ends.
    """
    conversation = _Conversation(spans, builder)
    times = [(_seconds(span.start), 1, span) for span in spans]
    times += [(_seconds(span.end), 0, span) for span in spans if conversation.is_long(span)]
    for _, begins, span in sorted(times, key=itemgetter(0, 1)):
        if begins:
            conversation.add(span)
        else:
            conversation.end(span)


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


class _Conversation:
    def __init__(self, spans: Sequence[Span], builder: TurnBuilder) -> None:
        self._builder = builder
        kinds: dict[SpanKey, Kind] = {span.key: kind_of(span) for span in spans}
        talks = {s.key: talk_of(s) for s in spans if kinds[s.key] in ("model", "agent")}
        self._kinds = _with_speakers(kinds, talks)
        self._talks = {key: talks[key] for key, kind in self._kinds.items() if kind == "model"}
        self._places = find_places(spans, self._kinds)
        self._inhabited = {place.tool for place in self._places.values() if place.tool}
        agents = {self._places[key].agent for key in self._talks}
        self._names_agents = len(agents) > 1
        self._scopes: dict[SpanKey | None, _Scope] = {}
        self._calls = SpanCalls(builder, (given for given, _ in self._talks.values()))

    def add(self, span: Span) -> None:
        """Add a span."""
        kind, place = self._kinds[span.key], self._places[span.key]
        if kind == "model":
            self._add_reply(span, place)
        elif kind == "tool":
            self._calls.begin(span, place, self._fields(place))
            if not self.is_long(span):
                self.end(span)
        else:
            named = span.text("gen_ai.operation.name", "openinference.span.kind")
            shown = named or ("agent" if kind == "agent" else "span")
            self._builder.system(shown, span.name, rest_of(span), at=span.start)

    def is_long(self, span: Span) -> bool:
        """Say whether a span is a tool's run inside which something else goes on."""
        # A run that ends before it starts has no time that could be trusted.
        return span.key in self._inhabited and _seconds(span.end) > _seconds(span.start)

    def end(self, span: Span) -> None:
        """End a tool's run."""
        self._calls.end(span, self._fields(self._places[span.key]))

    def _fields(self, place: Place) -> dict[str, Any]:
        named = {"agent": place.agent} if place.agent and (place.tool or self._names_agents) else {}
        return {**named, "parent_call_id": place.call_id} if place.call_id else named

    def _add_reply(self, span: Span, place: Place) -> None:
        given, said = self._talks[span.key]
        if place.model is not None and (self._talks[place.model][1] or not said):
            # The same reply, as the layer below tells it.
            return
        scope = self._scopes.setdefault(place.tool, _Scope())
        fields = self._fields(place)
        before, after = {**fields, "at": span.start}, {**fields, "at": span.end}
        for message in given:
            if message.role == "system":
                self._add_system(message, scope, before)
        asked = [message for message in given if message.role != "system"]
        for message in _new_messages(scope.known, asked):
            self._add_given(message, before, is_inner=place.tool is not None)
            scope.known.append(message.key)
        self._builder.begin_step(step_of(span, said))
        for message in said:
            self._add_said(message, after)
            scope.known.append(message.key)
        if span.error is not None:
            self._builder.error(span.text("error.type") or "error", span.error, **after)

    def _add_system(self, message: SpanMessage, scope: _Scope, fields: dict[str, Any]) -> None:
        text = "\n".join(message.texts)
        if text not in scope.systems:
            scope.systems.add(text)
            self._builder.system("system", text, **fields)
            self._add_events(message, fields)

    def _add_given(self, message: SpanMessage, fields: dict[str, Any], *, is_inner: bool) -> None:
        text = "\n".join(message.texts)
        if message.role == "assistant":
            self._builder.begin_step()
        elif message.role != "user" and not text:
            pass
        elif is_inner:
            self._builder.system(AGENT_PROMPT, text, **fields)
        elif is_retry_prompt(text):
            self._builder.system(RETRY_PROMPT, text, **fields)
        else:
            self._builder.user(text, at=fields.get("at"))
        self._add_events(message, fields)

    def _add_said(self, message: SpanMessage, fields: dict[str, Any]) -> None:
        if message.role != "assistant" and message.texts:
            self._builder.assistant("\n".join(message.texts), **fields)
        self._add_events(message, fields)

    def _add_events(self, message: SpanMessage, fields: dict[str, Any]) -> None:
        for event in message.events:
            if isinstance(event, ToolCall):
                self._calls.add(event, fields)
            elif isinstance(event, ToolResult):
                self._calls.answer(event, fields)
            elif isinstance(event, SystemEvent) and event.kind in _MEDIA:
                self._builder.system(event.kind, data=event.data, **fields)
            elif isinstance(event, SystemEvent):
                self._builder.keep_unread(event.kind, event.data, **fields)
            else:
                self._builder.add_to_step(replace(event, **fields))


def _with_speakers(
    kinds: Mapping[SpanKey, Kind], talks: Mapping[SpanKey, Sequence[Sequence[SpanMessage]]]
) -> dict[SpanKey, Kind]:
    """Let agents stand for models where no model's messages are recorded."""
    speak = {key for key, talk in talks.items() if any(talk)}
    if any(kinds[key] == "model" for key in speak):
        return dict(kinds)
    return {key: "model" if key in speak else kind for key, kind in kinds.items()}


def _new_messages(known: Sequence[int], given: Sequence[SpanMessage]) -> list[SpanMessage]:
    """Return the messages that were not said before.

    A request holds all that was said, its end, a part with what is new, or only what is new.
    """
    keys = [message.key for message in given]
    shared = _overlap(keys, known[-len(keys) :] if keys else [])
    if shared:
        return list(given[shared:])
    seen = set(known)
    repeats = any(message.key in seen for message in given if message.role != "user")
    if not repeats and (not keys or not known or keys[0] != known[0]):
        return list(given)
    left = Counter(known)
    new: list[SpanMessage] = []
    for message in given:
        if left[message.key] > 0:
            left[message.key] -= 1
        else:
            new.append(message)
    return new


def _overlap(keys: Sequence[int], before: Sequence[int]) -> int:
    """Return how many of the first keys are the last of those before (Knuth, Morris and Pratt)."""
    joined: list[int | None] = [*keys, None, *before]
    lengths = [0] * len(joined)
    for at in range(1, len(joined)):
        length = lengths[at - 1]
        while length and joined[at] != joined[length]:
            length = lengths[length - 1]
        lengths[at] = length + (joined[at] == joined[length])
    return lengths[-1] if before else 0
