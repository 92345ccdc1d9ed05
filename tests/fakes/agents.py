"""Targets of our own protocol for tests of what stands above them."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from harness.types.events import AssistantMessage
from harness.types.trajectories import Step, Usage


@dataclass
class FakeTarget:
    """Calls `act(context, text)` for every turn, and says what it returns.

    `act` may be async, and may raise; what happened is counted in `opened` and `closed`.
    """

    act: object
    opened: list = field(default_factory=list)
    closed: list = field(default_factory=list)
    connected: int = 0

    @asynccontextmanager
    async def connect(self, context):
        self.context = context
        self.connected += 1
        yield self

    async def open(self, context):
        self.opened.append(context)
        return FakeSession(self, context)


@dataclass
class FakeSession:
    """One conversation with a fake agent."""

    target: FakeTarget
    context: object

    async def send(self, text, record):
        answer = self.target.act(self.context, text)
        if hasattr(answer, "__await__"):
            answer = await answer
        record(AssistantMessage(text=answer))
        record(Step(usage=Usage(input_tokens=1, output_tokens=len(answer))))

    async def close(self):
        self.target.closed.append(self.context)
