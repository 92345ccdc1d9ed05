"""What a Python agent returned or raised comes in; turns, or a `TargetError`, go out."""

import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.endpoints.failures import classify
from harness.messages.chat import read_turns
from harness.messages.library_answers import read_library_answer
from harness.messages.pairing import name_results
from harness.system.clock import now
from harness.system.json_values import clean_json
from harness.system.redaction import redacted_line
from harness.system.texts import error_line, scrub
from harness.types.code import CodeRef
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, SystemEvent, UserMessage
from harness.types.protocols import Record
from harness.types.trajectories import Trajectory, Turn

_WIDTH = 500
_HINT = "return a text, a list of Chat Completions messages, a Trajectory, or what a library gave"

PROMPT = "prompt"
"""The kind of the system event that holds the agent's own wording of the user's message."""


def read_answer(
    agent: CodeRef, answer: Any, history: Sequence[Mapping[str, Any]]
) -> tuple[Turn, ...]:
    """Read what an agent returned; the sample's history at its beginning is left out.

    It may also be what LangChain, LangGraph, the OpenAI Agents SDK or Pydantic AI returned.

    Raises:
        TargetError: `agent_contract`, where it is not what an agent may return; `agent_crash`,
            where an object in it raised.
    """
    if isinstance(answer, str):
        return (Turn(events=(AssistantMessage(text=scrub(str(answer))),)),)
    try:
        if isinstance(answer, Trajectory):
            return name_results(_checked(answer).turns)
        made = read_library_answer(answer)
        if made is not None:
            return _after_history(made, history)
        if isinstance(answer, list | tuple):
            begun = len(history)
            goes_on = list(answer[:begun]) == list(history)
            return read_turns(answer[begun:] if goes_on else answer)
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError) as error:
        raise contract_broken(agent, f"returned what cannot be kept: {error}", _HINT) from error
    except BaseException as error:
        # The objects of a client library, or of the user's own, may raise anything.
        raise crash_of(agent, error) from error
    found = "None" if answer is None else f"a value of type {type(answer).__name__}"
    raise contract_broken(agent, f"returned {found}", _HINT)


def _after_history(
    turns: tuple[Turn, ...], history: Sequence[Mapping[str, Any]]
) -> tuple[Turn, ...]:
    """Leave out the turns that the sample had already: libraries give the whole conversation."""
    before = tuple(prompt_of(turn) for turn in read_turns(history))
    goes_on = len(turns) > len(before) and tuple(map(prompt_of, turns[: len(before)])) == before
    return turns[len(before) :] if goes_on else turns


def prompt_of(turn: Turn) -> str | None:
    """Return what the user says in a turn; None where the user says nothing."""
    return next((event.text for event in turn.events if isinstance(event, UserMessage)), None)


def _checked(trajectory: Trajectory) -> Trajectory:
    """Check a record that was made by hand, since records do not check themselves."""
    return msgspec.convert(clean_json(msgspec.to_builtins(trajectory)), Trajectory)


def contract_broken(agent: CodeRef, problem: str, hint: str) -> TargetError:
    """Return the error for an agent that returned what it must not."""
    text = redacted_line(f"{agent.text} {problem}", _WIDTH)
    return TargetError(text, code="agent_contract", hint=hint)


def record_turn(turn: Turn, text: str, record: Record) -> None:
    """Record a turn that an agent returned, without the user's message, which is recorded already.

    A user's message that differs from the one that was sent is kept as a system event. Events
    without a time get that of now.
    """
    at, asked = now(), False
    for event in turn.events:
        if isinstance(event, UserMessage) and not asked:
            asked = True
            if event.text != text:
                record(SystemEvent(kind=PROMPT, text=event.text, at=event.at or at))
        else:
            record(event if event.at else replace(event, at=at))
    for step in turn.steps:
        record(step)


def crash_of(agent: CodeRef, error: BaseException) -> TargetError:
    """Return the error for an agent that raised: an endpoint's failure, or its own crash."""
    try:
        known = classify(error)
        if known is not None:
            # Made anew: the agent may have changed it, or made it by a class of its own.
            return TargetError(
                str(known), code=known.code, retry_after=known.retry_after, hint=known.hint
            )
    except BaseException as broken:  # noqa: BLE001  (exceptions are the user's code too)
        error = broken if isinstance(error, TargetError) else error
    place = f" ({_place(agent, error)})"
    text = redacted_line(error_line(error), _WIDTH - len(place))
    return TargetError(f"{text}{place}", code="agent_crash")


def _place(agent: CodeRef, error: BaseException) -> str:
    """Return `file:line` of the user's own code where it raised, else of where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    folder = agent.file.path.parent
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    packages = {"site-packages", ".venv"}
    own = [frame for frame in own if not packages & set(Path(frame.filename).parts)] or own
    for frame in reversed(own or frames):
        inside = Path(frame.filename) == agent.file.path
        return f"{agent.file.text if inside else Path(frame.filename).name}:{frame.lineno}"
    return agent.text
