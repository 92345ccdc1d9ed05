"""Samples driven as a run drives them, and Python source as a file of a suite."""

import hashlib
import types
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from harness.running.driving import Driver
from harness.running.pacing import Pacing
from harness.running.plans import PlannedTrial
from harness.running.workers import Stop
from harness.running.worlds import Worlds
from harness.types.code import CodeFile
from harness.types.protocols import RunContext
from harness.types.samples import Sample
from harness.types.suites import Limits, Retries, Suite
from harness.types.trajectories import Trajectory


def load_code(text, name="tools"):
    """Load Python source as a file of a suite."""
    module = types.ModuleType(f"suite_{name}")
    path = Path(f"/a-suite/{name}.py")
    exec(compile(text, path, "exec"), vars(module))
    sha = hashlib.sha256(text.encode()).hexdigest()
    return CodeFile(text=path.name, path=path, module=module, sha256=sha)


class DrivenSample:
    """What came of one sample; `warnings` are those of the whole connection."""

    def __init__(self, driven, warnings):
        self._driven = driven
        self.warnings = warnings

    @property
    def error(self):
        """The error that ended the last attempt, None for none."""
        return self._driven.error

    @property
    def turns(self):
        """The turns, with their times."""
        return self._driven.trajectory.turns

    @property
    def waited(self):
        """How many seconds it waited for the endpoint."""
        return self._driven.waiting_seconds

    @property
    def events(self):
        """All events, with their times."""
        return list(self._driven.trajectory.events())

    @property
    def trajectory(self):
        """The trajectory without what differs from run to run: times."""
        return Trajectory(turns=tuple(map(_without_times, self.turns)))

    def of(self, kind):
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


def _without_times(turn):
    replace = msgspec.structs.replace
    return replace(
        turn,
        events=tuple(replace(event, at=None) for event in turn.events),
        steps=tuple(replace(step, seconds=None) for step in turn.steps),
    )


@asynccontextmanager
async def connected(agent, *, scripted_url=None, fixtures=None, **bounds):
    """Connect a target; the context gives a function that drives one sample over it.

    `bounds` are `turn_seconds`, `wait_seconds` and `attempts`.
    """
    fixtures, warnings = fixtures or {}, []
    bounds = {"turn_seconds": 20.0, "wait_seconds": 5.0, "attempts": 1, **bounds}
    run_context = RunContext(
        scripted_url=scripted_url, fixture_names=frozenset(fixtures), concurrency=120
    )
    limits = Limits(concurrency=120, turn_seconds=bounds.pop("turn_seconds"))
    retries = Retries(max_wait_seconds=bounds.pop("wait_seconds"), **bounds)
    async with agent.connect(run_context) as connection:
        driver = Driver(
            connection=connection,
            worlds=Worlds((), seconds=None, warn=warnings.append),
            fixtures=fixtures,
            limits=limits,
            retries=retries,
            warn=warnings.append,
            pacing=Pacing(Suite(name="one", limits=limits, retries=retries), Stop()),
        )

        async def drive(*, model="some-model", **sample):
            sample = Sample(**{"id": "s", "input": "Hi", **sample})
            driven = await driver.drive(PlannedTrial(0, sample, "key", model, 3))
            return DrivenSample(driven, warnings)

        yield drive


async def drive_sample(agent, *, model="some-model", **options):
    """Drive one sample; options of `connected` are taken out, all others are the sample's."""
    fields = {key: options.pop(key) for key in list(options) if key in Sample.__struct_fields__}
    async with connected(agent, **options) as drive:
        return await drive(model=model, **fields)
