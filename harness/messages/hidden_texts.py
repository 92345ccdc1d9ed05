"""Events and trajectories without the values of secrets."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
from msgspec import structs

from harness.system.secret_values import SHOWN, Secrets, map_texts
from harness.types.events import AssistantMessage, Event, Reasoning, UserMessage
from harness.types.trajectories import Step, Trajectory, Turn

_SPOKEN = (AssistantMessage, Reasoning)
_TOLD = (*_SPOKEN, UserMessage)
_encode = msgspec.json.Encoder().encode


def event_without(secrets: Secrets, event: Event) -> Event:
    """Return an event without secrets; itself where it holds none."""
    # The values alone are looked at: an event stays one whatever a secret is.
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    kept = {name: map_texts(value, secrets.hide) for name, value in fields.items()}
    return event if kept == fields else structs.replace(event, **kept)


def trajectory_without(secrets: Secrets, trajectory: Trajectory) -> Trajectory:
    """Return a trajectory without secrets; itself where it holds none.

    One that stands over several messages in a row, as an agent may print it piece by piece, is
    found too.
    """
    if not secrets or not any(_may_hold(secrets, turn) for turn in trajectory.turns):
        return trajectory
    return Trajectory(
        turns=tuple(
            Turn(
                events=tuple(_events_without(secrets, turn.events)),
                steps=tuple(step_without(secrets, step) for step in turn.steps),
            )
            for turn in trajectory.turns
        )
    )


def _may_hold(secrets: Secrets, turn: Turn) -> bool:
    # Every trial of a run goes through this loop, nearly always to its end.
    before: type[Event] | None = None
    for event in turn.events:
        kind = type(event)
        if isinstance(event, _TOLD):
            # What is said in several pieces is looked at as a whole.
            if secrets.stand_in(event.text) or (kind is before and kind in _SPOKEN):
                return True
        elif _holds(secrets, event):
            return True
        before = kind
    return any(_holds(secrets, step) for step in turn.steps)


def _holds(secrets: Secrets, what: Event | Step) -> bool:
    try:
        return secrets.are_in(_encode(what))
    except (UnicodeEncodeError, OverflowError, TypeError, msgspec.MsgspecError):
        return True  # what has no JSON form is looked at text by text


def _events_without(secrets: Secrets, events: Sequence[Event]) -> Iterator[Event]:
    for kind, group in groupby(events, type):
        row = [event_without(secrets, event) for event in group]
        yield from _row_without(secrets, row) if len(row) > 1 and kind in _SPOKEN else row


def _row_without(secrets: Secrets, row: Sequence[Event]) -> Iterator[Event]:
    """Hide what only all texts of a row together show."""
    texts = [event.text for event in row if isinstance(event, _SPOKEN)]
    spans = secrets.spans("".join(texts))
    at = 0
    for event, text in zip(row, texts, strict=True):
        shown = _cut_out(text, [(begin - at, end - at) for begin, end in spans])
        at += len(text)
        yield event if shown == text else structs.replace(event, text=shown)


def _cut_out(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace spans that may begin before the text, or end after it."""
    for begin, end in reversed(spans):
        if end > 0 and begin < len(text):
            # What began before stands as hidden there already.
            text = f"{text[: max(begin, 0)]}{SHOWN if begin >= 0 else ''}{text[end:]}"
    return text


def step_without(secrets: Secrets, step: Step) -> Step:
    """Return the numbers of a reply without secrets in its texts; itself where it holds none."""
    names = (step.model, step.stop_reason)
    model, stop_reason = (None if name is None else secrets.hide(name) for name in names)
    if (model, stop_reason) == names:
        return step
    return structs.replace(step, model=model, stop_reason=stop_reason)
