"""Our tags on what agents came with, or made themselves: a sweep finds it, whatever happens."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_shapes import Thing
from harness.types.errors import TargetError

_WITH_BLOCKS: Mapping[str, Any] = {"include": ["agent.blocks", "agent.tags"]}


async def mark_agent(server: LettaServer, agent_id: str, tags: Sequence[str]) -> None:
    """Tag an agent; one that is gone already is left alone.

    Raises:
        TargetError: the server does not do it.
    """
    state = await _state(server, agent_id)
    if state is not None:
        await _mark(server, path_of("agents", agent_id), state, tags)


async def mark_imported(server: LettaServer, agent_id: str, tags: Sequence[str]) -> None:
    """Tag an agent that an import has just made, and the memory blocks that it was made with.

    Raises:
        TargetError: the server does not do it.
    """
    state = await _state(server, agent_id)
    if state is None:
        return
    await _mark(server, path_of("agents", agent_id), state, tags)
    for block in state.get("blocks") or ():
        await _mark(server, path_of("blocks", block["id"]), block, tags)


async def claim_new_blocks(
    server: LettaServer, agent_id: str, known: Sequence[str], tags: Sequence[str]
) -> list[str]:
    """Tag the blocks that an agent has made itself, and return their ids.

    These are all that it has beside `known`, but for those that another agent has as well.

    Raises:
        TargetError: the server does not do it.
    """
    state = await _state(server, agent_id)
    claimed: list[str] = []
    for block in (state or {}).get("blocks") or ():
        path = path_of("blocks", block["id"])
        if block["id"] in known or await _has_others(server, path, agent_id):
            continue
        await _mark(server, path, block, tags)
        claimed.append(str(block["id"]))
    return claimed


async def _has_others(server: LettaServer, path: str, agent_id: str) -> bool:
    holders = await server.get(f"{path}/agents", shape=list[Thing])
    return any(holder["id"] != agent_id for holder in holders)


async def _state(server: LettaServer, agent_id: str) -> dict[str, Any] | None:
    """Return the state of an agent, None where there is no such agent any more."""
    try:
        state: dict[str, Any] = await server.get(
            path_of("agents", agent_id), _WITH_BLOCKS, shape=Thing
        )
    except TargetError as error:
        if error.code == "not_found":
            return None
        raise
    return state


async def _mark(
    server: LettaServer, path: str, holder: Mapping[str, Any], tags: Sequence[str]
) -> None:
    own = holder.get("tags") or []
    if not {*tags} <= {*own}:
        await server.patch(path, {"tags": list(dict.fromkeys([*own, *tags]))})
