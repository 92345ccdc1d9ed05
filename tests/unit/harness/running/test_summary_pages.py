"""`summary.md` stands in the run directory however a run ends."""

import pytest
from fakes.stub_graders import Breaks, Says, grader_spec
from fakes.suites import fake_suite

from harness.running import recording
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.summary_pages import explained, write_summary_page
from harness.running.workers import Stop
from harness.types.errors import StoreError, TargetError
from harness.types.suites import GateSpec

GATE = GateSpec(metric="trial", aggregation="pass_rate", op="gte", value=1.0)


def page_of(folder):
    (path,) = folder.glob("*/summary.md")
    return path.read_text("utf-8")


async def run(suite, tmp_path, stop=None):
    return await execute(suite, RunOptions(out=tmp_path), None, stop)


def refuse(context, text):
    raise TargetError("401", code="unauthorized")


@pytest.mark.parametrize(
    ("act", "graders", "title"),
    [
        (lambda a, t: "ok", (grader_spec(Says("ok")),), "PASSED: every gate is met"),
        (lambda a, t: "no", (grader_spec(Says("ok")),), "FAILED: 1 of 1 gate missed"),
        (refuse, (grader_spec(Says("ok")),), "INCOMPLETE, and cannot be judged: 3 of 3 trials"),
        (lambda a, t: "ok", (grader_spec(Breaks()),), "INCOMPLETE, and cannot be judged: "),
    ],
)
async def test_every_end_has_its_page(tmp_path, act, graders, title):
    await run(fake_suite(act, graders=graders, gates=(GATE,)), tmp_path)
    assert page_of(tmp_path).startswith(f"## fake: {title}")


async def test_an_interrupted_run_has_its_page(tmp_path):
    stop = Stop()

    def act(context, text):
        stop.ask("interrupted before the end")
        return "ok"

    await run(fake_suite(act, samples=9, gates=(GATE,)), tmp_path, stop)
    assert "INCOMPLETE, and cannot be judged: " in page_of(tmp_path)
    assert "interrupted before the end" in page_of(tmp_path)


async def test_a_mistake_of_ours_is_told_on_the_page_and_raised(tmp_path, monkeypatch):
    def break_down(*_):
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(recording.FirstFailures, "add", break_down)
    with pytest.raises(ZeroDivisionError):
        await run(fake_suite(lambda a, t: "ok"), tmp_path)
    assert "Regrade itself failed: " in page_of(tmp_path)


async def test_the_page_is_the_explanation_of_the_stored_run(tmp_path):
    result = await run(fake_suite(lambda a, t: "no"), tmp_path)
    summary, explanation = explained(result.folder)
    before = page_of(tmp_path)
    assert write_summary_page(result.folder, summary) == explanation
    assert page_of(tmp_path) == before


async def test_a_page_that_cannot_be_written_is_told_of(tmp_path):
    result = await run(fake_suite(lambda a, t: "ok"), tmp_path)
    (result.folder / "summary.md").unlink()
    (result.folder / "summary.md").mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        write_summary_page(result.folder, result.summary)
