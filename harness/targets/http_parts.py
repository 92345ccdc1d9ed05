"""What one reply says and does: JSON values come in piece by piece, a turn goes out.

A whole reply is one value; each event of a stream is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from harness.endpoints.error_bodies import read_error_body
from harness.messages.assistant_messages import read_assistant_message
from harness.messages.completions import read_usage, text_or_none
from harness.messages.pairing import name_results
from harness.system.clock import now
from harness.system.json_paths import select
from harness.system.json_values import clean_json, compact_json
from harness.system.texts import scrub
from harness.targets.agent_answers import prompt_of
from harness.targets.http_formats import read_messages
from harness.targets.http_options import HttpResponse
from harness.types.events import AssistantMessage, Event, SystemEvent
from harness.types.trajectories import Step, Turn, Usage

PARTIAL = "partial_reply"
"""The kind of the system event that holds what came of a reply which was cut."""


class ReportedError(Exception):
    """The server reports an error in place of an answer; `body` is what it says."""

    def __init__(self, reported: Any) -> None:
        self.body = read_error_body(reported, otherwise="no message")
        super().__init__(str(self.body))


@dataclass(slots=True)
class _Piece:
    """Texts that follow each other, or messages that do."""

    at: datetime
    texts: list[str] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)


class ReplyParts:
    """Collects what one reply holds.

    `asked` are the user's prompts so far, this turn's last: a reply may hold the conversation.
    `joins` says that texts are pieces of one, as in a stream.
    """

    def __init__(self, options: HttpResponse, asked: Sequence[str], *, joins: bool) -> None:
        self._options = options
        self._asked = asked
        self._joins = joins
        self._pieces: list[_Piece] = []
        self._usage = Usage()
        self._model: str | None = None

    @property
    def begun(self) -> bool:
        """Say whether anything of an answer has arrived."""
        return bool(self._pieces)

    def add(self, value: Any) -> None:
        """Add the next value.

        Raises:
            ReportedError: it holds an error.
            ValueError: a path cannot be followed in it.
        """
        options = self._options
        for reported in _found(options.error, value):
            if reported not in (None, False, "", [], {}):
                raise ReportedError(reported)
        for usage in _found(options.usage, value):
            self._usage = read_usage(usage) if isinstance(usage, Mapping) else self._usage
        for model in _found(options.model, value):
            self._model = text_or_none(model) or self._model
        for messages in _found(options.messages, value):
            self._add_messages(messages)
        for text in _found(options.text, value):
            self.add_text(text)

    def _add_messages(self, messages: Any) -> None:
        listed = messages if isinstance(messages, list) else [messages]
        if messages is None:
            return
        if not self._pieces or self._pieces[-1].texts:
            self._pieces.append(_Piece(now()))
        self._pieces[-1].messages += listed

    def add_text(self, value: Any) -> None:
        """Add what the agent says: a text, blocks of a content, or another JSON value."""
        if value is None:
            return
        text = value if isinstance(value, str) else _text_of(value)
        if not self._joins or not self._pieces or not self._pieces[-1].texts:
            self._pieces.append(_Piece(now()))
        self._pieces[-1].texts.append(scrub(text))

    def turn(self) -> Turn:
        """Return what the reply holds, without the user's message.

        Raises:
            ValueError: it holds nothing, or messages of another shape.
        """
        if not self._pieces:
            raise ValueError(f"there is nothing at {self._places()}")
        made = _Made()
        for index, piece in enumerate(self._pieces):
            is_last = index == len(self._pieces) - 1
            if piece.texts:
                made.say("".join(piece.texts), piece.at, again=self._joins or not is_last)
            else:
                made.extend(self._own_turn(piece.messages), piece.at)
        return self._numbered(made.turn())

    def _places(self) -> str:
        paths = (self._options.messages, self._options.text)
        return " or ".join(path for path in paths if path)

    def partial(self) -> tuple[Event, ...]:
        """Return what came of a reply that was cut: what was done, and the text so far apart."""
        done, left = ReplyParts(self._options, self._asked, joins=self._joins), self._pieces[-1:]
        done._pieces = self._pieces if left and left[0].messages else self._pieces[:-1]
        try:
            events = done.turn().events if done.begun else ()
        except ValueError:
            events, left = (), self._pieces
        text = "".join(part for piece in left for part in piece.texts)
        messages = [clean_json(one) for piece in left for one in piece.messages]
        if not text and (events or not messages):
            return events
        return (*events, SystemEvent(kind=PARTIAL, text=text, data=messages or None, at=now()))

    def _own_turn(self, messages: Sequence[Any]) -> Turn:
        """Return the turn that messages hold; of the whole conversation the last one."""
        turns = read_messages(self._options.format, messages)
        prompts = [prompt_of(turn) for turn in turns]
        if len(turns) > 1 and prompts == list(self._asked)[-len(prompts) :]:
            turns = turns[-1:]
        if len(turns) > 1:
            raise ValueError(
                f"the messages hold {len(turns)} turns of the user; they may hold this turn, or "
                "the whole conversation"
            )
        return turns[0] if turns else Turn()

    def _numbered(self, turn: Turn) -> Turn:
        """Give the numbers that the reply tells to its last step, where that has none."""
        if not turn.steps:
            return turn
        last = turn.steps[-1]
        usage = last.usage if self._usage == Usage() else self._usage
        last = replace(last, usage=usage, model=self._model or last.model)
        return replace(turn, steps=(*turn.steps[:-1], last))


def _found(path: str | None, value: Any) -> list[Any]:
    return [] if path is None else select(path, value)


def _text_of(value: Any) -> str:
    """Return the text of blocks, else the JSON of a value."""
    if isinstance(value, list):
        try:
            events = read_assistant_message({"content": value})
        except ValueError:
            return compact_json(value)
        if events and all(isinstance(event, AssistantMessage) for event in events):
            return "".join(e.text for e in events if isinstance(e, AssistantMessage))
    return compact_json(value)


class _Made:
    """A turn while it is put together of several parts, whose steps are counted on."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._steps: list[Step] = []

    def say(self, text: str, at: datetime, *, again: bool) -> None:
        """Add what the agent says; unless `again`, not what it has said last."""
        said = [e.text for e in self._events if isinstance(e, AssistantMessage)]
        if not again and said[-1:] == [text]:
            return
        self._events.append(AssistantMessage(text=text, at=at, step=len(self._steps)))
        self._steps.append(Step())

    def extend(self, turn: Turn, at: datetime) -> None:
        """Add the events of messages that came at a time."""
        before = len(self._steps)
        for event in turn.events:
            step = None if event.step is None else event.step + before
            self._events.append(replace(event, step=step, at=event.at or at))
        self._steps += turn.steps or (Step(),)

    def turn(self) -> Turn:
        (turn,) = name_results([Turn(events=tuple(self._events), steps=tuple(self._steps))])
        return turn
