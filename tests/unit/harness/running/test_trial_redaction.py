"""Secrets, and what the suite's own function takes out, before a trial is stored."""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite

from harness.running.recorded_trials import recorded_run
from harness.running.replays import replay
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.stored_summaries import summary_of
from harness.storing.trial_log import read_trials
from harness.types.code import CodeFile, CodeRef
from harness.types.samples import Sample
from harness.types.suites import Limits

NAME = "Ada Example"


def _redact(function):
    file = CodeFile(
        text="hiding.py", path=Path(__file__), module=sys.modules[__name__], sha256="sha256:0"
    )
    return CodeRef(text="hiding.py:hide", file=file, name="hide", value=function)


def _suite(function, **more):
    said = fake_suite(lambda a, text: f"I am {NAME}", graders=(grader_spec(Says("nothing")),))
    samples = (Sample(id="s0", input=f"Who is {NAME}?", ground_truth=f"not {NAME}"),)
    return fake_suite(
        said.target.target.act,
        graders=said.graders,
        samples=samples,
        redact=_redact(function),
        **more,
    )


async def _run(suite, tmp_path):
    return await execute(suite, RunOptions(out=tmp_path))


def _texts(folder):
    return "".join(path.read_text("utf-8") for path in folder.iterdir())


def _hide(value):
    if isinstance(value, str):
        return value.replace(NAME, "[person]")
    if isinstance(value, list):
        return [_hide(item) for item in value]
    return {key: _hide(item) for key, item in value.items()} if isinstance(value, dict) else value


def _hide_in_place(trial):
    trial.update(_hide(trial))


@pytest.mark.parametrize("function", [_hide, _hide_in_place])
async def test_a_trial_is_stored_and_counted_as_the_function_leaves_it(tmp_path, function):
    result = await _run(_suite(function), tmp_path)
    assert result.summary.complete
    assert NAME not in _texts(result.folder)
    assert "[person]" in _texts(result.folder)
    (failed,) = result.summary.first_failures
    assert failed.said == "I am [person]"
    assert summary_of(result.folder) == result.summary


async def test_what_is_graded_again_is_redacted_again(tmp_path):
    first = await _run(_suite(lambda trial: None), tmp_path / "a")
    assert NAME in _texts(first.folder)
    recorded = recorded_run(first.folder)
    again = await replay(_suite(_hide), recorded, RunOptions(out=tmp_path / "b"))
    assert again.summary.complete
    assert NAME not in _texts(again.folder)


def _raise(trial):
    raise KeyError(trial["trajectory"])


def _leave(_trial):
    raise SystemExit(0)


def _hang(_trial):
    time.sleep(30)


def _rename(trial):
    trial["sample_id"] = "other"


def _pass(trial):
    trial["passed"] = True


def _break(trial):
    del trial["attempts"]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_raise, "raised KeyError in line "),
        (_leave, "raised SystemExit"),
        (_hang, "took longer than 0.2 s"),
        (_rename, "changed `sample_id`"),
        (_pass, "changed `passed`"),
        (_break, "did not return a trial"),
        (lambda trial: 7, "did not return a trial"),
        (lambda trial: {}, "did not return a trial"),
        (lambda trial: {**trial, "score": float("nan")}, "did not return a trial"),
        (lambda trial: {**trial, "score": object()}, "did not return a trial"),
        (lambda trial: {**trial, "status": NAME}, "did not return a trial"),
    ],
)
async def test_a_function_that_fails_ends_the_run_and_nothing_is_written_in_clear(
    tmp_path, function, said
):
    result = await _run(_suite(function, limits=Limits(grader_seconds=0.2)), tmp_path)
    assert not result.summary.complete
    (reason, *_) = result.summary.reasons
    assert reason.startswith(f"hiding.py:hide: `redact` {said}")
    assert NAME not in _texts(result.folder)
    assert not list(read_trials(result.folder))


async def test_no_further_trial_is_stored_after_the_function_has_failed_once(tmp_path):
    calls = []

    def fail_once(trial):
        calls.append(trial["sample_id"])
        if len(calls) == 2:
            raise ValueError

    suite = fake_suite(lambda a, text: "ok", samples=30, redact=_redact(fail_once))
    result = await _run(suite, tmp_path)
    assert len(list(read_trials(result.folder))) == 1
    assert len(calls) == 2


async def test_secrets_are_hidden_before_graders_see_them(tmp_path):
    seen = []

    class Watches(Says):
        def grade(self, subject, /):
            seen.append(subject)
            return super().grade(subject)

    key = "canary-9f3a"
    suite = fake_suite(
        lambda a, text: f"it is {key}",
        samples=(Sample(id="s0", input=f"is it {key}?", ground_truth=key),),
        graders=(grader_spec(Watches("nothing")), grader_spec(Breaks(), name="b")),
        secrets=(key,),
    )
    result = await _run(suite, tmp_path)
    (subject,) = seen
    assert [event.text for event in subject.trajectory.events()] == [
        "is it [redacted]?",
        "it is [redacted]",
    ]
    assert key not in _texts(result.folder)


async def test_secrets_of_stored_runs_are_hidden_where_they_are_known_now(tmp_path):
    act = SimpleNamespace(key="canary-9f3a")
    suite = fake_suite(lambda a, text: f"it is {act.key}", samples=1)
    first = await _run(suite, tmp_path / "a")
    assert act.key in _texts(first.folder)
    hiding = fake_suite(lambda a, text: "", samples=1, secrets=(act.key,))
    again = await replay(hiding, recorded_run(first.folder), RunOptions(out=tmp_path / "b"))
    assert act.key not in _texts(again.folder)
    assert json.loads((again.folder / "summary.json").read_text("utf-8"))["complete"]


async def test_a_secret_among_the_values_that_are_sliced_by_is_not_stored(tmp_path):
    sample = Sample(id="s0", input="x", metadata={"customer": "hunter-2-hunter", "kind": "a"})
    secrets = {"secrets": ("hunter-2-hunter",), "slices": ("customer", "kind")}
    suite = fake_suite(lambda _agent, _text: "ok", samples=(sample,), **secrets)
    result = await _run(suite, tmp_path)
    assert "hunter-2-hunter" not in _texts(result.folder)
    found = result.summary.models["m"].slices
    assert {name: list(values) for name, values in found.items()} == {
        "customer": ["[redacted]"],
        "kind": ["a"],
    }
