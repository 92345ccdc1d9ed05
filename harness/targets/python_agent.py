"""The target `python`: an agent that is a function, or a class, of the user's own Python file."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from harness.targets.agent_parameters import ask_by_name, given, refuse
from harness.targets.agent_sessions import ClassSession, FunctionSession
from harness.targets.user_code import caller_of, is_async
from harness.types.code import CodeRef
from harness.types.protocols import AttemptContext, Connection, RunContext, Session


@dataclass(frozen=True, kw_only=True)
class PythonAgent:
    """Drives an agent in this process: `agent` is `file.py:name`.

    A function is called once with the `sample`, and gives a text, a list of Chat Completions
    messages, or a Trajectory. A class is made once a trial; its `send(text)` is called once a
    turn and gives a text or the messages of that turn; its `close()`, where it has one, is called
    at the end. Both may ask, by parameter name, for `sample`, `model`, `epoch` and for fixtures;
    both may be async.
    """

    agent: CodeRef

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Look at what the agent asks for.

        Raises:
            SuiteError: it is no agent, or asks for what there is not.
        """
        if inspect.isclass(self.agent.value):
            yield _ClassConnection(self.agent, run_context.fixture_names)
        else:
            yield _FunctionConnection(self.agent, run_context.fixture_names)


class _FunctionConnection:
    """Opens sessions with an agent that is a function."""

    def __init__(self, agent: CodeRef, fixture_names: frozenset[str]) -> None:
        if not callable(agent.value):
            refuse(agent, "is no agent", "a function, or a class with send(text)")
        self._agent = agent
        self._call = caller_of(agent.value)
        self._asked = ask_by_name(agent, fixture_names, first_is_sample=True)

    async def open(self, context: AttemptContext) -> Session:
        """Open a session; the function is called in its first turn."""
        return FunctionSession(self._agent, self._call, self._asked, context)


class _ClassConnection:
    """Opens sessions with an agent that is a class."""

    def __init__(self, agent: CodeRef, fixture_names: frozenset[str]) -> None:
        send = getattr(agent.value, "send", None)
        if not callable(send):
            refuse(agent, "is a class without send(text)", "a class with a method send(text)")
        self._agent = agent
        self._is_async = is_async(send)
        self._asked = ask_by_name(agent, fixture_names, first_is_sample=False)

    async def open(self, context: AttemptContext) -> Session:
        """Make the agent of one trial: on the loop if its `send` is async, else in a thread."""
        session = ClassSession(self._agent, is_async=self._is_async)
        await session.make(given(self._asked, context))
        return session
