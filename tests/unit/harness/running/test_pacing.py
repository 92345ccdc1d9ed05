"""The pace of a run and of each of its trials."""

import asyncio

import pytest
from fakes.agents import FakeSession, FakeTarget
from fakes.suites import fake_suite

from harness.running.pacing import Pacing
from harness.running.plans import PlannedTrial
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.workers import NotStarted, Stop
from harness.system.clock import monotonic
from harness.system.time_limits import TimeBudget
from harness.types.errors import TargetError
from harness.types.samples import Sample
from harness.types.suites import Limits, Suite, TargetSpec
from harness.types.trajectories import Step, Usage

WRONG_KEY = TargetError("no", code="unauthorized")


def budget(seconds=0.3):
    return TimeBudget(turn_seconds=seconds, trial_seconds=seconds, wait_seconds=5.0)


def pacing(stop=None, *, models=("m",), slowed=None, **limits):
    target = TargetSpec(kind="x", models=models, target=object(), fingerprint="f")
    suite = Suite(name="x", target=target, limits=Limits(**limits))
    return Pacing(suite, stop or Stop(), **({"slowed": slowed} if slowed else {}))


def jobs(*models):
    return [PlannedTrial(n, Sample(id=f"s{n}", input="x"), "k", m, 0) for n, m in enumerate(models)]


def names(found):
    return "".join(job.model for job in found)


async def test_waiting_for_a_place_again_is_charged_to_no_time_limit():
    run = pacing(concurrency=1)
    one, other = run.trial("m", budget()), run.trial("m", budget())
    assert one.start_now()

    async def turn():
        await one.wait(0.0)
        return "answered"

    async def hold():
        await other.start()
        await asyncio.sleep(0.6)
        other.leave()

    holding = asyncio.create_task(hold())
    await asyncio.sleep(0)
    # The place goes to the other trial while this one waits, longer than its turn may take.
    assert await one.budget.turn(turn()) == "answered"
    assert one.budget.held_up >= 0.5
    assert one.budget.spent < 0.3
    await holding


async def test_time_that_the_agent_takes_is_charged_also_after_a_pause():
    run = pacing(concurrency=1)
    trial = run.trial("m", budget(0.1))
    assert trial.start_now()

    async def turn():
        with trial.budget.paused():
            await asyncio.sleep(0.3)
        await asyncio.sleep(10)

    with pytest.raises(TargetError) as raised:
        await trial.budget.turn(turn())
    assert raised.value.code in {"turn_timeout", "trial_timeout"}


@pytest.mark.parametrize("code", ["rate_limited", "overloaded"])
async def test_refused_requests_narrow_the_window_and_answers_widen_it(code):
    heard = []
    run = pacing(concurrency=4, slowed=heard.append)
    trial = run.trial("m", budget())

    async def refuse():
        raise TargetError("no", code=code)

    async def answer():
        return 7

    with pytest.raises(TargetError):
        await trial.paced(refuse)
    assert heard == [(("m", 2),)]
    while run.of("m").window.size < 4:
        assert await trial.paced(answer) == 7
    assert heard == [(("m", 2),), (("m", 3),), ()]


async def test_attempts_of_agents_that_ask_by_themselves_count_alike():
    run = pacing(concurrency=8)
    trial = run.trial("m", budget())
    trial.begin_attempt()
    trial.attempt_ended(TargetError("no", code="rate_limited"))
    assert run.of("m").window.size == 4
    # Another attempt from before that refusal tells nothing new.
    trial.attempt_ended(TargetError("no", code="rate_limited"))
    assert run.of("m").window.size == 4
    trial.begin_attempt()
    trial.attempt_ended(TargetError("no", code="connection_lost"))
    assert run.of("m").window.size == 4


def test_jobs_of_a_model_without_room_let_others_go_first():
    run = pacing(concurrency=2, models=("a", "b"))
    turn = run.in_turn(iter(jobs(*"aabab")))
    taken = [next(turn), next(turn)]
    assert all(run.trial(job.model, budget()).start_now() for job in taken)
    assert names(turn) == "bba"


def test_a_model_that_is_slowed_down_leaves_other_models_their_share_of_the_places():
    run = pacing(concurrency=4, models=("a", "b"))
    run.of("a").window.refused(0)
    waiting = [run.trial("a", budget()) for _ in range(2)]
    for trial in waiting:
        assert trial.start_now()
        # They wait for their endpoint, and their places are free.
        trial.leave()
    turn = run.in_turn(iter(jobs(*"aab")))
    assert next(turn).model == "b"
    waiting[0].finish()
    assert names(turn) == "aa"


def test_no_job_is_lost_however_the_windows_change():
    run = pacing(concurrency=3, models=("a", "b"))
    for _ in range(3):
        run.of("a").window.take_now()
    planned = jobs(*"aaaabaaabbaaaaab")
    found = []
    for count, job in enumerate(run.in_turn(iter(planned))):
        found.append(job)
        if count == 5:
            run.of("a").window.leave()
    assert sorted(job.index for job in found) == [job.index for job in planned]
    assert names(found) != names(planned)


async def test_a_model_whose_trials_would_all_fail_is_not_started_and_the_run_ends_with_the_last():
    stop = Stop()
    run = pacing(stop, models=("a", "b"), concurrency=3)
    waiting = run.trial("a", budget())
    for _ in range(5):
        run.trial("a", budget()).ended(WRONG_KEY)
    with pytest.raises(NotStarted):
        waiting.start_now()
    assert not stop.is_asked
    run.trial("b", budget()).ended(None)
    for _ in range(5):
        run.trial("b", budget()).ended(WRONG_KEY)
    assert stop.is_asked
    assert stop.reason == ""
    assert len(stop.shortfalls) == 2


async def test_who_waits_for_a_place_hears_that_the_model_was_stopped():
    run = pacing(concurrency=1)
    first, second = run.trial("m", budget()), run.trial("m", budget())
    assert first.start_now()
    starting = asyncio.create_task(second.start())
    await asyncio.sleep(0)
    for _ in range(5):
        first.ended(WRONG_KEY)
    first.leave()
    with pytest.raises(NotStarted):
        await starting
    assert run.of("m").window.take_now()


async def test_agents_that_ask_by_themselves_wait_before_each_turn(tmp_path):
    times = []

    def act(_context, text):
        times.append(monotonic())
        return "ok"

    samples = tuple(Sample(id=f"s{n}", input=["one", "two"]) for n in range(3))
    limits = Limits(requests_per_minute=600, turn_seconds=0.3)
    suite = fake_suite(act, samples=samples, limits=limits)
    result = await execute(suite, RunOptions(out=tmp_path))
    assert result.summary.passed
    assert times[-1] - times[0] >= 0.49


async def test_costs_that_some_replies_do_not_say_are_told_to_be_more(tmp_path):
    def act(context, _text):
        return "ok"

    class Session(FakeSession):
        async def send(self, text, record):
            await super().send(text, record)
            known = self.context.sample.id == "s0"
            record(Step(usage=Usage(cost_usd=0.5 if known else None)))

    class Target(FakeTarget):
        async def open(self, context):
            return Session(self, context)

    result = await execute(fake_suite(Target(act)), RunOptions(out=tmp_path))
    assert result.summary.models["m"].usage.cost_usd == 0.5
    assert any("replies do not say" in warning for warning in result.summary.warnings)


async def test_a_trial_that_gives_up_waiting_holds_no_place():
    run = pacing(concurrency=1)
    trial = run.trial("m", budget())
    assert trial.start_now()
    with pytest.raises(TargetError, match="max_wait_seconds"):
        await trial.wait(60.0)
    assert run.of("m").window.take_now()
    trial.leave()
    assert not run.of("m").window.has_room
