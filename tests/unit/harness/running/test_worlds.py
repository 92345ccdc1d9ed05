"""The clean world of a trial."""

import asyncio
import re
import threading
import time

import pytest
from fakes.suites import fake_suite

from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.worlds import Worlds
from harness.storing.trial_log import read_trials
from harness.system.time_limits import BLOCKING_SECONDS
from harness.types.code import CodeRef, Fixture, SuitePath
from harness.types.errors import TargetError
from harness.types.suites import Limits


def fixture(function, *parameters, name=None, scope="trial"):
    return Fixture(
        name=name or function.__name__,
        scope=scope,
        function=function,
        parameters=parameters,
        file="tools.py",
    )


def worlds(*fixtures, seconds=5.0, notes=None):
    return Worlds(fixtures, seconds=seconds, warn=(notes if notes is not None else []).append)


class Box:
    def __init__(self):
        self.rows = []

    def snapshot(self):
        return {"rows": self.rows}


async def test_a_fixture_is_set_up_given_by_name_and_cleared_away():
    seen = []

    def database():
        seen.append("up")
        yield "db"
        seen.append("down")

    async with worlds(fixture(database)).opened("trial", {}) as objects:
        assert objects == {"database": "db"}
        assert seen == ["up"]
    assert seen == ["up", "down"]


async def test_an_async_fixture_works_alike():
    async def service():
        yield "on"

    async with worlds(fixture(service)).opened("trial", {}) as objects:
        assert objects == {"service": "on"}


async def test_a_fixture_receives_the_fixtures_and_the_sample_it_asks_for():
    def outer(sample):
        yield f"outer of {sample}"

    def inner(outer, shared):
        yield f"inner in {outer} and {shared}"

    made = worlds(fixture(inner, "outer", "shared"), fixture(outer, "sample"))
    async with made.opened("trial", {"sample": "s1", "shared": "all"}) as objects:
        assert objects["inner"] == "inner in outer of s1 and all"


@pytest.mark.parametrize("error", [ValueError("no disk"), SystemExit(3)])
async def test_a_fixture_that_raises_while_it_is_set_up_is_named(error):
    def database():
        raise error
        yield

    with pytest.raises(TargetError, match="the set-up of fixture database raised") as caught:
        async with worlds(fixture(database)).opened("trial", {}):
            pass
    assert caught.value.code == "fixture_broke"


async def test_a_fixture_that_never_comes_up_is_given_up():
    gate = threading.Event()

    def database():
        gate.wait(20)
        yield

    with pytest.raises(TargetError, match="the set-up of fixture database took longer"):
        async with worlds(fixture(database), seconds=0.05).opened("trial", {}):
            pass
    gate.set()


async def test_clearing_away_that_goes_wrong_is_noted_and_spoils_nothing():
    def broken():
        yield 1
        raise ValueError("stuck")

    def twice():
        yield 1
        yield 2

    notes = []
    made = worlds(fixture(broken), fixture(twice), notes=notes)
    async with made.opened("trial", {}):
        pass
    assert sorted(notes) == [
        "the teardown of fixture broken raised ValueError: stuck",
        "the teardown of fixture twice raised RuntimeError: it yields more than once",
    ]


@pytest.mark.parametrize("scope", ["trial", "run"])
async def test_with_a_redact_warnings_say_nothing_of_what_a_fixture_raised(tmp_path, scope):
    def broken():
        yield 1
        raise ValueError("of Ada Example")

    (tmp_path / "hide.py").write_text("def hide(trial): pass\n", encoding="utf-8")
    hide = CodeRef(
        text="hide.py:hide",
        file=SuitePath(text="hide.py", path=tmp_path / "hide.py"),
        name="hide",
        value=lambda trial: None,
    )

    async def act(context, text):
        return "ok"

    suite = fake_suite(act, fixtures=(fixture(broken, scope=scope),), redact=hide)
    summary = (await execute(suite, RunOptions(out=tmp_path))).summary
    [warning] = [one for one in summary.warnings if "teardown" in one]
    assert re.search(r"of fixture broken raised ValueError \(test_worlds.py:\d+\)$", warning)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if b"Ada" in path.read_bytes()]


async def test_a_snapshot_that_is_no_json_is_an_error_with_the_fixtures_name():
    class Odd:
        def snapshot(self):
            return {"now": object()}

    with pytest.raises(TargetError, match=r"snapshot\(\) of fixture odd"):
        await worlds().snapshots({"odd": Odd()})


async def test_a_fixture_that_blocks_the_run_is_named():
    class Slow:
        async def snapshot(self):
            threading.Event().wait(BLOCKING_SECONDS + 0.1)
            return {}

    notes = []
    await worlds(notes=notes).snapshots({"desk": Slow()})
    assert "snapshot() of fixture desk kept the event loop to itself for 1.1 s" in notes[0]


async def test_a_snapshot_is_what_json_makes_of_it():
    class Box:
        def snapshot(self):
            return {"seats": (1, 2), 3: "x"}

    assert await worlds().snapshots({"box": Box()}) == {"box": {"seats": [1, 2], "3": "x"}}


async def test_twenty_trials_at_once_each_have_their_own_world_and_store_its_end(tmp_path):
    def box():
        yield Box()

    async def act(context, text):
        rows = context.fixtures["box"].rows
        rows.append(context.sample.id)
        await asyncio.sleep(0.01)
        return f"ok {rows}"

    suite = fake_suite(act, samples=20, fixtures=(fixture(box),), limits=Limits(concurrency=20))
    result = await execute(suite, RunOptions(out=tmp_path))
    for trial in read_trials(result.folder):
        assert trial.snapshots == {"box": {"rows": [trial.sample_id]}}


async def test_each_attempt_has_a_fresh_world_and_the_run_one_for_all(tmp_path):
    made = []

    def own():
        made.append("own")
        yield Box()

    def shared():
        made.append("shared")
        yield Box()

    def act(context, text):
        context.fixtures["own"].rows.append(context.attempt)
        context.fixtures["shared"].rows.append(context.attempt)
        if context.attempt == 0:
            raise TargetError("reset", code="connection_lost")
        return "ok"

    fixtures = (fixture(own), fixture(shared, scope="run"))
    result = await execute(fake_suite(act, samples=2, fixtures=fixtures), RunOptions(out=tmp_path))
    assert sorted(made) == ["own"] * 4 + ["shared"]
    assert [t.snapshots["own"] for t in read_trials(result.folder)] == [{"rows": [1]}] * 2


async def test_the_world_is_cleared_away_also_after_a_time_limit(tmp_path):
    seen = []

    def box():
        yield Box()
        time.sleep(0.05)
        seen.append("down")

    async def act(context, text):
        context.fixtures["box"].rows.append("half")
        await asyncio.sleep(30)

    limits = Limits(turn_seconds=0.05)
    suite = fake_suite(act, samples=2, fixtures=(fixture(box),), limits=limits)
    result = await execute(suite, RunOptions(out=tmp_path))
    assert seen == ["down", "down"]
    trials = list(read_trials(result.folder))
    assert {t.error.code for t in trials} == {"turn_timeout"}
    assert all(t.snapshots == {"box": {"rows": ["half"]}} for t in trials)


async def test_a_run_whose_shared_fixture_breaks_is_incomplete_and_says_why(tmp_path):
    def shared():
        raise ValueError("no such service")
        yield

    fixtures = (fixture(shared, scope="run"),)
    suite = fake_suite(lambda a, t: "ok", fixtures=fixtures)
    result = await execute(suite, RunOptions(out=tmp_path))
    assert not result.summary.complete
    assert "no such service" in " ".join(result.summary.reasons)


async def test_a_fixture_that_comes_up_after_it_was_given_up_is_still_torn_down():
    gate, down = threading.Event(), threading.Event()

    def database():
        gate.wait(20)
        yield "late"
        down.set()

    with pytest.raises(TargetError, match="took longer"):
        async with worlds(fixture(database), seconds=0.05).opened("trial", {}):
            pass
    gate.set()
    assert await asyncio.to_thread(down.wait, 10)


async def test_a_teardown_goes_on_when_the_run_is_cancelled_meanwhile():
    started, down = asyncio.Event(), []

    async def service():
        yield "on"
        started.set()
        await asyncio.sleep(0.1)
        down.append("down")

    async def use():
        async with worlds(fixture(service)).opened("trial", {}):
            pass

    task = asyncio.create_task(use())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert down == ["down"]


@pytest.mark.parametrize("seconds", [None, 5.0])
async def test_a_time_out_of_the_fixtures_own_is_not_taken_for_the_limit(seconds):
    def database():
        raise TimeoutError("the server did not answer")
        yield

    with pytest.raises(TargetError, match="TimeoutError: the server did not answer"):
        async with worlds(fixture(database), seconds=seconds).opened("trial", {}):
            pass
