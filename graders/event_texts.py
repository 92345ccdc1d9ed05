"""The text of an event, and where a piece of a submission stands in the events it came from."""

from harness.types.events import AssistantMessage, Event, ToolCall, ToolResult
from harness.types.grades import Ref
from harness.types.protocols import Submission
from harness.types.trajectories import Trajectory


def assistant_messages(trajectory: Trajectory) -> list[tuple[Ref, str]]:
    """Give every assistant message with the place where it stands, in order."""
    return [
        (Ref(turn=t, event=e), event.text)
        for t, turn in enumerate(trajectory.turns)
        for e, event in enumerate(turn.events)
        if isinstance(event, AssistantMessage)
    ]


def refs_of_span(
    trajectory: Trajectory, submission: Submission, *, start: int, end: int
) -> tuple[Ref, ...]:
    """Point at characters `start` to `end` of a submission, in the events it was taken from.

    A submission is the text of its refs, joined by one separator. Where it is something else,
    its refs are given as they are.
    """
    if len(submission.refs) == 1:
        return (_within(trajectory, submission, start, end),)
    pieces = [_piece(trajectory, ref) for ref in submission.refs]
    lengths = [len(text) for text, _ in pieces if text is not None]
    gaps = len(pieces) - 1
    rest = len(submission.text) - sum(lengths)
    if gaps < 1 or len(lengths) != len(pieces) or rest < 0 or rest % gaps:
        return submission.refs
    separator = rest // gaps
    found = []
    position = 0
    for ref, (_, begin), length in zip(submission.refs, pieces, lengths, strict=True):
        first, last = max(start - position, 0), min(end - position, length)
        if first < last or (start == end and 0 <= start - position <= length):
            found.append(Ref(turn=ref.turn, event=ref.event, start=begin + first, end=begin + last))
        position += length + separator
    return tuple(found) or submission.refs


def _within(trajectory: Trajectory, submission: Submission, start: int, end: int) -> Ref:
    """Point into the one event a submission was taken from: the usual case, made quick."""
    ref = submission.refs[0]
    text, begin = _piece(trajectory, ref)
    if text is None or len(text) != len(submission.text):
        return ref
    return Ref(turn=ref.turn, event=ref.event, start=begin + start, end=begin + end)


def _piece(trajectory: Trajectory, ref: Ref) -> tuple[str | None, int]:
    """Give the text a ref stands for, and the character of its event at which it begins."""
    try:
        text = _text(trajectory.turns[ref.turn].events[ref.event])
    except IndexError:
        return None, 0
    begin = ref.start or 0
    return (None if text is None else text[begin : ref.end]), begin


def _text(event: Event) -> str | None:
    if isinstance(event, AssistantMessage):
        return event.text
    if isinstance(event, ToolResult):
        return event.output
    if isinstance(event, ToolCall):
        return event.arguments_text
    return getattr(event, "text", None)
