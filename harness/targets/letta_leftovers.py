"""What Regrade made on a Letta server, and how it goes: agents, and what they leave behind.

The server deletes an agent alone: its memory blocks, its archive and the folders that came with an
agent file stay, and nothing says whose they were. So what a trial made is deleted with its agent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from harness.system.texts import error_line
from harness.system.time_limits import limited
from harness.targets.letta_marking import claim_new_blocks
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_server_tools import drop_tools
from harness.targets.letta_shapes import Thing
from harness.targets.letta_tags import run_tags
from harness.types.errors import TargetError

_T = TypeVar("_T")

_SWEEP_SECONDS = 60.0
_WAIT_SECONDS = 8.0  # less than an agent may take to close
_AT_ONCE = 8
_ARCHIVE = "Default archive created automatically"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAgent:
    """An agent of one trial; `blocks`, `folders` and `others` are ids of what was made with it.

    `others` are further agents. `shared_blocks` are blocks that it was given and that stay, None
    where that is unknown: then only `blocks` go.

    `is_ours` says that it is deleted. `parallel` is whether it makes several calls at a time, None
    where that is unknown.
    """

    id: str
    name: str = ""
    blocks: tuple[str, ...] = ()
    shared_blocks: tuple[str, ...] | None = None
    folders: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    is_ours: bool = True
    parallel: bool | None = None


async def delete_agent(server: LettaServer, agent: MadeAgent) -> None:
    """Delete an agent with what was made for it.

    Raises:
        TargetError: the server did not do it.
    """
    archives = await _own_archives(server, agent) if agent.is_ours else []
    if agent.is_ours:
        await server.delete(path_of("agents", agent.id))
    places = [
        *(path_of("agents", one) for one in agent.others),
        *(path_of("blocks", one) for one in agent.blocks),
        *(path_of("archives", one) for one in archives),
        *(path_of("folders", one) for one in agent.folders),
    ]
    for place in places:
        await server.delete(place)


async def _own_archives(server: LettaServer, agent: MadeAgent) -> list[str]:
    """Return the archives that the server made for this agent alone."""
    query = {"agent_id": agent.id, "limit": 100}
    found = await server.get(path_of("archives", ""), query, shape=list[Thing] | None)
    return [
        str(archive["id"])
        for archive in found or ()
        if archive.get("description") == _ARCHIVE
        and (not agent.name or archive.get("name") == f"{agent.name}'s Archive")
    ]


async def delete_run(server: LettaServer, run_id: str, *, tools: bool = True) -> list[str]:
    """Delete what bears both tags of a run, and nothing else; return a line for each thing.

    Raises:
        TargetError: something could not be deleted; all the rest is.
    """
    agents = await _bearing(server, "agents", run_id)
    failures = await _try_each(
        agents,
        lambda one: delete_agent(server, MadeAgent(id=one["id"], name=one.get("name") or "")),
    )
    blocks = await _bearing(server, "blocks", run_id)
    failures += await _try_each(blocks, lambda one: server.delete(path_of("blocks", one["id"])))
    dropped = await drop_tools(server, run_id) if tools else []
    if failures:
        raise failures[0]
    return [
        *(f"agent {one['id']} ({one.get('name')})" for one in agents),
        *(f"memory block {one['id']} ({one.get('label')})" for one in blocks),
        *(f"tool {name}" for name in dropped),
    ]


async def _bearing(server: LettaServer, kind: str, run_id: str) -> list[dict[str, Any]]:
    """Return what bears both tags of a run, whether or not the server knows a search by tags."""
    tags = run_tags(run_id)
    query: dict[str, Any] = {"tags": tags, "match_all_tags": True}
    if kind == "agents":
        query["include"] = ["agent.tags"]
    found = [one async for one in server.pages(path_of(kind, ""), query)]
    return [one for one in found if {*tags} <= {*(one.get("tags") or ())}]


async def _try_each(
    things: Iterable[_T], do: Callable[[_T], Awaitable[object]]
) -> list[TargetError]:
    """Do something with each thing, whatever becomes of the others; return the failures."""
    failures: list[TargetError] = []

    async def attempt(thing: _T) -> None:
        try:
            await do(thing)
        except TargetError as error:
            failures.append(error)

    await do_each(things, attempt)
    return failures


async def do_each(things: Iterable[_T], do: Callable[[_T], Awaitable[object]]) -> None:
    """Do something with each thing, a few at once; the first failure ends all and is raised."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(thing: _T) -> None:
        async with slots:
            await do(thing)

    tasks = [asyncio.ensure_future(one(thing)) for thing in things]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


class Leftovers:
    """Deletes agents while a run goes on, and what is left of the run at its end.

    A deletion goes on where its trial does not wait for it any more; one that failed is made up
    for by the sweep at the end. What could not be deleted is said by `warn`.
    """

    def __init__(self, server: LettaServer, run_id: str, warn: Callable[[str], None]) -> None:
        self._server = server
        self._run_id = run_id
        self._warn = warn
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: list[MadeAgent] = []

    async def discard(self, agent: MadeAgent) -> None:
        """Delete an agent that is ours, and what was made with it.

        One that fails, or takes long on a busy server, is left to the sweep.
        """
        if not (agent.is_ours or agent.others):
            return
        task = asyncio.ensure_future(self._delete(agent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task}, timeout=_WAIT_SECONDS)

    async def _delete(self, agent: MadeAgent) -> None:
        try:
            await self._delete_all(agent)
        except TargetError:
            self._failed.append(agent)

    async def _delete_all(self, agent: MadeAgent) -> None:
        await delete_agent(self._server, await self._with_all_blocks(agent))

    async def _with_all_blocks(self, agent: MadeAgent) -> MadeAgent:
        """Return an agent with the blocks that it has made itself, which have our tags by now."""
        if not agent.is_ours or agent.shared_blocks is None:
            return agent
        known = (*agent.blocks, *agent.shared_blocks)
        fresh = await claim_new_blocks(self._server, agent.id, known, run_tags(self._run_id))
        return replace(agent, blocks=(*agent.blocks, *fresh))

    async def keep(self, agent: MadeAgent) -> None:
        """Leave an agent on the server, and let `regrade clean` find all that it has made.

        Raises:
            TargetError: the server does not do it.
        """
        await self._with_all_blocks(agent)

    async def sweep(self, *, everything: bool) -> None:
        """Wait for deletions under way, and delete what is left; a warning says what is not."""
        try:
            await limited(self._sweep(everything=everything), _SWEEP_SECONDS)
        except (TargetError, TimeoutError) as error:
            self._warn(
                f"what the run left on {self._server.url} could not be deleted "
                f"({error_line(error)}); `regrade clean {self._run_id}` does it"
            )
        finally:
            # The connection is closed next.
            for task in self._tasks:
                task.cancel()

    async def _sweep(self, *, everything: bool) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)
        failures = await _try_each(self._failed, self._delete_all)
        if everything:
            await delete_run(self._server, self._run_id)
        else:
            self._warn(
                f"keep_agents: the run's agents stay on {self._server.url}; "
                f"`regrade clean {self._run_id}` deletes them"
            )
        if failures:
            raise failures[0]
