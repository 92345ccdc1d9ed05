"""A stream of a model API that an agent behind a URL passes on: its events in, a turn out."""

from typing import Any

from msgspec.structs import replace

from harness.messages.streamed_replies import join_stream, stream_of
from harness.messages.streamed_turns import StreamedTurns
from harness.system.clock import now
from harness.system.json_values import clean_json
from harness.targets.http_parts import PARTIAL, ReportedError
from harness.types.events import Event, SystemEvent
from harness.types.trajectories import Turn


class ModelStream:
    """Collects the events of one stream, whose replies are known by their shape."""

    def __init__(self) -> None:
        self._events: list[Any] = []

    @property
    def begun(self) -> bool:
        """Say whether anything of an answer has arrived."""
        return any(stream_of(event) is not None for event in self._events)

    @property
    def ended(self) -> bool:
        """Say whether the last reply has come to its end, if there is any."""
        replies = list(join_stream(self._events))
        return not self.begun or replies[-1].ended or replies[-1].error is not None

    def add(self, event: Any) -> None:
        """Add the next event."""
        self._events.append(event)

    def partial(self) -> tuple[Event, ...]:
        """Return what came of replies that were cut."""
        data = clean_json([reply.body for reply in join_stream(self._events)])
        return (SystemEvent(kind=PARTIAL, data=data, at=now()),)

    def turn(self) -> Turn:
        """Return what the replies hold.

        Raises:
            ReportedError: the stream reports an error.
            ValueError: no event of it is one of a model API.
        """
        replies = list(join_stream(self._events))
        turns = StreamedTurns()
        for reply in replies:
            if reported := reply.error or reply.body.get("error"):
                raise ReportedError(reported)
            turns.add(reply)
        if not self.begun:
            raise ValueError(
                "no event of the stream is known; say under target.response where the text is"
            )
        at = now()
        events = [
            replace(event, at=event.at or at)
            for turn in turns.trajectory().turns
            for event in turn.events
        ]
        steps = [step for turn in turns.trajectory().turns for step in turn.steps]
        return Turn(events=tuple(events), steps=tuple(steps))
