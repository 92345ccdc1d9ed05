"""What first went wrong in a failing trial, in words that are alike for like failures."""

import re
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from harness.measuring.divergence_words import event_at
from harness.measuring.divergences import first_divergence
from harness.measuring.failure_origins import ORIGINS
from harness.measuring.given_values import given_text, holds, invented_identifier, is_value
from harness.measuring.placed_calls import PlacedCall, placed_calls
from harness.system.like_texts import alike, split_place
from harness.system.texts import cut, one_line
from harness.types.comparisons import Divergence, EventAt
from harness.types.events import AssistantMessage, Event, ToolCall
from harness.types.explanations import BadEvent
from harness.types.summaries import FailedTrial
from harness.types.trials import ERROR_STATUSES, Trial

_LONGEST_NAME = 80
_LONGEST_WORDS = 100
_MOST_TOOLS = 3
_SAID_NEWLY = "says an identifier that no tool and no user gave it"
_OF_MODELS = {"no_call", "other_tool", "other_arguments"}
"""How a trial may part from one of another model for it to say something."""

_OF_EPOCHS = {*_OF_MODELS, "further_call", "other_order", "other_ending"}


def first_bad_event(
    trial: Trial, failed: FailedTrial, passing: Trial | None = None, usual: Collection[str] = ()
) -> BadEvent:
    """Say what first went wrong in a trial that did not pass; `failed` says why it did not.

    Errors say it themselves. Else it is where the trial parts from `passing`, a trial of the same
    sample that passed, if there is one; an argument that nobody gave the agent, a call that
    failed, no call at all where others call the `usual` tools, an identifier in the answer that
    nobody gave it; and, where nothing of that happened, the grader's evidence, with the first call
    that it rests on.
    """
    if trial.error is not None or trial.status in ERROR_STATUSES:
        return _of_error(trial, failed.grader)
    return (
        _parting(trial, passing)
        or next(_bad_calls(trial), None)
        or _no_call(trial, usual)
        or _invented_text(trial)
        or _judged_call(trial, failed)
        or BadEvent(origin="agent", words=_alike(failed.evidence))
    )


def _of_error(trial: Trial, grader: str | None) -> BadEvent:
    if trial.error is None:
        return BadEvent(origin="harness", words=trial.status.replace("_", " "))
    code, message = trial.error.code, trial.error.message.removeprefix(f"{grader}: ")
    words = f"{code.replace('_', ' ')}: {_alike(message)}" if message else code.replace("_", " ")
    return BadEvent(origin=ORIGINS.get(code, "harness"), words=words)


def _alike(evidence: str) -> str:
    """Take out of a sentence what differs between like ones."""
    sentence = re.sub(r"^turn \d+: ", "", one_line(evidence, 10 * _LONGEST_WORDS))
    said, place = split_place(alike(sentence))
    return f"{cut(said, _LONGEST_WORDS)}{place}"


def _parting(trial: Trial, passing: Trial | None) -> BadEvent | None:
    found = None if passing is None else first_divergence(passing, trial)
    if found is None or passing is None:
        return None
    return bad_divergence(found, of_other_model=passing.model != trial.model)


def bad_divergence(found: Divergence, *, of_other_model: bool = False) -> BadEvent | None:
    """Return what a divergence from a trial that passed says of one that did not, if anything."""
    telling = _OF_MODELS if of_other_model else _OF_EPOCHS
    is_failed_call = found.words.endswith(" for the candidate alone")
    if found.kind not in telling and not is_failed_call and _SAID_NEWLY not in found.words:
        return None
    return BadEvent(origin="agent", words=_of_one(found), event=found.candidate)


def _of_one(found: Divergence) -> str:
    """Return the words of a divergence without the other side."""
    words = found.words.removesuffix(" for the candidate alone")
    return words.removeprefix("candidate ")


def _bad_calls(trial: Trial) -> Iterator[BadEvent]:
    """Yield the calls that went wrong, in their order: made-up arguments, and failures."""
    told: list[Event] = []
    for number, turn in enumerate(trial.trajectory.turns):
        failing = {call.event: call for call in placed_calls(turn.events) if _has_failed(call)}
        for place, event in enumerate(turn.events):
            if isinstance(event, ToolCall):
                words = _bad_call(event, given_text(told), fails=place in failing)
                if words is not None:
                    at = event_at(number, place, event)
                    yield BadEvent(origin="agent", words=words, event=at)
            told.append(event)


def _has_failed(call: PlacedCall) -> bool:
    return call.result is not None and not call.result.ok


def _bad_call(call: ToolCall, given: str, *, fails: bool) -> str | None:
    """Say what is wrong with a call; of one that fails, whatever it was not given is suspect."""
    name = _name(call.name)
    made_up = _made_up(call, given, strictly=not fails)
    if made_up is not None:
        return f"calls `{name}` with a made-up `{_name(made_up)}`{', which fails' * fails}"
    return f"the call of `{name}` fails" if fails else None


def _made_up(call: ToolCall, given: str, *, strictly: bool) -> str | None:
    """Return the first argument that nobody gave; strictly, only one that is an identifier."""
    arguments: dict[str, Any] = call.arguments if isinstance(call.arguments, dict) else {}
    for name, value in arguments.items():
        if strictly and isinstance(value, str) and invented_identifier(value, given):
            return name
        if not strictly and is_value(value) and not holds(given, value):
            return name
    return None


def _name(name: str | None) -> str:
    return cut(name or "a tool", _LONGEST_NAME)


def _no_call(trial: Trial, usual: Collection[str]) -> BadEvent | None:
    if not usual or any(isinstance(event, ToolCall) for event in trial.trajectory.events()):
        return None
    names = [f"`{_name(name)}`" for name in usual]
    more = ", …" if len(names) > _MOST_TOOLS else ""
    named = f"{', '.join(names[:_MOST_TOOLS])}{more}"
    return BadEvent(origin="agent", words=f"calls no tool, where passing trials call {named}")


def _judged_call(trial: Trial, failed: FailedTrial) -> BadEvent | None:
    """Return the grader's evidence at the first call, or result of one, that it points at."""
    grade = trial.grades.get(failed.grader or "")
    turns = trial.trajectory.turns
    for ref in grade.refs if grade else ():
        if 0 <= ref.turn < len(turns):
            for call in placed_calls(turns[ref.turn].events):
                if ref.event in {call.event, call.result_event}:
                    name = f"`{_name(call.call.name)}`"
                    basis = (
                        f"the call of {name}" if ref.event == call.event else f"what {name} gave"
                    )
                    words = f"{_alike(failed.evidence)}, judging by {basis}"
                    at = event_at(ref.turn, call.event, call.call)
                    return BadEvent(origin="agent", words=words, event=at)
    return None


def _invented_text(trial: Trial) -> BadEvent | None:
    told: list[Event] = []
    for number, turn in enumerate(trial.trajectory.turns):
        for place, event in enumerate(turn.events):
            if isinstance(event, AssistantMessage):
                given = given_text(chain(told, turn.events[:place]))
                if invented := invented_identifier(event.text, given):
                    at: EventAt = event_at(number, place, event, invented)
                    return BadEvent(origin="agent", words=_SAID_NEWLY, event=at)
        told.extend(turn.events)
    return None
