"""Deleting what a run made on a Letta server: everything that can go, goes."""

import asyncio

import pytest

from harness.targets.letta_leftovers import delete_run, do_each
from harness.types.errors import TargetError

AGENTS = [f"agent-{number}" for number in range(30)]


class StubServer:
    """A server with agents and a block of one run, some of which it does not delete."""

    url = "http://127.0.0.1:8283"

    def __init__(self, *, keeps):
        self.keeps = {f"/v1/{path}" for path in keeps}
        self.deleted = []

    async def get(self, _path, _query=None, *, shape=None):
        return []

    async def pages(self, path, query=None):
        ids = {"/v1/agents/": AGENTS, "/v1/blocks/": ["block-1"]}.get(path, [])
        for one in ids:
            yield {"id": one, "name": one, "label": one, "tags": (query or {})["tags"]}

    async def delete(self, path):
        await asyncio.sleep(0)
        if path in self.keeps:
            raise TargetError(f"{path} stays", code="server_error")
        self.deleted.append(path)


async def test_what_cannot_be_deleted_keeps_nothing_else_from_going():
    server = StubServer(keeps=["agents/agent-0", "agents/agent-20"])
    with pytest.raises(TargetError, match="agent-0 stays"):
        await delete_run(server, "run-7", tools=False)
    kept = {"agent-0", "agent-20"}
    wanted = {f"/v1/agents/{one}" for one in AGENTS if one not in kept} | {"/v1/blocks/block-1"}
    assert set(server.deleted) == wanted


async def test_a_line_tells_of_each_thing_that_was_deleted():
    lines = await delete_run(StubServer(keeps=[]), "run-7", tools=False)
    assert len(lines) == 31
    assert lines[0] == "agent agent-0 (agent-0)"
    assert lines[-1] == "memory block block-1 (block-1)"


async def test_nothing_goes_on_once_one_of_several_has_failed():
    begun = []

    async def do(number):
        begun.append(number)
        await asyncio.sleep(0)
        if number == 1:
            raise TargetError("no", code="server_error")
        await asyncio.sleep(0)

    with pytest.raises(TargetError):
        await do_each(range(100), do)
    count = len(begun)
    await asyncio.sleep(0.01)
    assert len(begun) == count < 100
