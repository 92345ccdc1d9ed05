"""A comparison as Markdown."""

import re

import pytest
from markdown_it import MarkdownIt

from harness.reports.comparison_markdown import comparisons_markdown
from harness.types.comparisons import (
    Change,
    ComparedRun,
    Comparison,
    Comparisons,
    Divergence,
    DivergenceGroup,
    EventAt,
    Pairing,
    SamplePair,
    TrialEvidence,
)
from harness.types.verdicts import SuiteVerdict


def comparison_of(foreign):
    shown = TrialEvidence(
        epoch=0, status="completed", passed=False, grader=foreign, evidence=foreign
    )
    event = EventAt(turn=0, event=0, type="tool_call", text=foreign, name=foreign)
    pair = SamplePair(
        sample_id=foreign,
        baseline_passes=1,
        baseline_trials=1,
        candidate_passes=0,
        candidate_trials=1,
        candidate_shown=shown,
        divergence=Divergence(kind="other_text", words=foreign, candidate=event),
        place=foreign,
    )
    return Comparison(
        suite=foreign,
        baseline=ComparedRun(run_id=foreign, model=foreign, regraded=(foreign,)),
        candidate=ComparedRun(run_id=foreign, model=foreign),
        pairing=Pairing(paired=1, changed=(foreign,), not_run=(foreign,)),
        verdict=SuiteVerdict(verdict="invalid", question="fixed_suite", reason=foreign),
        regressed=(pair,),
        errored=(pair,),
        divergences=(
            DivergenceGroup(kind="other_text", words=foreign, tool=foreign, samples=("a",), of=1),
        ),
        changes=(Change(what=foreign, before=foreign, after=foreign),),
        warnings=(foreign,),
    )


@pytest.mark.parametrize(
    "foreign", ["GH-12", "0a" * 20, ":tada:", "@someone", "a/b#12", "https://a.example", "<b>x</b>"]
)
def test_what_viewers_link_or_render_stands_in_code_alone(foreign):
    text = comparisons_markdown(Comparisons(comparisons=(comparison_of(foreign),)))
    html = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert foreign not in outside
    assert foreign in text


@pytest.mark.parametrize("foreign", ["1. x", "+ x", "- x", "# x", "> x", "| x |"])
def test_an_id_makes_no_list_and_no_title(foreign):
    text = comparisons_markdown(Comparisons(comparisons=(comparison_of(foreign),)))
    html = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
    assert set(re.findall(r"<(\w+)", html)) <= {
        *("h3", "p", "ul", "li", "strong", "code", "details", "summary")
    }
    assert not re.search(r"<li>\s*<(ul|ol|h\d)", html)
