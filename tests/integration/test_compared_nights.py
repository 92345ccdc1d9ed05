"""Nights that were to be compared as they ended: killed before it, gone on with, and pinned."""

import json
import shutil

import pytest
from fakes.ran_commands import regrade

AGENT = """
from pathlib import Path

from harness import TargetError

async def answer(sample):
    bad = Path("bad.txt").read_text("utf-8").split()
    if sample.id in Path("broken.txt").read_text("utf-8").split():
        raise TargetError("connection reset")
    return "no" if sample.id in bad else "ok"
"""
NIGHTS = """
name: nightly
dataset: samples.jsonl
target: {kind: python, agent: "agent.py:answer"}
graders:
  right: {kind: tool, function: contains}
limits: {max_error_rate: 0}
retries: {attempts: 1}
"""


@pytest.fixture
def night(tmp_path):
    """Run nights of one suite in a folder; give the run, the exit code and what was said."""
    rows = [{"id": f"s{n}", "input": "q", "ground_truth": "ok"} for n in range(20)]
    (tmp_path / "agent.py").write_text(AGENT, "utf-8")
    (tmp_path / "suite.yaml").write_text(NIGHTS, "utf-8")
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")

    def run(*words, bad=(), broken=()):
        (tmp_path / "bad.txt").write_text(" ".join(bad), "utf-8")
        (tmp_path / "broken.txt").write_text(" ".join(broken), "utf-8")
        words = words or (".", "--baseline", "latest")
        code, out, err = regrade(tmp_path, "run", *words, "--quiet")
        order = (tmp_path / "runs" / ".order").read_text("utf-8").split()
        return tmp_path / "runs" / order[-1], code, out + err

    return run


def told(run):
    return json.loads((run / "comparison.json").read_bytes())


BAD = tuple(f"s{number}" for number in range(8))


@pytest.mark.parametrize("left", ["nothing", "problems", "a part"])
def test_a_bad_night_that_was_not_compared_is_no_baseline_until_it_is(night, left):
    good, code, _ = night()
    assert (code, told(good)["first_night"]) == (0, True)
    killed, code, _ = night(bad=BAD)
    assert code == 1
    (killed / "comparison.json").unlink()
    if left != "nothing":
        text = '{"exit_code": 3, "problems": ["No space left"]}' if left == "problems" else '{"com'
        (killed / "comparison.json").write_text(text, "utf-8")
    after, code, said = night(bad=BAD)
    assert (code, told(after)["comparisons"][0]["baseline"]["run_id"]) == (1, good.name), said
    _, code, said = night("--resume", killed.name)
    assert code == 1, said
    assert "note: the run is compared as it was to be: --baseline latest\n" in said
    assert told(killed)["comparisons"][0]["baseline"]["run_id"] == good.name


def test_a_first_night_is_the_baseline_of_the_next(night):
    first, *_ = night()
    second, code, _ = night()
    assert (code, told(second)["comparisons"][0]["baseline"]["run_id"]) == (0, first.name)


def test_a_run_that_is_gone_on_with_is_compared_as_it_was_to_be(night):
    good, *_ = night()
    words = ("--margin", "trial=0.1", "--metric", "trial", "--require-baseline")
    outage, code, _ = night(".", "--baseline", f"runs/{good.name}", *words, bad=BAD, broken=["s19"])
    assert code == 3
    for more in ((), ("--margin", "0.2")):
        _, code, said = night("--resume", outage.name, "--retry-errors", *more, bad=BAD)
        assert (code, "REGRESSED" in said) == (1, True), said
        margin = more[1] if more else "trial=0.1"
        shown = f"--metric trial --margin {margin} --require-baseline"
        assert f"as it was to be: --baseline {good} {shown}\n" in said
        (one,) = told(outage)["comparisons"]
        assert one["verdict"]["metrics"][0]["margin"] == (0.2 if more else 0.1)


def test_a_run_that_is_gone_on_with_is_held_against_no_later_one(night):
    good, *_ = night()
    old, code, _ = night(broken=["s19"])
    assert code == 3
    later, code, _ = night()
    assert told(later)["comparisons"][0]["baseline"]["run_id"] == good.name
    _, code, said = night("--resume", old.name, "--retry-errors")
    assert (code, told(old)["comparisons"][0]["baseline"]["run_id"]) == (0, good.name), said
    shutil.rmtree(good)
    _, code, said = night("--resume", old.name)
    assert (code, "before the candidate there is no complete run" in " ".join(said.split())) == (
        0,
        True,
    )


def test_what_is_chosen_of_a_comparison_needs_one_in_a_run_that_is_gone_on_with(night):
    run, *_ = night(".")
    assert night("--resume", run.name)[1] == 0
    assert not (run / "comparison.json").exists()
    _, code, said = night("--resume", run.name, "--margin", "0.1")
    assert (code, "need --baseline" in said) == (2, True)


@pytest.mark.parametrize("words", [["set"], ["export", "--out", "b.zip"]])
def test_a_run_that_regressed_is_pinned_with_a_warning(night, tmp_path, words):
    good, bad = night()[0], night(bad=BAD)[0]
    for run, warning in ((good, ""), (bad, "regressed against its own baseline")):
        code, _, said = regrade(tmp_path, "baseline", words[0], run, *words[1:])
        assert (code, said) == (0, f"warning: this run {warning}\n" if warning else "")
        (tmp_path / "b.zip").unlink(missing_ok=True)
