"""The target `python`: an agent that is a function, or a class, of the user's own Python file."""

import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from harness.system.user_calls import caller_of, is_async
from harness.targets.agent_parameters import agent_faults, arguments_of, sources_of
from harness.targets.agent_sessions import ClassSession, FunctionSession
from harness.types.code import CodeRef
from harness.types.errors import Fault, SuiteError
from harness.types.protocols import AttemptContext, Connection, RunContext, Session


@dataclass(frozen=True, kw_only=True)
class PythonAgent:
    """Drives an agent in this process.

    A function is called once with the `sample`, and returns a text, a list of Chat Completions
    messages, or a Trajectory. A class is instantiated once a trial; its `send(text)` is called
    once a turn and returns a text or the messages of that turn; its `close()`, where it has one,
    is called at the end. Both may ask, by parameter name, for `sample`, `model`, `epoch` and for
    fixtures; both may be async.

    An agent that met an outage raises `harness.TargetError`: the trial is tried again, and counts
    as an error instead of a failure. Whatever else it raises is a crash of the agent.
    """

    agent: CodeRef = field(
        metadata={"description": "A function or class of a Python file, as `file.py:name`."}
    )

    def check(self, fixture_names: frozenset[str]) -> Iterator[Fault]:
        """Yield what keeps the object from being an agent, each fault at its line."""
        return agent_faults(self.agent, fixture_names)

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run.

        Raises:
            SuiteError: with the faults that `check` finds.
        """
        if faults := list(self.check(run_context.fixture_names)):
            raise SuiteError(faults)
        connect = _ClassConnection if inspect.isclass(self.agent.value) else _FunctionConnection
        yield connect(self.agent, run_context.fixture_names)


class _FunctionConnection:
    """Opens sessions with an agent that is a function."""

    def __init__(self, agent: CodeRef, fixture_names: frozenset[str]) -> None:
        self._agent = agent
        self._call = caller_of(agent.value)
        self._sources = sources_of(agent, fixture_names)

    async def open(self, context: AttemptContext) -> Session:
        """Open a session; the function is called in its first turn."""
        return FunctionSession(self._agent, self._call, self._sources, context)


class _ClassConnection:
    """Opens sessions with an agent that is a class."""

    def __init__(self, agent: CodeRef, fixture_names: frozenset[str]) -> None:
        self._agent = agent
        self._is_async = is_async(agent.value.send)
        self._sources = sources_of(agent, fixture_names)

    async def open(self, context: AttemptContext) -> Session:
        """Make the agent of one trial: on the loop if its `send` is async, else in a thread."""
        session = ClassSession(self._agent)
        await session.make(arguments_of(self._sources, context), on_loop=self._is_async)
        return session
