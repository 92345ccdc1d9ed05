"""Laws of runs that are gone on with."""

import asyncio
import tempfile

import msgspec
from fakes.agents import FakeTarget
from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness.storing.log_pieces import pieces_of
from harness.storing.trial_log import encode_line, read_trials
from harness.types.errors import TargetError
from harness.types.suites import Retries

ANSWERS = st.lists(st.sampled_from(["ok", "no", "", "down", "crash"]), min_size=1, max_size=5)
CUT = st.floats(0, 1)


class Agent(FakeTarget):
    """Answers each sample as the list says."""

    def __init__(self, answers):
        super().__init__(lambda context, text: say(answers[int(context.sample.id[1:])]))


def say(answer):
    if answer in ("down", "crash"):
        raise TargetError(answer, code={"down": "bad_request", "crash": "agent_crash"}[answer])
    return answer


def suite_of(answers):
    graders = (grader_spec(Says("ok"), "a"), grader_spec(Breaks(), "b", role="observed"))
    return fake_suite(
        Agent(answers),
        samples=len(answers),
        graders=graders,
        models=("x", "y"),
        epochs=2,
        retries=Retries(attempts=1),
    )


def facts(run):
    """Give what of its trials and numbers does not depend on the clock."""
    trials = sorted(map(timeless, run.trials()))
    summary = msgspec.to_builtins(run.summary)
    for model in summary["models"].values():
        del model["seconds"], model["per_trial"]["seconds"]
    return trials, summary


def timeless(trial):
    grades = sorted((name, grade.score or 0.0, grade.key) for name, grade in trial.grades.items())
    said = [event.text for event in trial.trajectory.events()]
    return (
        trial.sample_id,
        trial.model,
        trial.epoch,
        trial.status,
        trial.score or 0.0,
        grades,
        said,
    )


def cut(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    return path.read_bytes()


@settings(max_examples=40, deadline=None)
@given(ANSWERS, CUT, CUT, st.booleans())
def test_a_run_cut_off_at_any_byte_and_gone_on_with_is_the_run_that_was_not(
    answers, log_share, outcome_share, summed_up
):
    with tempfile.TemporaryDirectory() as place:
        suite = suite_of(answers)
        whole = asyncio.run(harness.run_async(suite, out=place))
        expected = facts(whole)
        kept = cut(whole.folder / "trials.jsonl", log_share)
        cut(whole.folder / "outcomes.jsonl", outcome_share)
        if not summed_up:
            (whole.folder / "summary.json").unlink()
        agent = suite.target.target
        agent.opened.clear()
        again = asyncio.run(harness.run_async(suite, out=place, resume="latest"))
        assert facts(again) == expected
        # One line may be whole but for its end.
        assert len(agent.opened) in {4 * len(answers) - kept.count(b"\n") - n for n in (0, 1)}
        agent.opened.clear()
        asyncio.run(harness.run_async(suite, out=place, resume=again))
        assert agent.opened == []


@settings(max_examples=40, deadline=None)
@given(ANSWERS, st.lists(st.tuples(CUT, st.binary(max_size=3)), min_size=1, max_size=4))
def test_a_damaged_run_that_is_salvaged_and_gone_on_with_is_the_run_that_was_not(answers, damages):
    with tempfile.TemporaryDirectory() as place:
        suite = suite_of(answers)
        whole = asyncio.run(harness.run_async(suite, out=place))
        expected = facts(whole)
        log = whole.folder / "trials.jsonl"
        data = bytearray(log.read_bytes())
        for share, noise in damages:
            at = int(len(data) * share)
            # Noise of no JSON: what is changed inside a text cannot be told from what was said.
            data[at : at + 1] = b"\x00" + noise
        log.write_bytes(data)
        (whole.folder / "summary.json").unlink()
        again = asyncio.run(harness.run_async(suite, out=place, resume="latest", salvage=True))
        assert facts(again) == expected
        list(read_trials(again.folder))


@given(st.binary(max_size=300), st.sampled_from([b"", b"\n"]))
def test_cutting_a_line_into_pieces_loses_nothing(noise, end):
    line = noise.replace(b"\n", b" ") + STORED + end
    found = list(pieces_of(line))
    assert b"".join(b"".join(piece.text.split()) for piece in found) == b"".join(line.split())
    assert [piece.trial.sample_id for piece in found if piece.trial] == ["s"]


STORED = encode_line(
    msgspec.convert(
        {
            "sample_id": "s", "model": "m", "epoch": 0, "status": "completed", "passed": True,
            "score": 1.0, "grades": {}, "trajectory": {"turns": []}, "attempts": [],
            "usage": {}, "timing": {"started_at": "2031-02-03T04:05:06Z"}, "error": None,
            "keys": {"drive": "", "sample": ""},
        },
        harness.Trial,
    )
).strip()  # fmt: skip
