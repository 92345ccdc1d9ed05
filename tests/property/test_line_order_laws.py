"""The order of the lines in the files of a run changes nothing of what is said of it."""

import re
import shutil
from io import StringIO
from itertools import count
from random import Random

import msgspec
import pytest
from fakes.stub_graders import Says, StubGrader, grader_spec
from fakes.suites import fake_suite
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import harness
from harness.commands.report import write_junit
from harness.reports.comparison_markdown import comparisons_markdown
from harness.reports.comparison_text import print_comparisons
from harness.reports.history_text import history_text
from harness.reports.summary_markdown import summary_markdown
from harness.running.histories import HistoryOptions, read_history
from harness.running.summary_pages import explained
from harness.system.clock import now
from harness.types.errors import TargetError
from harness.types.grades import Grade
from harness.types.suites import Limits, Retries

FILES = ("trials.jsonl", "outcomes.jsonl")
EPOCHS = 3


class Share(StubGrader):
    """Gives shares whose sums depend on the order in which they are added up."""

    def grade(self, subject):
        said = [event.text for event in subject.trajectory.events()]
        score = Random(said[-1]).random()
        return Grade(score=score, passed=score > 0.5, evidence=f"a share of {score:.2f}")


def suite_of(falling, broken):
    """Make a suite some of whose samples fail, and some of whose trials end in errors."""

    def act(context, _text):
        name = f"{context.sample.id} {context.model} {context.epoch}"
        if name in broken:
            raise TargetError("connection reset", code="connection_lost")
        says = "no" if context.sample.id in falling else "ok"
        return f"{says} {Random(name).randrange(3)}"

    return fake_suite(
        act,
        samples=12,
        models=("a", "b"),
        epochs=EPOCHS,
        graders=(grader_spec(Says("ok")), grader_spec(Share(), name="share")),
        retries=Retries(attempts=1),
        limits=Limits(max_error_rate=0.9),
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Make two runs: some trials ended in errors and were made again, others in errors for good."""
    out = tmp_path_factory.mktemp("made") / "runs"
    broken = {"s2 a 0", "s3 b 1", "s3 b 2", "s4 a 2"}
    for falling in (set(), {"s1", "s5", "s6", "s7", "s8", "s9"}):
        run = harness.run(suite_of(falling, broken), out=out)
        suite = suite_of(falling, {"s4 a 2"})
        harness.run(suite, out=out, resume=run, retry_errors=True)
    return sorted(out.glob("[!.]*"))


def said_of(before, after, scratch):
    """Return all that is said of two runs, without times."""
    compared = harness.compare(before, after, out=before.parent)
    summary, explanation = explained(after)
    write_junit(after, (summary, explanation), scratch / "junit.xml")
    history = read_history(before.parent, HistoryOptions(now=now(), workspace=scratch))
    text = "\n".join(
        [
            msgspec.json.encode(compared).decode(),
            comparisons_markdown(compared),
            terminal(compared),
            msgspec.json.encode(summary).decode(),
            msgspec.json.encode(explanation).decode(),
            summary_markdown(explanation),
            (scratch / "junit.xml").read_text("utf-8"),
            msgspec.json.encode(history).decode(),
            history_text(history, now().date()),
        ]
    )
    return re.sub(r'"(age_)?days":[0-9.]+', "", text.replace(str(before.parent), "RUNS"))


def terminal(compared):
    console = Console(file=StringIO(), width=120)
    print_comparisons(console, compared)
    return console.file.getvalue()


def shuffled(path, chance):
    lines = path.read_bytes().splitlines(keepends=True)
    chance.shuffle(lines)
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize("is_killed", [False, True], ids=["ended", "killed"])
def test_the_order_of_lines_changes_nothing_of_what_is_said(runs, tmp_path_factory, is_killed):
    scratch = tmp_path_factory.mktemp("scratch")
    numbers = count()

    def copies():
        folder = scratch / str(next(numbers)) / "runs"
        made = [shutil.copytree(run, folder / run.name) for run in runs]
        if is_killed:
            for run in made:
                (run / "summary.json").unlink()
        return made

    def said(made):
        workspace = made[0].parents[1] / "work"
        workspace.mkdir()
        return said_of(*made, workspace)

    before = said(copies())

    @settings(max_examples=12, deadline=None)
    @given(st.randoms(use_true_random=False), st.sets(st.sampled_from(FILES), min_size=1))
    def law(chance, moved):
        made = copies()
        for run in made:
            for name in sorted(moved):
                shuffled(run / name, chance)
        assert said(made) == before

    law()


def test_no_outcome_is_believed_that_was_not_made_of_its_trial(runs, tmp_path_factory):
    scratch = tmp_path_factory.mktemp("scratch")
    made = [shutil.copytree(run, scratch / "runs" / run.name) for run in runs]
    (scratch / "work").mkdir()
    before = said_of(*made, scratch / "work")
    path = made[1] / "outcomes.jsonl"
    whole = path.read_bytes().splitlines(keepends=True)

    @settings(max_examples=25, deadline=None)
    @given(st.data())
    def law(data):
        number = data.draw(st.integers(0, len(whole) - 1))
        line = whole[number]
        other = st.sampled_from([one for one in whole if one != line])
        edited = line.replace(b'"passed":false', b'"passed":true').replace(b'"a"', b'"b"')
        instead = data.draw(st.sampled_from([(edited,), (), (line, line), (data.draw(other),)]))
        path.write_bytes(b"".join([*whole[:number], *instead, *whole[number + 1 :]]))
        assert said_of(*made, scratch / "work") == before

    law()
