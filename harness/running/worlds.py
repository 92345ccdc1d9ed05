"""The clean world of a trial: the suite's fixtures set up, read at the end, and torn down."""

import asyncio
import inspect
import math
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from graphlib import TopologicalSorter
from typing import Any, get_args

import msgspec

from harness.system.json_values import compact_json
from harness.system.texts import error_line
from harness.system.threads import in_thread
from harness.system.time_limits import BLOCKING_SECONDS, Limit
from harness.types.code import Fixture
from harness.types.errors import TargetError
from harness.types.marks import Scope


class Worlds:
    """The fixtures of a suite.

    `seconds` limits each set-up, snapshot and teardown, None for no limit; `warn` receives what
    went wrong in a teardown, which spoils no trial; `tell` describes what a fixture raises.
    """

    def __init__(
        self,
        fixtures: Sequence[Fixture],
        *,
        seconds: float | None,
        warn: Callable[[str], None],
        tell: Callable[[BaseException], str] = error_line,
    ) -> None:
        self._tell = tell
        self._of_scope: dict[Scope, tuple[Fixture, ...]] = {
            scope: tuple(fixture for fixture in fixtures if fixture.scope == scope)
            for scope in get_args(Scope)
        }
        self._seconds = seconds
        self._warn = warn

    def of_scope(self, scope: Scope) -> tuple[Fixture, ...]:
        """Return the fixtures of a scope."""
        return self._of_scope[scope]

    @asynccontextmanager
    async def opened(self, scope: Scope, given: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Set up the fixtures of a scope; `given` are objects they may ask for by name.

        Raises:
            TargetError: `fixture_broke`, where a set-up raised or took too long.
        """
        objects = dict(given)
        async with AsyncExitStack() as stack:
            for fixture in _in_order(self.of_scope(scope)):
                context = self._opened(fixture, objects)
                objects[fixture.name] = await stack.enter_async_context(context)
            yield {fixture.name: objects[fixture.name] for fixture in self.of_scope(scope)}

    @asynccontextmanager
    async def _opened(self, fixture: Fixture, objects: Mapping[str, Any]) -> AsyncIterator[Any]:
        arguments = {name: objects[name] for name in fixture.parameters}
        steps = _Steps(fixture.function, arguments)
        value = await self._limited(steps.set_up(), f"the set-up of fixture {fixture.name}")
        try:
            yield value
        finally:
            await _to_its_end(self._tear_down(fixture, steps))

    async def _tear_down(self, fixture: Fixture, steps: "_Steps") -> None:
        try:
            await self._limited(steps.tear_down(), f"the teardown of fixture {fixture.name}")
        except TargetError as error:
            self._warn(str(error))

    async def snapshots(self, fixtures: Mapping[str, Any]) -> dict[str, Any]:
        """Return the end state of every fixture that has a `snapshot()`, as JSON values.

        Raises:
            TargetError: `fixture_broke`, where one raises, takes too long or returns no JSON.
        """
        taken = {}
        for name, value in fixtures.items():
            state = await self._limited(_snapshot(value), f"snapshot() of fixture {name}")
            if state is not _NO_SNAPSHOT:
                taken[name] = state
        return taken

    async def _limited(self, work: Coroutine[Any, Any, Any], what: str) -> Any:
        limit = Limit(math.inf if self._seconds is None else self._seconds)
        try:
            return await limit.run(work)
        except TimeoutError as error:
            took = f"took longer than {self._seconds:g} s" if limit.expired else self._tell(error)
            raise TargetError(f"{what} {took}", code="fixture_broke") from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise TargetError(f"{what} cancelled itself", code="fixture_broke") from error
        except GeneratorExit:
            raise
        except BaseException as error:
            raise TargetError(f"{what} raised {self._tell(error)}", code="fixture_broke") from error
        finally:
            if limit.longest_step > BLOCKING_SECONDS:
                self._warn(
                    f"{what} kept the event loop to itself for {limit.longest_step:.1f} s, and "
                    "everybody else waiting: make it a plain function, or await what takes long"
                )


class _Steps:
    """The two steps of a fixture's generator, sync or async."""

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self._generator = function(**arguments)
        self._is_async = inspect.isasyncgen(self._generator)
        self._given_up = threading.Event()

    async def set_up(self) -> Any:
        if self._is_async:
            return await anext(self._generator)
        try:
            return await in_thread(self._set_up_here)
        except asyncio.CancelledError:
            self._given_up.set()
            raise

    def _set_up_here(self) -> Any:
        value = next(self._generator)
        if self._given_up.is_set():
            # Nobody waits for the object any more, but it still has to be cleared away.
            self._tear_down_here()
        return value

    async def tear_down(self) -> None:
        if not self._is_async:
            await in_thread(self._tear_down_here)
        elif await anext(self._generator, self) is not self:
            raise RuntimeError("it yields more than once")

    def _tear_down_here(self) -> None:
        if next(self._generator, self) is not self:
            raise RuntimeError("it yields more than once")


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await work to its end, also when the waiting is cancelled, as by Ctrl-C."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


_NO_SNAPSHOT = object()


async def _snapshot(value: Any) -> Any:
    # Reading the attribute may run code of the user's, which may raise.
    take = getattr(value, "snapshot", None)
    if not callable(take):
        return _NO_SNAPSHOT
    state = await (take() if inspect.iscoroutinefunction(take) else in_thread(take))
    # What graders see now is what they will see when the stored trial is graded again.
    return msgspec.json.decode(compact_json(state))


def _in_order(fixtures: Sequence[Fixture]) -> list[Fixture]:
    """Return the fixtures so that each comes after those it asks for; loading refused cycles."""
    by_name = {fixture.name: fixture for fixture in fixtures}
    asks = {f.name: [name for name in f.parameters if name in by_name] for f in fixtures}
    return [by_name[name] for name in TopologicalSorter(asks).static_order()]
