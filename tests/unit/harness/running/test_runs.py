"""A run from its plan to its summary, with agents of our own protocol."""

import asyncio
import json
import os
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fakes.agents import FakeTarget
from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite

from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.workers import Stop
from harness.storing.trial_log import read_trials
from harness.types.errors import InputError, TargetError
from harness.types.grades import Grade, Ref
from harness.types.progress import SilentObserver
from harness.types.samples import Sample
from harness.types.suites import Limits, Retries
from harness.types.trajectories import Step, Usage


async def run(suite, tmp_path, *, stop=None, **options):
    return await execute(suite, RunOptions(out=tmp_path, **options), None, stop)


def trials_of(result):
    return sorted(read_trials(result.folder), key=lambda t: (t.sample_id, t.model, t.epoch))


async def test_every_sample_is_driven_once_on_every_model_in_every_epoch(tmp_path):
    suite = fake_suite(lambda a, text: "ok", models=("a", "b"), epochs=2)
    result = await run(suite, tmp_path)
    made = Counter((t.sample_id, t.model, t.epoch) for t in read_trials(result.folder))
    assert made == {(f"s{n}", m, e): 1 for n in range(3) for m in "ab" for e in range(2)}
    assert (result.summary.complete, result.summary.passed) == (True, True)
    assert result.summary.planned == 12


async def test_the_run_directory_holds_all_files_and_the_summary_is_what_was_returned(tmp_path):
    result = await run(fake_suite(lambda a, text: "ok"), tmp_path)
    names = {path.name for path in result.folder.iterdir()}
    files = {"manifest.json", "trials.jsonl", "outcomes.jsonl", "summary.json", "summary.md"}
    assert names == {*files, ".lock"}
    stored = json.loads((result.folder / "summary.json").read_text("utf-8"))
    assert stored["models"]["m"]["pass_rate"]["value"] == 1.0
    manifest = json.loads((result.folder / "manifest.json").read_text("utf-8"))
    assert (manifest["models"], manifest["epochs"], manifest["samples"]) == (["m"], 1, 3)


async def test_a_trial_records_what_happened_and_what_it_cost(tmp_path):
    result = await run(fake_suite(lambda a, text: "ok: " + text, samples=1), tmp_path)
    (trial,) = trials_of(result)
    kinds = [type(event).__name__ for event in trial.trajectory.events()]
    assert kinds == ["UserMessage", "AssistantMessage"]
    assert trial.usage.output_tokens == len("ok: question 0")
    assert (trial.status, trial.passed, trial.score, trial.error) == ("completed", True, 1.0, None)
    assert trial.timing.target_seconds > 0
    assert trial.keys.drive == "f"


async def test_a_sample_of_several_turns_takes_them_one_by_one_with_one_agent(tmp_path):
    samples = (Sample(id="s", input=("one", "two")),)
    target = FakeTarget(lambda a, text: f"ok {text}")
    result = await run(fake_suite(target, samples=samples), tmp_path)
    (trial,) = trials_of(result)
    assert [turn.events[0].text for turn in trial.trajectory.turns] == ["one", "two"]
    assert len(target.opened) == len(target.closed) == 1


async def test_an_outage_is_tried_again_from_a_clean_agent_and_billed_with_it(tmp_path):
    def act(context, text):
        if context.attempt == 0:
            raise TargetError("reset", code="connection_lost")
        return "ok"

    target = FakeTarget(act)
    result = await run(fake_suite(target, samples=1), tmp_path)
    (trial,) = trials_of(result)
    assert trial.status == "completed"
    assert [a.error.code if a.error else None for a in trial.attempts] == ["connection_lost", None]
    assert len(target.opened) == len(target.closed) == 2


async def test_an_outage_that_lasts_ends_the_trial_after_the_attempts_allowed(tmp_path):
    def act(context, text):
        raise TargetError("gone", code="server_error")

    suite = fake_suite(act, samples=1, retries=Retries(attempts=2))
    result = await run(suite, tmp_path)
    (trial,) = trials_of(result)
    assert (trial.status, trial.passed, trial.score) == ("target_error", None, None)
    assert (len(trial.attempts), trial.error.code) == (2, "server_error")
    assert not result.summary.complete


@pytest.mark.parametrize("code", ["unauthorized", "bad_request", "agent_crash", "max_steps"])
async def test_what_trying_again_cannot_cure_is_tried_once(tmp_path, code):
    def act(context, text):
        raise TargetError("no", code=code)

    result = await run(fake_suite(act, samples=1), tmp_path)
    assert len(trials_of(result)[0].attempts) == 1


async def test_a_wait_longer_than_allowed_is_not_waited_for(tmp_path):
    def act(context, text):
        raise TargetError("tomorrow", code="rate_limited", retry_after=86400)

    result = await run(fake_suite(act, samples=1), tmp_path)
    assert len(trials_of(result)[0].attempts) == 1


async def test_the_agent_that_is_too_slow_fails_and_its_partial_answer_is_kept(tmp_path):
    async def act(context, text):
        if text == "two":
            await asyncio.sleep(30)
        return "ok"

    samples = (Sample(id="s", input=("one", "two")), Sample(id="t", input="one"))
    suite = fake_suite(act, samples=samples, limits=Limits(turn_seconds=0.1))
    slow, good = trials_of(await run(suite, tmp_path))
    assert (slow.status, slow.passed, slow.score) == ("agent_failure", False, 0.0)
    assert slow.error.code == "turn_timeout"
    assert slow.grades["g"].passed
    assert len(slow.trajectory.turns) == 2
    assert good.passed


async def test_one_broken_trial_touches_no_other(tmp_path):
    def act(context, text):
        if context.sample.id == "s1":
            raise KeyError("plug-in bug")
        return "ok"

    trials = trials_of(await run(fake_suite(act), tmp_path))
    assert [t.status for t in trials] == ["completed", "target_error", "completed"]
    assert trials[1].error.code == "target_broke"
    assert "KeyError" in trials[1].error.message


async def test_a_broken_grader_is_no_zero_and_hides_no_other_grade(tmp_path):
    graders = (grader_spec(Breaks(), "broken"), grader_spec(Says("ok"), "said"))
    suite = fake_suite(lambda a, text: "ok", samples=1, graders=graders)
    result = await run(suite, tmp_path)
    (trial,) = trials_of(result)
    assert (trial.status, trial.passed, trial.score) == ("grading_error", None, None)
    assert (trial.grades["broken"].status, trial.grades["broken"].score) == ("error", None)
    assert trial.grades["said"].passed
    assert not result.summary.complete
    assert "broken on purpose" in trial.error.message


async def test_a_broken_observer_decides_nothing_but_is_told(tmp_path):
    graders = (grader_spec(Breaks(), "broken", role="observed"), grader_spec(Says("ok"), "said"))
    suite = fake_suite(lambda a, text: "ok", samples=1, graders=graders)
    result = await run(suite, tmp_path)
    assert trials_of(result)[0].passed
    assert result.summary.passed
    assert "broken" in " ".join(result.summary.warnings)


async def test_no_more_than_so_many_trials_run_at_once(tmp_path):
    now, most = 0, 0

    async def act(context, text):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return "ok"

    suite = fake_suite(act, samples=20, limits=Limits(concurrency=4))
    await run(suite, tmp_path)
    assert most == 4


async def test_a_run_that_is_asked_to_stop_keeps_what_is_done_and_says_so(tmp_path):
    stop = Stop()

    async def act(context, text):
        if context.sample.id == "s2":
            stop.ask("interrupted")
            await asyncio.sleep(30)
        return "ok"

    target = FakeTarget(act)
    suite = fake_suite(target, samples=9, limits=Limits(concurrency=1))
    result = await run(suite, tmp_path, stop=stop)
    assert result.interrupted
    done, cut_off = trials_of(result)[:2], trials_of(result)[2:]
    assert [trial.status for trial in done] == ["completed"] * 2
    assert {trial.status for trial in cut_off} == {"interrupted"}
    assert not result.summary.complete
    assert "interrupted" in result.summary.reasons
    assert len(target.closed) == 3


async def test_a_run_that_has_ended_is_not_interrupted_by_what_is_asked_later(tmp_path):
    stop = Stop()

    class Leaving(FakeTarget):
        @asynccontextmanager
        async def connect(self, context):
            yield self
            stop.ask("interrupted")

    result = await run(fake_suite(Leaving(lambda a, text: "ok"), samples=2), tmp_path, stop=stop)
    assert not result.interrupted
    assert result.summary.complete


async def test_agents_that_never_wait_let_a_stop_through(tmp_path):
    stop = Stop()

    class Impatient(SilentObserver):
        def moved(self, progress, /):
            if progress.done == 1:
                asyncio.get_running_loop().call_later(0.05, stop.ask, "enough")

    samples = tuple(Sample(id=str(n), input="q") for n in range(200_000))
    suite = fake_suite(lambda a, text: "ok", samples=samples)
    result = await execute(suite, RunOptions(out=tmp_path), Impatient(), stop)
    assert result.interrupted
    assert 0 < len(list(read_trials(result.folder))) < 200_000


async def test_a_suite_without_a_target_cannot_be_run_and_stores_nothing(tmp_path):
    suite = replace(fake_suite(lambda a, text: "ok"), target=None)
    with pytest.raises(InputError, match="no target"):
        await run(suite, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


async def test_scripted_models_without_a_script_are_refused(tmp_path):
    suite = fake_suite(lambda a, text: "ok", models=("scripted/x",))
    with pytest.raises(InputError, match="script"):
        await run(suite, tmp_path)


async def test_the_first_failures_are_those_of_the_plan_not_of_the_clock(tmp_path):
    async def act(context, text):
        await asyncio.sleep(0.01 if context.sample.id in ("s0", "s1") else 0)
        return "no"

    suite = fake_suite(act, samples=30)
    result = await run(suite, tmp_path)
    failed = [failure.sample_id for failure in result.summary.first_failures]
    assert failed == [f"s{n}" for n in range(10)]
    assert result.summary.first_failures[0].evidence == "said ['no']"


async def test_an_agent_that_swallows_its_cancellation_is_the_last_one_driven(tmp_path):
    stop = Stop()

    async def act(assignment, text):
        stop.ask("interrupted")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return "ok"

    target = FakeTarget(act)
    suite = fake_suite(target, samples=9, limits=Limits(concurrency=1))
    result = await run(suite, tmp_path, stop=stop)
    assert len(target.opened) == 1
    (cut_off,) = trials_of(result)
    assert (cut_off.status, cut_off.grades) == ("interrupted", {})


async def test_a_stop_is_not_answered_by_another_attempt(tmp_path):
    stop = Stop()

    async def act(assignment, text):
        stop.ask("interrupted")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            raise TargetError("reset", code="connection_lost") from None

    target = FakeTarget(act)
    await run(fake_suite(target, samples=1), tmp_path, stop=stop)
    assert len(target.opened) == 1


async def test_the_hint_of_an_error_reaches_the_user(tmp_path):
    def act(assignment, text):
        raise TargetError("no key", code="unauthorized", hint="set OPENAI_API_KEY")

    (trial,) = trials_of(await run(fake_suite(act, samples=1), tmp_path))
    assert trial.error.message == "no key; set OPENAI_API_KEY"


async def test_an_observing_grader_is_not_named_as_the_reason_of_a_failure(tmp_path):
    graders = (grader_spec(Says("x"), "watched", role="observed"), grader_spec(Says("y"), "asked"))
    suite = fake_suite(lambda a, text: "no", samples=1, graders=graders)
    result = await run(suite, tmp_path)
    assert result.summary.first_failures[0].grader == "asked"


async def test_a_run_that_cannot_be_connected_stores_nothing(tmp_path):
    class Unreachable(FakeTarget):
        def connect(self, run_context):
            raise TargetError("no such host", code="connection_lost")

    suite = fake_suite(Unreachable(lambda a, t: "ok"))
    with pytest.raises(TargetError, match="no such host"):
        await run(suite, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


async def test_what_a_target_warns_of_as_it_closes_is_in_the_summary(tmp_path):
    class Leaves(FakeTarget):
        @asynccontextmanager
        async def connect(self, run_context):
            yield self
            run_context.warn("two agents are left")

    result = await run(fake_suite(Leaves(lambda a, t: "ok"), samples=1), tmp_path)
    assert result.summary.warnings == ("two agents are left",)
    stored = json.loads((result.folder / "summary.json").read_text("utf-8"))
    assert stored["warnings"] == ["two agents are left"]


async def test_a_target_that_cannot_be_closed_is_a_warning_and_the_trials_stand(tmp_path):
    class Sticks(FakeTarget):
        @asynccontextmanager
        async def connect(self, run_context):
            yield self
            raise TargetError("the server is gone", code="connection_lost")

    result = await run(fake_suite(Sticks(lambda a, t: "ok"), samples=1), tmp_path)
    assert (result.summary.passed, result.summary.warnings) == (True, ("the server is gone",))


async def test_the_command_line_is_stored_without_secrets(tmp_path):
    command = ("regrade", "run", "--model", "sk-verysecret99")
    result = await run(fake_suite(lambda a, t: "ok"), tmp_path, command=command)
    text = (result.folder / "manifest.json").read_text("utf-8")
    assert "verysecret" not in text
    assert '"--model"' in text


async def test_keys_that_a_suite_holds_in_clear_are_stored_nowhere(tmp_path):
    class Warns(FakeTarget):
        def connect(self, run_context):
            run_context.warn("the key canary-9f3a is old")
            return super().connect(run_context)

    text = "target:\n  api_key:\n    canary-9f3a\n"
    suite = fake_suite(Warns(lambda a, t: "ok"), text=text, secrets=("canary-9f3a",))
    result = await run(suite, tmp_path, command=("regrade", "canary-9f3a"))
    assert result.summary.warnings
    for path in result.folder.iterdir():
        assert b"canary" not in path.read_bytes()


async def test_a_suites_own_selection_is_taken_and_stored(tmp_path):
    result = await run(fake_suite(lambda a, t: "ok", max_samples=2), tmp_path)
    assert len(trials_of(result)) == 2
    manifest = json.loads((result.folder / "manifest.json").read_text("utf-8"))
    assert (manifest["samples"], manifest["selection"]["limit"]) == (2, 2)


async def test_waiting_for_a_dead_endpoint_is_bounded_for_the_trial_as_a_whole(tmp_path):
    waits = []

    async def act(context, text):
        while True:
            waits.append(context.attempt)
            await context.wait(0.02)

    suite = fake_suite(act, samples=1, retries=Retries(attempts=3, max_wait_seconds=0.1))
    (trial,) = trials_of(await run(suite, tmp_path))
    assert (trial.status, len(trial.attempts)) == ("target_error", 1)
    assert len(waits) == 6
    assert trial.timing.waiting_seconds >= 0.1
    assert trial.timing.target_seconds < 0.1


async def test_whoever_watches_hears_how_many_trials_wait(tmp_path):
    heard = []

    class Watcher(SilentObserver):
        def moved(self, progress, /):
            heard.append((progress.waiting, progress.done))

    async def act(context, text):
        await context.wait(0.01)
        return "ok"

    suite = fake_suite(act, samples=1)
    await execute(suite, RunOptions(out=tmp_path), Watcher())
    assert heard == [(1, 0), (0, 0), (0, 1)]


@pytest.mark.parametrize(
    "choices", [{"epochs": 0}, {"concurrency": 0}, {"models": ("a", "a")}, {"models": ("",)}]
)
def test_choices_that_no_run_can_follow_are_refused(choices):
    with pytest.raises(InputError):
        RunOptions(**choices)


class OddError(BaseException):
    """What no library catches."""


@pytest.mark.parametrize(
    "error", [OddError("odd"), KeyboardInterrupt(), SystemExit(0), asyncio.CancelledError()]
)
async def test_whatever_a_target_raises_is_the_fault_of_one_trial(tmp_path, error):
    def act(context, text):
        if context.sample.id == "s1":
            raise error
        return "ok"

    trials = trials_of(await run(fake_suite(act), tmp_path))
    assert [t.status for t in trials] == ["completed", "target_error", "completed"]
    assert type(error).__name__ in trials[1].error.message


async def test_a_change_of_the_current_directory_does_not_lose_the_summary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def act(context, text):
        os.chdir(elsewhere)
        return "ok"

    result = await execute(fake_suite(act), RunOptions(out=Path("runs")))
    assert result.summary.passed
    assert (tmp_path / result.folder / "summary.json").is_file()


async def test_absurd_costs_break_no_sum(tmp_path):
    class Dear(FakeTarget):
        async def open(self, context):
            session = await super().open(context)
            send = session.send

            async def dear(text, record):
                await send(text, record)
                record(Step(usage=Usage(cost_usd=1e308)))

            session.send = dear
            return session

    result = await run(fake_suite(Dear(lambda a, t: "ok")), tmp_path)
    assert result.summary.passed


async def test_forged_places_and_turns_in_a_grade_break_no_report(tmp_path):
    @dataclass(frozen=True)
    class Forged(Says):
        def grade(self, subject):
            turns = [{"turn": -7, "passed": False, "evidence": "e", "submission": None}]
            refs = (Ref(turn=99, event=99, start=0, end=5), Ref(turn=-1, event=-1, start=1, end=2))
            return Grade(score=0.0, refs=refs, details={"turns": turns if self.text else 5})

    graders = (grader_spec(Forged("x")),)
    result = await run(fake_suite(lambda a, t: "ok", graders=graders), tmp_path)
    assert len(result.summary.first_failures) == 3


async def test_secrets_of_the_environment_stand_in_no_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "canary-9f3a")

    class Closes(FakeTarget):
        async def open(self, context):
            session = await super().open(context)

            async def close():
                raise ValueError("bad token canary-9f3a")

            session.close = close
            return session

    result = await run(fake_suite(Closes(lambda a, t: "ok")), tmp_path)
    assert result.summary.warnings
    for path in result.folder.iterdir():
        assert b"canary" not in path.read_bytes()
