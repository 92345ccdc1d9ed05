"""The first event at which two trajectories of one sample part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from harness.measuring.divergence_words import (
    argument_words,
    call_words,
    divergence,
    ending_words,
    event_at,
)
from harness.measuring.given_values import given_text, holds, invented_identifier, is_value
from harness.measuring.placed_calls import (
    CallParting,
    PlacedCall,
    agreeing,
    differing_arguments,
    parting,
    placed_calls,
)
from harness.types.comparisons import Divergence, EventAt
from harness.types.events import AssistantMessage, Event, ToolCall
from harness.types.trials import Trial


def first_divergence(baseline: Trial, candidate: Trial) -> Divergence | None:
    """Return where two trials of a sample part; None where they are alike.

    Calls come first: the first that differs, or whose result failed on one side alone. Where all
    calls are alike it is how the trials ended, an identifier that the candidate was not given, a
    result that differs, or the words. Words differ from run to run and say little, and so do
    results that hold a time; so they hide no difference of calls.
    """
    turns = [_Turn(baseline, candidate, number) for number in range(_turns(baseline, candidate))]
    for turn in turns:
        found = turn.failed_result() or turn.parting_calls(is_last=_is_over(turns, turn))
        if found is not None:
            return found
    return (
        _other_ending(baseline, candidate)
        or next(filter(None, (turn.invented_text() for turn in turns)), None)
        or next(filter(None, (turn.changed_result() for turn in turns)), None)
        or next(filter(None, (turn.other_text() for turn in turns)), None)
    )


def _turns(baseline: Trial, candidate: Trial) -> int:
    return max(len(baseline.trajectory.turns), len(candidate.trajectory.turns))


def _is_over(turns: Sequence["_Turn"], turn: "_Turn") -> bool:
    """Say whether one side makes no more calls after this turn."""
    later = turns[turn.number + 1 :]
    return not any(one.baseline.calls for one in later) or not any(
        one.candidate.calls for one in later
    )


def _other_ending(baseline: Trial, candidate: Trial) -> Divergence | None:
    words = ending_words(baseline, candidate)
    return None if words is None else divergence("other_ending", words)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a turn: its events, all that were before it, and its calls."""

    trial: Trial
    number: int
    events: tuple[Event, ...]
    calls: list[PlacedCall]

    def before(self, place: int) -> Iterator[Event]:
        """Return the events before one of this turn, those of earlier turns included."""
        earlier = (turn.events for turn in self.trial.trajectory.turns[: self.number])
        return chain(chain.from_iterable(earlier), self.events[:place])

    def at(self, place: int | None, around: str = "") -> EventAt | None:
        """Show an event of this turn."""
        if place is None or place >= len(self.events):
            return None
        return event_at(self.number, place, self.events[place], around)

    def next_deed(self, agreed: int) -> int | None:
        """Return the place of what the agent does after so many calls."""
        start = max((one.event + 1 for one in self.calls[:agreed]), default=0)
        deeds = (AssistantMessage, ToolCall)
        places = range(start, len(self.events))
        return next((place for place in places if isinstance(self.events[place], deeds)), None)

    def texts(self) -> list[tuple[int, str]]:
        """Return what the agent says, with the place of each message."""
        return [(n, e.text) for n, e in enumerate(self.events) if isinstance(e, AssistantMessage)]


def _side(trial: Trial, number: int) -> _Side:
    turns = trial.trajectory.turns
    events = turns[number].events if number < len(turns) else ()
    return _Side(trial, number, events, placed_calls(events))


class _Turn:
    """One turn of both sides."""

    def __init__(self, baseline: Trial, candidate: Trial, number: int) -> None:
        self.number = number
        self.baseline, self.candidate = _side(baseline, number), _side(candidate, number)
        self._agreed = agreeing(self.baseline.calls, self.candidate.calls)

    def _pairs(self) -> Iterator[tuple[PlacedCall, PlacedCall]]:
        both = self.baseline.calls[: self._agreed], self.candidate.calls[: self._agreed]
        return zip(*both, strict=True)

    def failed_result(self) -> Divergence | None:
        """Return the first call that fails on one side alone."""
        for one, other in self._pairs():
            if one.result and other.result and one.result.ok != other.result.ok:
                who = "candidate" if one.result.ok else "baseline"
                return self._of_results(one, other, f"`{one.call.name}` fails for the {who} alone")
        return None

    def changed_result(self) -> Divergence | None:
        """Return the first call that gives another result."""
        for one, other in self._pairs():
            if one.result and other.result and one.result.output != other.result.output:
                words = f"the same call of `{one.call.name}` gives another result"
                return self._of_results(one, other, words)
        return None

    def _of_results(self, one: PlacedCall, other: PlacedCall, words: str) -> Divergence:
        return divergence(
            "other_result",
            words,
            tool=one.call.name,
            baseline=self.baseline.at(one.result_event),
            candidate=self.candidate.at(other.result_event),
        )

    def parting_calls(self, *, is_last: bool) -> Divergence | None:
        """Return how the calls part; where one side was cut off there, how it ended."""
        kind = parting(self.baseline.calls, self.candidate.calls, self._agreed)
        if kind is None:
            return None
        one, other = self._calls_there()
        if is_last and (one is None or other is None):
            # A trial that was cut off has not left a call out: it never came to it.
            cut_off = self.candidate.trial if other is None else self.baseline.trial
            ended = _other_ending(self.baseline.trial, self.candidate.trial)
            if cut_off.status != "completed" and ended is not None:
                return ended
        if kind == "other_arguments" and one is not None and other is not None:
            return self._other_arguments(one, other)
        return self._of_calls(kind, one, other)

    def _calls_there(self) -> tuple[PlacedCall | None, PlacedCall | None]:
        one, other = (
            side.calls[self._agreed] if self._agreed < len(side.calls) else None
            for side in (self.baseline, self.candidate)
        )
        return one, other

    def _of_calls(
        self, kind: CallParting, one: PlacedCall | None, other: PlacedCall | None
    ) -> Divergence:
        names = [None if call is None else call.call.name for call in (one, other)]
        tool, words = call_words(kind, *names)
        return divergence(
            kind,
            words,
            tool=tool,
            baseline=self._shown(self.baseline, one),
            candidate=self._shown(self.candidate, other),
        )

    def _shown(self, side: _Side, call: PlacedCall | None) -> EventAt | None:
        return side.at(side.next_deed(self._agreed) if call is None else call.event)

    def _other_arguments(self, one: PlacedCall, other: PlacedCall) -> Divergence:
        names = differing_arguments(one.call.arguments, other.call.arguments)
        given = given_text(self.candidate.before(other.event))
        before = given_text(self.baseline.before(one.event))
        now = {name: other.call.arguments.get(name) for name in names}
        values = {name: value for name, value in now.items() if is_value(value)}
        told_newly = any(holds(given, v) and not holds(before, v) for v in values.values())
        if told_newly and (cause := self.changed_result()):
            return cause  # a tool has told the candidate what it now passes on
        invented = [name for name, value in values.items() if not holds(given, value)]
        known = [n for n in invented if holds(before, one.call.arguments.get(n))]
        return divergence(
            "other_arguments",
            argument_words(one.call.name, names, known, other.call.arguments),
            tool=one.call.name,
            differing=names,
            baseline=self.baseline.at(one.event),
            candidate=self.candidate.at(other.event),
        )

    def invented_text(self) -> Divergence | None:
        """Return the first message with an identifier that nobody gave the candidate."""
        said_before = "\n".join(text for _, text in self.baseline.texts())
        for index, (place, text) in enumerate(self.candidate.texts()):
            given = given_text(self.candidate.before(place))
            found = invented_identifier(text, f"{given}\n{said_before}")
            if found is not None:
                words = "candidate says an identifier that no tool and no user gave it"
                return self._of_texts(index, words, around=found)
        return None

    def other_text(self) -> Divergence | None:
        """Return the first message that says something else."""
        one, other = self.baseline.texts(), self.candidate.texts()
        for index in range(max(len(one), len(other))):
            said = [texts[index][1] if index < len(texts) else None for texts in (one, other)]
            if said[1] is None:
                return self._of_texts(index, "candidate says less")
            if said[0] is None or said[0].split() != said[1].split():
                words = "candidate says more" if said[0] is None else "only the words differ"
                return self._of_texts(index, words)
        return None

    def _of_texts(self, index: int, words: str, around: str = "") -> Divergence:
        places = [
            texts[index][0] if index < len(texts) else None
            for texts in (self.baseline.texts(), self.candidate.texts())
        ]
        return divergence(
            "other_text",
            words,
            baseline=self.baseline.at(places[0]),
            candidate=self.candidate.at(places[1], around),
        )
