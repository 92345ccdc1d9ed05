"""Laws of explaining: any trial is explained, and no text in it is markup, XML or a command."""

from html import unescape
from pathlib import Path

import msgspec
from fakes.explained_runs import failed_trial, make_explanation, make_summary
from fakes.stored_trials import stored_trial
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt
from property.strategies import texts, trajectories

from harness.measuring.failure_groups import failure_groups, origins_of
from harness.measuring.failure_words import first_bad_event
from harness.reports.github_annotations import github_annotations
from harness.reports.junit_xml import ReportedRun, junit_xml
from harness.reports.markdown_spans import code_span, plain_words
from harness.reports.summary_markdown import summary_markdown
from harness.system.json_values import scrub_json
from harness.system.texts import one_line
from harness.types.explanations import BadEvent, Place, SampleResult
from harness.types.trajectories import Trajectory

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parents[1] / "data/reports/junit.xsd"))
VIEWER = MarkdownIt("commonmark")
any_text = st.text() | texts | st.text("`*_<>&|[]()#@\\!~$ \n\ta", max_size=12)
usual_tools = st.lists(texts, max_size=4)
found = st.lists(
    st.tuples(
        st.builds(
            failed_trial, st.sampled_from("abc"), epoch=st.integers(0, 2), grader=st.none() | texts
        ),
        st.builds(BadEvent, origin=st.sampled_from(["agent", "provider"]), words=texts),
    ),
    max_size=8,
)


def as_stored(trajectory):
    """Give a trajectory as it comes out of the log, without lone surrogates."""
    return msgspec.convert(scrub_json(msgspec.to_builtins(trajectory)), Trajectory)


@given(trajectories, st.none() | trajectories, texts, usual_tools)
def test_any_trial_is_explained_in_one_short_line(trajectory, other, evidence, usual):
    trial = stored_trial(passed=False, trajectory=as_stored(trajectory))
    passing = None if other is None else stored_trial(trajectory=as_stored(other), epoch=1)
    bad = first_bad_event(trial, failed_trial(evidence=evidence), passing, usual)
    assert len(bad.words) < 500
    assert first_bad_event(trial, failed_trial(evidence=evidence), trial, usual).words is not None


@given(found)
def test_groups_hold_every_trial_once(found):
    groups = failure_groups(found)
    assert sum(group.trials for group in groups) == len(found)
    assert sum(origins_of(found).values()) == len(found)
    assert [group.trials for group in groups] == sorted((g.trials for g in groups), reverse=True)
    assert sorted(map(repr, groups)) == sorted(map(repr, failure_groups(found)))


@given(any_text)
def test_a_text_as_code_is_shown_as_it_is_and_is_nothing_else(text):
    html = VIEWER.renderInline(f"a {code_span(text)} b")
    line = one_line(text)
    shown = "(nothing)" if not line.strip() else f"<code>{line}</code>"
    assert unescape(html) == f"a {shown} b"
    assert html.count("<") == (2 if line.strip() else 0)


@example("__0__")
@example("a__b__ c_d")
@given(any_text)
def test_a_sentence_holds_no_markup_but_code(text):
    html = VIEWER.renderInline(f"so: {plain_words(text)}")
    assert html.replace("<code>", "").replace("</code>", "").count("<") == 0


@given(any_text, any_text)
def test_any_text_makes_valid_xml(text, other):
    failed = failed_trial(text, model=other, grader=other, evidence=text, said=other)
    result = SampleResult(sample_id=text, model=other, failed=1, failures=(failed,))
    run = ReportedRun(
        summary=make_summary(suite=text, run_id=other, complete=False, reasons=(other,)),
        explanation=make_explanation(verdict=text),
        results=[result],
        places={text: Place(other, 3), "": Place(text, 0)},
    )
    SCHEMA.assertValid(etree.fromstring(junit_xml(run)))


@given(any_text, any_text)
def test_an_annotation_is_one_command_and_never_another(text, other):
    summary = make_summary(suite=text, first_failures=(failed_trial(text, evidence=other),))
    told = make_explanation(state="gate_missed", suite=text, verdict=other, failing=1)
    for line in github_annotations(summary, told, {text: Place(other, 3)}):
        assert line.startswith("::error ")
        assert line.splitlines() == [line]
        head = line.removeprefix("::error ").partition("::")[0]
        assert [part.partition("=")[0] for part in head.split(",")] in [
            ["title"],
            ["line", "title"],
            ["file", "line", "title"],
        ]


@given(any_text)
def test_a_page_has_the_lines_that_it_has_whatever_the_texts(text):
    told = make_explanation(suite=text, verdict=text, reasons=(text,), warnings=(text,))
    plain = make_explanation(suite="a", verdict="a", reasons=("a",), warnings=("a",))
    lines = [len(summary_markdown(one).splitlines()) for one in (told, plain)]
    assert lines[0] == lines[1]
