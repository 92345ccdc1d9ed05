"""The calls of a conversation that spans tell of: each counts once, however often it is told.

A call stands in a model's reply, in every later request, and in the span of the tool's run, with
an id or without. The span is the word on how it went: one that failed without a result has none,
and what the model was told in place of it is the message of an error.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from harness.messages.otel_attributes import ToolRun, run_of
from harness.messages.otel_messages import SpanMessage
from harness.messages.otel_places import Place
from harness.messages.otel_spans import Span, SpanKey
from harness.messages.response_items import FAILED_CALL
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import compact_json
from harness.types.events import ToolCall, ToolResult


class SpanCalls:
    """Adds calls and results to a conversation; `asked` are all requests of it."""

    def __init__(self, builder: TurnBuilder, asked: Iterable[Sequence[SpanMessage]]) -> None:
        self._builder = builder
        self._told = _told_results(asked)
        self._called: set[str] = set()
        self._numbered: set[str] = set()
        self._answered: set[str] = set()
        self._taken: set[str] = set()
        self._waiting: dict[tuple[str, str], deque[str]] = {}
        self._waiting_numbered: dict[tuple[str, str], deque[str]] = {}
        self._repeated: Counter[str] = Counter()
        self._runs: dict[SpanKey, tuple[str, ToolRun]] = {}

    def add(self, call: ToolCall, fields: dict[str, Any]) -> None:
        """Add a call that a model made; one without an id gets a number."""
        own = call.call_id
        if own is None:
            own = f"call-{len(self._numbered) + 1}"
            self._numbered.add(own)
        elif own in self._called:
            return
        self._called.add(own)
        signature = _signature(call.name, call.arguments)
        self._waiting.setdefault(signature, deque()).append(own)
        if call.call_id is None:
            self._waiting_numbered.setdefault(signature, deque()).append(own)
        self._builder.add_to_step(replace(call, call_id=own, **fields))

    def answer(self, result: ToolResult, fields: dict[str, Any]) -> None:
        """Add what a model was told of a call, unless the tool's run told it."""
        if result.call_id is None:
            if self._repeated[result.output] > 0:
                self._repeated[result.output] -= 1
                return
        elif result.call_id in self._answered:
            return
        else:
            self._answered.add(result.call_id)
        self._builder.add_to_step(replace(result, **fields))

    def begin(self, span: Span, place: Place, fields: dict[str, Any]) -> None:
        """Begin a tool's run; its call is added where no model's reply holds it."""
        run = run_of(span)
        outer = self._runs.get(place.tool) if place.tool else None
        if run.call_id is None and outer is not None and outer[1].name == run.name:
            # The same run, as the layer below tells it.
            return
        own = self._find(run) or run.call_id or f"span-{span.own}"
        self._runs[span.key] = own, run
        self._taken.add(own)
        if own not in self._called:
            self._called.add(own)
            arguments = run.arguments
            call = ToolCall(
                call_id=own,
                name=run.name,
                # Null where they are not told: unknown, not empty.
                arguments=arguments.value if arguments else None,
                arguments_text=arguments.text if arguments else None,
            )
            self._builder.add_to_step(replace(call, **{**fields, "at": span.start}))

    def end(self, span: Span, fields: dict[str, Any]) -> None:
        """Add what a run gave back, unless it is known already."""
        if span.key not in self._runs:
            return
        own, run = self._runs[span.key]
        if own not in self._answered:
            self._add_end(own, run, {**fields, "at": span.end})
        if run.call_id is not None and own in self._answered:
            self._answered.add(run.call_id)

    def _find(self, run: ToolRun) -> str | None:
        """Return the call that a run is of: by its id, else the earliest that is alike."""
        if run.call_id is not None and run.call_id in self._called:
            return run.call_id
        arguments = run.arguments.value if run.arguments else None
        # Some call a tool by ids that their model never sees.
        waiting = self._waiting if run.call_id is None else self._waiting_numbered
        calls = waiting.get(_signature(run.name, arguments), deque())
        while calls and (calls[0] in self._answered or calls[0] in self._taken):
            calls.popleft()
        return calls[0] if calls else None

    def _add_end(self, own: str, run: ToolRun, fields: dict[str, Any]) -> None:
        if run.output is not None:
            self._answered.add(own)
            self._repeated[run.output.text] += own in self._numbered
            ok = run.output.ok and run.error is None
            more = {"ok": ok, "structured": run.output.structured, **fields}
            self._builder.result(own, run.output.text, **more)
        elif run.error is not None:
            self._answered.add(own)
            message = self._told.get(own) or run.error
            self._builder.error(FAILED_CALL, message, **{**fields, "parent_call_id": own})


def _signature(name: str, arguments: Any) -> tuple[str, str]:
    return name, compact_json(arguments)


def _told_results(asked: Iterable[Sequence[SpanMessage]]) -> dict[str, str]:
    """Return what models were told of each call, by its id."""
    return {
        event.call_id: event.output
        for messages in asked
        for message in messages
        for event in message.events
        if isinstance(event, ToolResult) and event.call_id is not None
    }
