"""A turn of a Letta agent: what stays of one that is cut off."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

from harness.system import time_limits
from harness.targets.letta_leftovers import MadeAgent
from harness.targets.letta_turn_taking import Manners, TurnTaking
from harness.types.trajectories import Step

MANNERS = Manners(stream="off", approvals="fail", max_steps=10, tools={}, keeps_state=False)
RUNS = [f"run-{number}" for number in range(8)]


class SlowServer:
    """A server that takes a while for each answer."""

    url, secrets = "http://127.0.0.1:8283", ()

    async def get(self, _path, _query=None, *, shape=None):
        await asyncio.sleep(0.1)
        return []

    post = get


class EndlessExchange:
    """Requests of a turn that never ends; the agent has had a step in each of the runs so far."""

    runs = RUNS

    async def ask(self, _body, _take):
        await asyncio.sleep(60)


async def test_a_turn_that_is_cut_off_keeps_its_steps_however_many_requests_it_took(monkeypatch):
    monkeypatch.setattr(time_limits, "GRACE_SECONDS", 0.5)
    taking = TurnTaking(SlowServer(), MadeAgent(id="agent-1"), MANNERS, SimpleNamespace(wait=None))
    monkeypatch.setattr(taking, "_exchange", EndlessExchange())
    for run in RUNS:
        message = {"message_type": "assistant_message", "content": "Hm.", "step_id": run}
        taking._turn.read(message)
    recorded = []
    with suppress(TimeoutError):
        await time_limits.limited(taking.take("Hello.", recorded.append), 0.05)
    assert sum(isinstance(one, Step) for one in recorded) == 8
