"""The Python API."""

import asyncio

import msgspec
import pytest
from fakes.ran_commands import regrade
from fakes.record_files import chat, write_lines
from fakes.stub_graders import Says, grader_spec
from fakes.suites import fake_suite

import harness
from harness.types.errors import InputError


def make(**more):
    return fake_suite(lambda context, text: f"ok {text}", **more)


def test_a_run_gives_its_numbers_and_its_trials(tmp_path):
    run = harness.run(make(), out=tmp_path)
    assert run.passed
    assert run.summary.models["m"].passed == 3
    assert sorted(trial.sample_id for trial in run.trials()) == ["s0", "s1", "s2"]
    assert run.manifest.samples == 3


async def test_the_plain_form_works_inside_a_running_loop(tmp_path):
    assert harness.run(make(), out=tmp_path).passed


async def test_the_async_form_works_beside_other_work(tmp_path):
    one, other = await asyncio.gather(
        harness.run_async(make(), out=tmp_path), harness.run_async(make(), out=tmp_path)
    )
    assert one.passed
    assert other.passed
    assert one.folder != other.folder


def test_a_run_is_chosen_from_and_loaded_again(tmp_path):
    run = harness.run(make(), samples=["s1"], epochs=2, models=["x"], out=tmp_path)
    again = harness.load_run(run.folder)
    assert again.summary == run.summary
    assert [(t.sample_id, t.model) for t in again.trials()] == [("s1", "x")] * 2
    assert harness.load_run("latest", out=tmp_path).folder == run.folder


def test_a_run_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no run"):
        harness.load_run("nothing", out=tmp_path)
    with pytest.raises(InputError, match="no run"):
        harness.run(make(), resume="nothing", out=tmp_path)
    with pytest.raises(InputError, match="no run"):
        harness.grade("nothing", make(), out=tmp_path)
    with pytest.raises(InputError, match="no run"):
        harness.compare("nothing", "nothing", out=tmp_path)


@pytest.mark.parametrize("name", ["", "::m"])
def test_a_run_without_a_name_is_an_error(tmp_path, name):
    with pytest.raises(InputError, match=r"^RUN: no run: its name is empty"):
        harness.compare(name, name, out=tmp_path)


def test_a_run_is_graded_again_with_another_suite(tmp_path):
    run = harness.run(make(), out=tmp_path)
    stricter = make(graders=(grader_spec(Says("question 1")),))
    again = harness.grade(run, stricter, out=tmp_path)
    assert again.summary.models["m"].passed == 1
    assert again.manifest.graded_from == run.folder.name


def test_trajectories_recorded_elsewhere_are_graded(tmp_path):
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "ok"}]
    trajectory = harness.Trajectory.from_messages(messages)
    silent = harness.Trajectory.from_messages(messages[:1])
    run = harness.grade({"s0": trajectory, "s1": silent}, make(), out=tmp_path)
    passed = {trial.sample_id: trial.passed for trial in run.trials()}
    assert passed == {"s0": True, "s1": False}


def test_records_of_another_tool_are_graded(tmp_path):
    lines = [chat("question 0", says="ok", case="s0"), chat("question 1", says="no")]
    path = write_lines(tmp_path / "records.jsonl", lines)
    run = harness.grade(path, make(), out=tmp_path, format="openai-chat")
    assert {trial.sample_id: trial.passed for trial in run.trials()} == {"s0": True, "s1": False}
    assert run.manifest.graded_from.format == "openai-chat"
    with pytest.raises(harness.InputError, match='it has no field "case"'):
        harness.grade(path, make(), out=tmp_path, fields="sample=case")


def test_a_trajectory_without_its_sample_is_not_lost_quietly(tmp_path):
    trajectory = harness.Trajectory.from_messages([{"role": "user", "content": "q"}])
    run = harness.grade({"s0": trajectory, "nobody": trajectory}, make(), out=tmp_path)
    assert not run.summary.complete
    assert "nobody" in " ".join(run.summary.warnings)


def test_an_error_in_a_running_loop_reaches_the_caller(tmp_path):
    async def call():
        harness.run(make(), samples=["none such"], out=tmp_path)

    with pytest.raises(harness.InputError):
        asyncio.run(call())


def test_every_public_name_is_there():
    for name in harness.__all__:
        assert getattr(harness, name)
    with pytest.raises(AttributeError, match="nothing"):
        harness.nothing  # noqa: B018


def test_a_replay_of_a_replay_is_of_the_models_that_were_run(tmp_path):
    run = harness.run(make(models=("one", "two")), models=["two"], out=tmp_path)
    once = harness.grade(run, make(models=("one", "two")), out=tmp_path)
    twice = harness.grade(once, make(models=("one", "two")), out=tmp_path)
    assert list(twice.summary.models) == ["two"]
    assert twice.passed


def test_the_latest_of_two_runs_in_one_second_is_the_later(tmp_path):
    for _ in range(5):
        run = harness.run(make(), out=tmp_path)
        assert harness.load_run("latest", out=tmp_path).folder == run.folder


def test_one_name_is_one_model_not_its_letters(tmp_path):
    run = harness.run(make(), models="before", samples="s1", out=tmp_path)
    assert list(run.summary.models) == ["before"]


def test_messages_are_graded_as_they_are(tmp_path):
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "ok"}]
    assert harness.grade({"s0": messages}, make(), out=tmp_path).passed


def test_graders_of_single_samples_have_their_numbers(tmp_path):
    own = grader_spec(Says("question 1"), "own")
    samples = tuple(
        harness.Sample(id=f"s{n}", input=f"question {n}", graders=(own,) if n < 2 else ())
        for n in range(3)
    )
    run = harness.run(make(samples=samples), out=tmp_path)
    numbers = run.summary.models["m"].graders["own"]
    assert (numbers.passed, numbers.failed, numbers.graded) == (1, 1, 2)


def test_a_run_is_gone_on_with(tmp_path):
    suite = fake_suite(lambda context, text: "ok")
    run = harness.run(suite, out=tmp_path, samples="s1")
    assert harness.run(suite, out=tmp_path, resume=run).summary.planned == 1
    wider = harness.run(suite, out=tmp_path, resume="latest", samples=["s0", "s1"])
    assert (wider.folder, wider.summary.planned, wider.passed) == (run.folder, 2, True)
    assert len(list(wider.trials())) == 2


def falling():
    return fake_suite(lambda context, text: "no", samples=8)


@pytest.fixture
def two(tmp_path):
    """Give a run that passes, and one that does not any more."""
    out = tmp_path / "runs"
    return harness.run(make(samples=8), out=out), harness.run(falling(), out=out)


def test_runs_are_compared_as_the_command_compares_them(two, tmp_path):
    before, after = two
    found = harness.compare(before, after, out=tmp_path / "runs")
    words = (before.folder.name, "latest", "--json", "c.json", "--markdown", "-")
    code, _, _ = regrade(tmp_path, "compare", *words)
    told = msgspec.json.decode((tmp_path / "c.json").read_bytes(), type=harness.Comparisons)
    (one,), (other,) = found.comparisons, told.comparisons
    assert (found.exit_code, one.verdict.verdict) == (code, "regressed") == (1, "regressed")
    assert msgspec.structs.replace(one, baseline=other.baseline) == other
    assert [pair.sample_id for pair in one.regressed] == [f"s{n}" for n in range(8)]


def test_what_the_command_chooses_by_options_a_comparison_chooses_by_keywords(two, tmp_path):
    before, out = two[0], tmp_path / "runs"
    same = f"{before.folder}::m"
    found = harness.compare(same, same, metrics="g", margin={"g": 0.4}, strict=True, out=out)
    (one,) = found.comparisons
    assert [(m.metric, m.margin) for m in one.verdict.metrics if m.gating] == [("g", 0.4)]
    assert harness.compare(same, same, population=True).comparisons[0].verdict.question == (
        "population"
    )
    first = harness.compare("pinned", before, require_baseline=True, out=out)
    assert (first.first_night, first.exit_code, first.comparisons) == (True, 3, ())


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"margin": 0.0}, r"^margin: found 0\.0;"),
        ({"margin": 5}, "^margin: found 5;"),
        ({"margin": "0.05"}, r"^margin: found '0\.05';"),
        ({"margin": True}, "^margin: found True;"),
        ({"margin": {"g": -1}}, r"^margin\['g'\]: found -1;"),
        ({"margin": {"nothing": 1}}, "^margin: no metric 'nothing'"),
        ({"metrics": "nothing"}, "^metrics: no metric 'nothing'"),
    ],
)
def test_what_cannot_be_chosen_is_a_mistake(two, chosen, problem):
    with pytest.raises(InputError, match=problem):
        harness.compare(*two, **chosen)


async def test_runs_are_compared_inside_a_running_loop_and_beside_other_work(two):
    one = harness.compare(*two)
    other = await harness.compare_async(*two)
    assert (one.exit_code, other.exit_code) == (1, 1)
