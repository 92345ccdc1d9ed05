"""Requests to a Letta agent that break off."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from harness.messages.letta_turns import LettaTurn
from harness.targets.letta_exchanges import Exchange
from harness.targets.letta_leftovers import MadeAgent
from harness.types.events import AssistantMessage

SAID = {"message_type": "assistant_message", "id": "m1", "content": "Wait."}
BROKEN = {
    "message_type": "tool_call_message",
    "id": "m2",
    "tool_calls": {"name": 5, "tool_call_id": "c", "arguments": "{"},
}


class StallingServer:
    """A server that streams some records, and then nothing more."""

    url, secrets = "http://127.0.0.1:8283", ()

    def __init__(self, *records):
        self._records = records

    @asynccontextmanager
    async def message(self, *_, **__):
        async def parts():
            for record in self._records:
                yield f"data: {json.dumps(record)}\n\n".encode()
            await asyncio.sleep(60)

        yield parts()

    async def read(self, data, _place):
        return json.loads(data)


@pytest.mark.parametrize("records", [[SAID], [SAID, BROKEN]])
async def test_what_has_arrived_of_a_reply_is_kept_and_a_cancellation_stays_one(records):
    exchange = Exchange(StallingServer(*records), MadeAgent(id="a"), "tokens", LettaTurn())
    taken = []
    asking = asyncio.create_task(exchange.ask({}, taken.append))
    await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [event.text for event in taken if isinstance(event, AssistantMessage)] == ["Wait."]
