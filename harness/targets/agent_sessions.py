"""Conversations with Python agents: what they return is recorded turn by turn."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from harness.messages.pairing import name_results
from harness.system.clock import now
from harness.system.shown_numbers import counted
from harness.system.texts import scrub
from harness.system.threads import in_thread
from harness.system.user_calls import GRACE_SECONDS, Caller, UserCodeError, caller_of, is_async
from harness.targets.agent_answers import (
    contract_broken,
    crash_of,
    prompt_of,
    read_answer,
    record_turn,
)
from harness.targets.agent_parameters import Sources, arguments_of
from harness.types.code import CodeRef
from harness.types.events import AssistantMessage
from harness.types.protocols import AttemptContext, Record
from harness.types.trajectories import Turn


class FunctionSession:
    """A conversation with an agent that is a function: called once, for all turns."""

    __slots__ = ("_agent", "_call", "_context", "_left", "_sources")

    def __init__(
        self, agent: CodeRef, call: Caller, sources: Sources, context: AttemptContext
    ) -> None:
        self._agent = agent
        self._call = call
        self._sources = sources
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
        """Leave the conversation; a function has nothing to close."""

    async def _answer(self) -> Any:
        try:
            return await self._call(**arguments_of(self._sources, self._context))
        except UserCodeError as raised:
            raise crash_of(self._agent, raised.error) from raised.error

    def _turns(self, answer: Any) -> Sequence[Turn]:
        sample = self._context.sample
        wanted = len(sample.turns)
        turns = read_answer(self._agent, answer, sample.history)
        if len(turns) != wanted:
            raise contract_broken(
                self._agent,
                f"returned {counted(len(turns), 'turn')} for a sample of {wanted}",
                "use a class with send(text), or return messages with the user's too",
            )
        return turns


class ClassSession:
    """A conversation with an agent that is an object of a class, made for this trial alone.

    The object is never entered twice at once: `close()` waits until a `send()` that overran its
    time limit has left its thread, and is not called where that takes longer than a second.
    """

    def __init__(self, agent: CodeRef) -> None:
        self._agent = agent
        self._object: Any = None
        self._turns: list[Turn] = []
        self._asked: list[str] = []
        self._entered = threading.Lock()

    async def make(self, arguments: Mapping[str, Any], *, on_loop: bool) -> None:
        """Make the object, in a thread unless it is to live on the event loop.

        Raises:
            TargetError: it raised.
        """

        async def make_on_loop() -> Any:
            return self._agent.value(**arguments)

        if on_loop:
            self._object = await self._enter(make_on_loop)
        else:
            self._object = await self._enter(self._agent.value, **arguments)

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: the agent raised, or returned what is no turn.
        """
        self._asked.append(text)
        turn = self._turn(await self._enter(self._attribute("send"), text))
        # A result may answer a call of an earlier turn.
        self._turns = list(name_results([*self._turns, turn]))
        record_turn(self._turns[-1], text, record)

    def _turn(self, answer: Any) -> Turn:
        turns = read_answer(self._agent, answer, ())
        if len(turns) > 1 and list(map(prompt_of, turns)) == self._asked:
            # Libraries give the whole conversation each time.
            turns = turns[-1:]
        if len(turns) != 1:
            raise contract_broken(
                self._agent,
                f"send() returned {counted(len(turns), 'turn')}",
                "return the messages of this turn only",
            )
        return turns[0]

    async def close(self) -> None:
        """Close the agent, where it has a `close()`.

        Raises:
            TargetError: it raised.
            TimeoutError: it was not called, since `send()` still runs.
        """
        close = self._attribute("close")
        if not callable(close):
            return
        left = self._entered.acquire(blocking=False)
        if not left and not await in_thread(self._entered.acquire, timeout=GRACE_SECONDS):
            raise TimeoutError(f"{self._agent.name}.send() still runs; close() is not called")
        try:
            await self._call(close)
        finally:
            self._entered.release()

    def _attribute(self, name: str) -> Any:
        try:
            return getattr(self._object, name, None)
        except BaseException as error:
            raise crash_of(self._agent, error) from error

    async def _enter(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call the user's code; what it does in a thread is alone there, also if given up."""
        inside = function if is_async(function) else partial(self._alone, function)
        return await self._call(inside, *args, **kwargs)

    def _alone(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with self._entered:
            return function(*args, **kwargs)

    async def _call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        try:
            return await caller_of(function)(*args, **kwargs)
        except UserCodeError as raised:
            raise crash_of(self._agent, raised.error) from raised.error
