"""Submissions made of pieces of events, and where a part of one stands in those events."""

from collections.abc import Iterable, Iterator

from harness.types.events import AssistantMessage
from harness.types.grades import Ref
from harness.types.protocols import Submission
from harness.types.trajectories import Trajectory

Piece = tuple[Ref, str]
"""A text, and where it stands: an event, or the characters `start` to `end` of its text."""


def assistant_messages(trajectory: Trajectory) -> Iterator[Piece]:
    """Return every assistant message with its place, in order."""
    for t, turn in enumerate(trajectory.turns):
        for e, event in enumerate(turn.events):
            if isinstance(event, AssistantMessage):
                yield Ref(turn=t, event=e), event.text


def last_message(trajectory: Trajectory) -> Piece | None:
    """Return the last assistant message with its place, None where there is none."""
    # Its own loop: a generator that is left halfway takes longer to end than to begin.
    for t in range(len(trajectory.turns) - 1, -1, -1):
        events = trajectory.turns[t].events
        for e in range(len(events) - 1, -1, -1):
            event = events[e]
            if isinstance(event, AssistantMessage):
                return Ref(turn=t, event=e), event.text
    return None


def latest_messages(trajectory: Trajectory) -> Iterator[Piece]:
    """Return every assistant message with its place, the last one first."""
    for t in range(len(trajectory.turns) - 1, -1, -1):
        events = trajectory.turns[t].events
        for e in range(len(events) - 1, -1, -1):
            event = events[e]
            if isinstance(event, AssistantMessage):
                yield Ref(turn=t, event=e), event.text


def submission_of(piece: Piece | None) -> Submission:
    """Return a piece as a submission; an empty one for none."""
    if piece is None:
        return Submission("")
    ref, text = piece
    return Submission(text, (ref,), ((0, len(text)),))


def join_pieces(pieces: Iterable[Piece], separator: str) -> Submission:
    """Join the texts of pieces by a separator."""
    refs, texts, spans, start = [], [], [], 0
    for ref, text in pieces:
        refs.append(ref)
        texts.append(text)
        spans.append((start, start + len(text)))
        start += len(text) + len(separator)
    return Submission(separator.join(texts), tuple(refs), tuple(spans))


def refs_of_span(submission: Submission, *, start: int, end: int) -> tuple[Ref, ...]:
    """Point at characters `start` to `end` of a submission, in the events it was taken from.

    Where an extractor does not say which characters came from where, its refs stay as they are.
    """
    if len(submission.spans) != len(submission.refs):
        return submission.refs
    found = []
    for ref, (begin, stop) in zip(submission.refs, submission.spans, strict=True):
        first, last = max(start, begin), min(end, stop)
        # An empty match stands also at either end of a piece.
        if first < last or first == last == start == end:
            offset = (ref.start or 0) - begin
            moved = Ref(turn=ref.turn, event=ref.event, start=first + offset, end=last + offset)
            found.append(moved)
    return tuple(found) or submission.refs
