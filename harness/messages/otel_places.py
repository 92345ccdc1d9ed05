"""Where a span stands among the others: spans come in, what each is inside of goes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.messages.otel_attributes import Kind, run_of
from harness.messages.otel_spans import Span, SpanKey


@dataclass(frozen=True, slots=True)
class Place:
    """Inside which tool's run a span stands, and its call's id; which model's reply; whose agent.

    A model's reply ends at the next tool or agent inside it.
    """

    tool: SpanKey | None = None
    call_id: str | None = None
    model: SpanKey | None = None
    agent: str | None = None


def find_places(spans: Sequence[Span], kinds: Mapping[SpanKey, Kind]) -> dict[SpanKey, Place]:
    """Find the place of each span; one whose parents run in a circle stands nowhere."""
    by_key = {span.key: span for span in spans}
    places: dict[SpanKey, Place] = {}
    for span in spans:
        chain: list[Span] = []
        seen: set[SpanKey] = set()
        here: Span | None = span
        while here is not None and here.key not in places and here.key not in seen:
            chain.append(here)
            seen.add(here.key)
            here = by_key.get(here.above)
        for one in reversed(chain):
            parent = by_key.get(one.above)
            known = parent is not None and parent.key in places
            places[one.key] = _inside(parent, kinds, places) if parent and known else Place()
    return places


def _inside(parent: Span, kinds: Mapping[SpanKey, Kind], places: Mapping[SpanKey, Place]) -> Place:
    above, kind = places[parent.key], kinds[parent.key]
    if kind == "tool":
        return Place(tool=parent.key, call_id=run_of(parent).call_id, agent=above.agent)
    if kind == "agent":
        named = parent.text("gen_ai.agent.name", "agent_name", "agent.name")
        return Place(tool=above.tool, call_id=above.call_id, agent=named or above.agent)
    if kind == "model":
        # An agent that stands for its models has a name as well.
        named = parent.text("gen_ai.agent.name")
        return Place(above.tool, above.call_id, parent.key, named or above.agent)
    return above
