"""The clean world of a trial: the suite's fixtures set up, read at the end, and cleared away."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from graphlib import TopologicalSorter
from typing import Any

import msgspec

from harness.system.json_values import compact_json
from harness.system.threads import in_thread
from harness.types.code import Fixture
from harness.types.errors import TargetError
from harness.types.marks import Scope

Note = Callable[[str], None]


class Worlds:
    """The fixtures of a suite.

    `seconds` bounds each setting up, each snapshot and each clearing away, None for no bound;
    `note` is told where clearing away went wrong, which spoils no trial.
    """

    def __init__(self, fixtures: Sequence[Fixture], *, seconds: float | None, note: Note) -> None:
        self._fixtures = fixtures
        self._seconds = seconds
        self._note = note

    def of_scope(self, scope: Scope) -> tuple[Fixture, ...]:
        """Give the fixtures of a scope."""
        return tuple(fixture for fixture in self._fixtures if fixture.scope == scope)

    @asynccontextmanager
    async def opened(self, scope: Scope, given: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Set up the fixtures of a scope; `given` are objects they may ask for by name.

        Raises:
            TargetError: `fixture_broke`, where setting up raised or took too long.
        """
        objects = dict(given)
        async with AsyncExitStack() as stack:
            for fixture in _in_order(self.of_scope(scope)):
                context = self._opened(fixture, objects)
                objects[fixture.name] = await stack.enter_async_context(context)
            yield {fixture.name: objects[fixture.name] for fixture in self.of_scope(scope)}

    @asynccontextmanager
    async def _opened(self, fixture: Fixture, objects: Mapping[str, Any]) -> AsyncIterator[Any]:
        generator = fixture.function(**{name: objects[name] for name in fixture.parameters})
        value = await self._set_up(fixture, generator)
        try:
            yield value
        finally:
            # Shielded, so that a time limit or Ctrl-C does not cut the clearing short.
            await asyncio.shield(asyncio.ensure_future(self._clear(fixture, generator)))

    async def _set_up(self, fixture: Fixture, generator: Any) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                return await _advance(generator)
        except TimeoutError as error:
            raise _broke(fixture, f"was not set up within {self._seconds:g} s") from error
        except (Exception, SystemExit) as error:
            raise _broke(fixture, f"raised {type(error).__name__}: {error}") from error

    async def _clear(self, fixture: Fixture, generator: Any) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await _advance(generator)
        except (_EndError, StopAsyncIteration):
            return
        except TimeoutError:
            self._note(f"fixture {fixture.name} was not cleared away within {self._seconds:g} s")
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a user's code may raise anything)
            self._note(
                f"fixture {fixture.name} raised while it was cleared away: "
                f"{type(error).__name__}: {error}"
            )
        else:
            self._note(f"fixture {fixture.name} yields more than once")

    async def snapshots(self, fixtures: Mapping[str, Any]) -> dict[str, Any]:
        """Give the end state of every fixture that has a `snapshot()`, as JSON values.

        Raises:
            TargetError: `fixture_broke`, where one raises, takes too long or gives no JSON.
        """
        taken = {}
        for name, value in fixtures.items():
            take = getattr(value, "snapshot", None)
            if callable(take):
                taken[name] = await self._snapshot(name, take)
        return taken

    async def _snapshot(self, name: str, take: Callable[[], Any]) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                state = await (take() if inspect.iscoroutinefunction(take) else in_thread(take))
            # What graders see now is what they will see when the stored trial is graded again.
            return msgspec.json.decode(compact_json(state))
        except TimeoutError as error:
            raise TargetError(
                f"snapshot() of fixture {name} took longer than {self._seconds:g} s",
                code="fixture_broke",
            ) from error
        except (Exception, SystemExit) as error:
            raise TargetError(
                f"snapshot() of fixture {name} raised {type(error).__name__}: {error}",
                code="fixture_broke",
            ) from error


async def _advance(generator: Any) -> Any:
    if inspect.isasyncgen(generator):
        return await anext(generator)
    return await in_thread(_next, generator)


def _next(generator: Any) -> Any:
    # StopIteration cannot leave a thread through a future.
    try:
        return next(generator)
    except StopIteration as end:
        raise _EndError from end


class _EndError(Exception):
    """A generator has ended."""


def _broke(fixture: Fixture, what: str) -> TargetError:
    return TargetError(f"fixture {fixture.name} {what}", code="fixture_broke")


def _in_order(fixtures: Sequence[Fixture]) -> list[Fixture]:
    """Give the fixtures so that each comes after those it asks for; loading refused cycles."""
    by_name = {fixture.name: fixture for fixture in fixtures}
    asks = {f.name: [name for name in f.parameters if name in by_name] for f in fixtures}
    return [by_name[name] for name in TopologicalSorter(asks).static_order()]
