"""One request to an agent: messages go out, the events of its reply are recorded as they come."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from harness.endpoints.failures import failure
from harness.messages.letta_chunks import LettaChunks
from harness.messages.letta_replies import LettaReply, read_letta_reply
from harness.messages.letta_turns import LettaTurn
from harness.messages.server_sent import EventData
from harness.targets.letta_leftovers import MadeAgent
from harness.targets.letta_server import LettaServer
from harness.types.errors import TargetError
from harness.types.events import Event

StreamKind = Literal["steps", "tokens", "off"]

_DONE = "[DONE]"


class Exchange:
    """Asks one agent in one turn; `runs` are the server's runs so far, one a request."""

    def __init__(
        self, server: LettaServer, agent: MadeAgent, stream: StreamKind, turn: LettaTurn
    ) -> None:
        self._server = server
        self._agent = agent
        self._stream = stream
        self._turn = turn
        self._place = f"{server.url}: agent {agent.id}"
        self.runs: list[str] = []

    async def ask(self, body: Mapping[str, Any], take: Callable[[Event], None]) -> LettaReply:
        """Send messages; `take` receives each event as soon as it is complete.

        Raises:
            TargetError: there is no reply, or none that can be read.
        """
        try:
            if self._stream == "off":
                return await self._blocking(body, take)
            return await self._streamed(body, take)
        except ValueError as error:
            message = f"{self._place}: {error}"
            raise failure(message, code="bad_reply", secrets=self._server.secrets) from error

    async def _blocking(self, body: Mapping[str, Any], take: Callable[[Event], None]) -> LettaReply:
        async with self._server.message(self._agent.id, body, streaming=False) as parts:
            data = b"".join([part async for part in parts])
        whole = await self._server.read(data, self._place)
        reply = read_letta_reply(whole)
        self._note(reply.run_id)
        for event in self._turn.read_reply(whole):
            take(event)
        return reply

    async def _streamed(self, body: Mapping[str, Any], take: Callable[[Event], None]) -> LettaReply:
        if self._stream == "tokens":
            body = {**body, "stream_tokens": True}
        chunks = LettaChunks(self._turn, parallel=self._agent.parallel)
        try:
            async with self._server.message(self._agent.id, body, streaming=True) as parts:
                async for text in _texts(parts):
                    for event in chunks.feed(await self._server.read(text.encode(), self._place)):
                        take(event)
                    self._note(chunks.reply.run_id)
        except BaseException:
            # That the last message is broken as well matters less than what broke it off.
            with suppress(ValueError):
                _finish(chunks, take)
            raise
        _finish(chunks, take)
        return self._whole(chunks.reply)

    def _whole(self, reply: LettaReply) -> LettaReply:
        if reply.stop_reason is None and reply.failure is None:
            raise TargetError(f"{self._place}: the stream ended early", code="stream_cut")
        return reply

    def _note(self, run_id: str | None) -> None:
        if run_id is not None and run_id not in self.runs:
            self.runs.append(run_id)


def _finish(chunks: LettaChunks, take: Callable[[Event], None]) -> None:
    for event in chunks.finish():
        take(event)


async def _texts(parts: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the data of the stream's events, up to its end."""
    events = EventData()
    async for part in parts:
        for text in events.feed(part):
            if text.strip() and text.strip() != _DONE:
                yield text
    for text in events.end():
        if text.strip() and text.strip() != _DONE:
            yield text
