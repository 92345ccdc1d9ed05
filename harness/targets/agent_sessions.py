"""Conversations with Python agents: what they return is recorded turn by turn."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from harness.messages.pairing import name_results
from harness.system.clock import now
from harness.system.texts import scrub
from harness.targets.agent_answers import contract_broken, crash_of, read_answer, record_turn
from harness.targets.agent_parameters import Asked, given
from harness.targets.user_code import UserCodeError, caller_of
from harness.types.code import CodeRef
from harness.types.events import AssistantMessage
from harness.types.protocols import AttemptContext, Record
from harness.types.trajectories import Turn

_Call = Callable[..., Awaitable[Any]]


class FunctionSession:
    """A conversation with an agent that is a function: called once, for all turns."""

    __slots__ = ("_agent", "_asked", "_call", "_context", "_left")

    def __init__(self, agent: CodeRef, call: _Call, asked: Asked, context: AttemptContext) -> None:
        self._agent = agent
        self._call = call
        self._asked = asked
        self._context = context
        self._left: list[Turn] | None = None

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: the agent raised, or returned what does not fit the sample.
        """
        if self._left is None:
            answer = await self._answer()
            if isinstance(answer, str) and isinstance(self._context.sample.input, str):
                record(AssistantMessage(text=scrub(str(answer)), at=now()))
                return
            self._left = list(self._turns(answer))
        record_turn(self._left.pop(0), text, record)

    async def close(self) -> None:
        """Leave the conversation; a function has nothing to give up."""

    async def _answer(self) -> Any:
        try:
            return await self._call(**given(self._asked, self._context))
        except UserCodeError as raised:
            raise crash_of(self._agent, raised.error) from raised.error

    def _turns(self, answer: Any) -> Sequence[Turn]:
        sample = self._context.sample
        wanted = len(sample.turns)
        turns = read_answer(self._agent, answer, sample.history)
        if len(turns) != wanted:
            raise contract_broken(
                self._agent,
                f"returned {_count(len(turns), 'turn')} for a sample of {wanted}",
                "return the messages of every turn, or make the agent a class with send(text)",
            )
        return turns


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


class ClassSession:
    """A conversation with an agent that is an object of a class, made for this trial alone."""

    def __init__(self, agent: CodeRef, *, is_async: bool) -> None:
        self._agent = agent
        self._is_async = is_async
        self._made: Any = None
        self._turns: list[Turn] = []

    async def make(self, arguments: Mapping[str, Any]) -> None:
        """Make the object.

        Raises:
            TargetError: it raised.
        """
        if not self._is_async:
            self._made = await self._call(self._agent.value, **arguments)
            return
        try:
            self._made = self._agent.value(**arguments)
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            # Nothing is awaited here: a cancellation is one that the class raised.
            raise crash_of(self._agent, error) from error

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: the agent raised, or returned what is no turn.
        """
        turn = self._turn(await self._call(self._made.send, text))
        # A result may answer a call of an earlier turn.
        self._turns = list(name_results([*self._turns, turn]))
        record_turn(self._turns[-1], text, record)

    def _turn(self, answer: Any) -> Turn:
        turns = read_answer(self._agent, answer, ())
        if len(turns) != 1:
            raise contract_broken(
                self._agent,
                f"send() returned {_count(len(turns), 'turn')}",
                "return the messages of this turn only",
            )
        return turns[0]

    async def close(self) -> None:
        """Close the agent, where it has a `close()`."""
        close = getattr(self._made, "close", None)
        if callable(close):
            await self._call(close)

    async def _call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        try:
            return await caller_of(function)(*args, **kwargs)
        except UserCodeError as raised:
            raise crash_of(self._agent, raised.error) from raised.error
