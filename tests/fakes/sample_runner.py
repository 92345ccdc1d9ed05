"""Plays the runner's part towards a target: drives one sample, and keeps what was recorded."""

import asyncio
import hashlib
import types
from pathlib import Path

import msgspec

from harness.types.code import CodeFile
from harness.types.errors import TargetError
from harness.types.events import UserMessage
from harness.types.protocols import AttemptContext, RunContext
from harness.types.samples import Sample
from harness.types.trajectories import Step, Trajectory, Turn


def load_code(text, name="tools"):
    """Load Python source as a file of a suite."""
    module = types.ModuleType(f"suite_{name}")
    path = Path(f"/a-suite/{name}.py")
    exec(compile(text, path, "exec"), vars(module))
    sha = hashlib.sha256(text.encode()).hexdigest()
    return CodeFile(text=path.name, path=path, module=module, sha256=sha)


class OneSampleRunner:
    """Plays the runner's part: drives one sample and keeps what was recorded."""

    def __init__(self, agent, **options):
        self.agent = agent
        self.model = options.pop("model", "some-model")
        self.fixtures = options.pop("fixtures", {})
        self.budget = options.pop("budget", 5.0)
        self.turn_seconds = options.pop("turn_seconds", 20.0)
        self.scripted_url = options.pop("scripted_url", None)
        self.sample = Sample(**{"id": "s", "input": "Hi", **options})
        self.waits = []
        self.turns = []
        self.error = None

    async def wait(self, seconds):
        """Wait next to no time, but remember how long it should have been."""
        if sum(self.waits) + seconds > self.budget:
            raise TargetError("that is too long", code="rate_limited", retry_after=seconds)
        self.waits.append(seconds)
        await asyncio.sleep(min(seconds, 0.01))

    def record(self, what):
        """Keep what happened in the turn that is being driven."""
        self.turns[-1][isinstance(what, Step)].append(what)

    async def drive(self):
        """Drive the sample; give the runner itself, with what came of it."""
        run_context = RunContext(
            scripted_url=self.scripted_url, fixture_names=frozenset(self.fixtures), concurrency=4
        )
        context = AttemptContext(
            sample=self.sample, model=self.model, epoch=3, attempt=0,
            fixtures=self.fixtures, wait=self.wait,
        )  # fmt: skip
        try:
            async with self.agent.connect(run_context) as connection:
                session = await connection.open(context)
                for text in self.sample.turns:
                    self.turns.append(([UserMessage(text=text)], []))
                    async with asyncio.timeout(self.turn_seconds):
                        await session.send(text, self.record)
                await session.close()
        except TargetError as error:
            self.error = error
        except TimeoutError:
            self.error = TargetError("time is up", code="turn_timeout")
        return self

    @property
    def events(self):
        """All events so far."""
        return [event for events, _ in self.turns for event in events]

    @property
    def trajectory(self):
        """The trajectory without what differs from run to run: times."""
        turns = [
            Turn(
                events=tuple(msgspec.structs.replace(event, at=None) for event in events),
                steps=tuple(msgspec.structs.replace(step, seconds=None) for step in steps),
            )
            for events, steps in self.turns
        ]
        return Trajectory(turns=tuple(turns))

    def of(self, kind):
        """Give the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]
