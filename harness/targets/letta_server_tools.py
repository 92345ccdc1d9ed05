"""Tools of an inline agent on the Letta server: functions of the suite's file in, tool ids out.

A server knows one tool by each name, for everybody who uses it. A tool of another source is never
overwritten; one that Regrade made bears the tags of the runs that use it, and goes with the last,
or is replaced once none of them has agents any more.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_shapes import Thing
from harness.targets.letta_sources import SourceError, standalone_source
from harness.targets.letta_tags import TAG, run_tag, runs_of
from harness.targets.source_lines import fault_at
from harness.targets.toolbox import Tool, build_toolbox, tool_faults
from harness.types.code import CodeFile
from harness.types.errors import Fault, TargetError

_ANY = ""
_LOOKS = 4
_BETWEEN_LOOKS = 0.5  # seconds
_FIXTURES = "a tool on the Letta server cannot receive fixtures; target.client_tools can"


def server_tool_faults(code: CodeFile, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for each function that cannot be a tool on a server."""
    faults = list(tool_faults(code, fixture_names))
    yield from faults
    if faults:
        return
    for name, tool in build_toolbox(code, fixture_names).items():
        if tool.fixtures:
            asked = ", ".join(tool.fixtures)
            yield fault_at(code, tool.function, f"tool {name} asks for {asked}", _FIXTURES)
        try:
            standalone_source(code, tool.function)
        except SourceError as error:
            yield fault_at(code, tool.function, f"tool {name} {error}", error.allowed)


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as the server keeps it."""

    name: str
    source: str
    schema: dict[str, Any]

    @property
    def body(self) -> dict[str, Any]:
        """Return the body of the request that makes it."""
        return {
            "source_code": self.source,
            "source_type": "python",
            "json_schema": self.schema,
            "description": self.schema["description"],
        }


def server_tools(code: CodeFile) -> list[ServerTool]:
    """Return the functions of a file as tools of a server."""
    return [_server_tool(code, tool) for tool in build_toolbox(code, frozenset()).values()]


def _server_tool(code: CodeFile, tool: Tool) -> ServerTool:
    schema = tool.schema["function"]
    return ServerTool(tool.name, standalone_source(code, tool.function), schema)


async def put_tools(server: LettaServer, tools: Sequence[ServerTool], run_id: str) -> list[str]:
    """Put tools on a server and return their ids; what is there already is used.

    Raises:
        TargetError: `bad_request`, where a tool of such a name has another source.
    """
    return [await _put_tool(server, tool, run_id) for tool in tools]


async def _put_tool(server: LettaServer, tool: ServerTool, run_id: str) -> str:
    for _ in range(_LOOKS):
        try:
            return await _put_once(server, tool, run_id)
        except TargetError as error:
            if error.code != "not_found":
                raise
            # Another run that used it has ended just now, and did not know of this one.
    return await _put_once(server, tool, run_id)


async def _put_once(server: LettaServer, tool: ServerTool, run_id: str) -> str:
    there = await _find(server, tool.name)
    if there is not None and not _is_same(tool, there):
        await _drop_stale(server, tool, there)
        there = None
    if there is None:
        there = await _make(server, tool, run_id)
    if not _is_same(tool, there):
        raise _taken(tool, there)
    await _tag(server, there, run_id)
    return str(there["id"])


def _is_same(tool: ServerTool, there: Mapping[str, Any]) -> bool:
    return (there.get("source_code"), there.get("json_schema")) == (tool.source, tool.schema)


async def _make(server: LettaServer, tool: ServerTool, run_id: str) -> dict[str, Any]:
    body = {**tool.body, "tags": [TAG, run_tag(run_id)]}
    try:
        made: dict[str, Any] = await server.post(path_of("tools", ""), body, shape=Thing)
    except TargetError:
        # Another run may have made it at the same time.
        there = await _find(server, tool.name)
        if there is None:
            raise
        return there
    return {**body, **made}


async def _drop_stale(server: LettaServer, tool: ServerTool, there: Mapping[str, Any]) -> None:
    """Delete a tool of another source that only runs have used which are over.

    Raises:
        TargetError: `bad_request`, where it is somebody's, or a run with agents uses it.
    """
    tags = {*(there.get("tags") or ())}
    if TAG not in tags or await _live_among(server, {one for one in tags if runs_of([one])}):
        raise _taken(tool, there)
    await server.delete(path_of("tools", there["id"]))


async def _tag(server: LettaServer, there: Mapping[str, Any], run_id: str) -> None:
    """Put the run's tag on a tool of ours; another run may change the tags at the same time."""
    path, tags = path_of("tools", there["id"]), there.get("tags") or []
    for _ in range(_LOOKS):
        if TAG not in tags or run_tag(run_id) in tags:
            return
        await server.patch(path, {"tags": [*tags, run_tag(run_id)]})
        tags = (await server.get(path, shape=Thing)).get("tags") or []


async def _find(server: LettaServer, name: str) -> dict[str, Any] | None:
    query = {"name": name, "limit": 100}
    for found in await server.get(path_of("tools", ""), query, shape=list[Thing]):
        if found.get("name") == name:
            made: dict[str, Any] = found
            return made
    return None


def _taken(tool: ServerTool, there: Mapping[str, Any]) -> TargetError:
    runs = runs_of(there.get("tags") or [])
    if TAG in (there.get("tags") or []) and runs:
        hint = f"if no run is under way, `regrade clean {runs[-1]}` deletes it"
    else:
        hint = "give the function another name; Regrade overwrites nobody's tool"
    return TargetError(
        f"the Letta server has a tool {tool.name} with another source",
        code="bad_request",
        hint=hint,
    )


async def drop_tools(server: LettaServer, run_id: str) -> list[str]:
    """Take a run's tag off the tools that it used, and delete those that no run uses any more.

    Returns the names of those that were deleted. A run without agents uses nothing: either it is
    over, or it puts its tools there again before it makes the next one.
    """
    tags = {TAG, run_tag(run_id)}
    tools = [tool async for tool in server.pages(path_of("tools", ""))]
    used = [tool for tool in tools if tags <= {*(tool.get("tags") or ())}]
    named = {tag for tool in used for tag in tool["tags"] if runs_of([tag])} - tags
    live = await _live_among(server, named)
    dropped: list[str] = []
    for tool in used:
        # Two runs may have changed the tags at once: what agents have says more.
        users = await _run_tags_by_tool(server)
        kept = (live | users[_ANY]) & {*tool["tags"]}
        if others := (users.get(tool["id"], set()) | kept) - tags:
            with suppress(TargetError):  # a run that has ended meanwhile deletes it
                await server.patch(path_of("tools", tool["id"]), {"tags": [TAG, *sorted(others)]})
            continue
        await server.delete(path_of("tools", tool["id"]))
        dropped.append(str(tool["name"]))
    return dropped


async def _live_among(server: LettaServer, named: AbstractSet[str]) -> set[str]:
    """Return those tags of runs which have agents; one has none for a moment between trials."""
    live: set[str] = set()
    for look in range(_LOOKS if named else 0):
        if look:
            await asyncio.sleep(_BETWEEN_LOOKS)
        live |= named & (await _run_tags_by_tool(server))[_ANY]
        if live == named:
            break
    return live


async def _run_tags_by_tool(server: LettaServer) -> dict[str, set[str]]:
    """Return, by tool, the tags of the runs whose agents have it; by `_ANY` those of all agents."""
    found: dict[str, set[str]] = {_ANY: set()}
    query = {"tags": [TAG], "include": ["agent.tools", "agent.tags"]}
    async for agent in server.pages(path_of("agents", ""), query):
        runs = {tag for tag in agent.get("tags") or () if runs_of([tag])}
        for tool in (_ANY, *(tool["id"] for tool in agent.get("tools") or ())):
            found.setdefault(tool, set()).update(runs)
    return found
