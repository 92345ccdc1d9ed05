"""Agents of the user's own have their models back after a run."""

import asyncio

from harness.targets.letta_lent_agents import LentAgents
from harness.types.errors import TargetError


class StubServer:
    """A server that holds the models of two agents, and refuses to change some."""

    def __init__(self, *, refuses=()):
        self.models = {"/v1/agents/a": "own-a", "/v1/agents/b": "own-b"}
        self.refuses = {f"/v1/agents/{one}" for one in refuses}

    async def get(self, path, _query=None, *, shape=None):
        found = self.models[path]
        await asyncio.sleep(0)
        return {"llm_config": {"model": found}}

    async def patch(self, path, body):
        if path in self.refuses:
            raise TargetError("gone", code="server_error")
        self.models[path] = body["llm_config"]["model"]


async def test_trials_that_begin_at_once_remember_what_was_there_before_any_of_them():
    server = StubServer()
    lent = LentAgents(server, print)

    async def use(agent_id, model):
        await lent.note(agent_id)
        await server.patch(f"/v1/agents/{agent_id}", {"llm_config": {"model": model}})

    await asyncio.gather(use("a", "x"), use("a", "y"), use("b", "x"))
    assert set(server.models.values()) <= {"x", "y"}
    await lent.give_back()
    assert set(server.models.values()) == {"own-a", "own-b"}


async def test_a_model_that_cannot_be_given_back_is_told_and_keeps_no_other_from_it():
    server, told = StubServer(refuses=["a"]), []
    lent = LentAgents(server, told.append)
    await lent.note("a")
    await lent.note("b")
    server.models["/v1/agents/b"] = "other"
    await lent.give_back()
    assert server.models["/v1/agents/b"] == "own-b"
    [line] = told
    assert line.startswith("the agent a keeps the model of its last trial: gone")
