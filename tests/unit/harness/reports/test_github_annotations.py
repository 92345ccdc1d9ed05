"""Annotations of GitHub Actions."""

import pytest
from fakes.explained_runs import failed_trial, make_explanation, make_summary

from harness.reports.github_annotations import github_annotations
from harness.types.comparisons import (
    ComparedRun,
    Comparison,
    Pairing,
    SamplePair,
    TrialEvidence,
)
from harness.types.explanations import NextStep, Place
from harness.types.verdicts import SuiteVerdict

PLACES = {"": Place("suite.yaml", 0), "s1": Place("data/samples.jsonl", 7)}


def lines(*failures, places=PLACES, **fields):
    summary = make_summary(first_failures=failures)
    told = {"state": "gate_missed", "verdict": "FAILED.", "failing": len(failures), **fields}
    return list(github_annotations(summary, make_explanation(**told), places))


def test_a_failure_is_an_error_at_its_line_of_the_dataset():
    assert lines(failed_trial()) == [
        "::error title=release train::FAILED.",
        "::error file=data/samples.jsonl,line=7,title=s1 on m::g: it said nothing",
    ]


def test_the_verdict_names_the_next_step():
    step = NextStep(words="Go on with it", command="regrade run --resume r")
    (line,) = lines(state="incomplete", next_step=step)
    assert line == "::error title=release train::FAILED. Go on with it: regrade run --resume r"


def test_a_sample_without_a_line_is_shown_at_its_file():
    assert lines(failed_trial("s2"))[1].startswith("::error file=suite.yaml,title=s2 on m::")
    assert lines(failed_trial("s2"), places={})[1].startswith("::error title=s2 on m::")


def test_failures_of_a_run_that_passes_are_warnings():
    shown = lines(failed_trial(grader=None, status="agent_failure"), state="passed")
    assert shown == [
        "::warning file=data/samples.jsonl,line=7,title=s1 on m::agent failure: it said nothing"
    ]


def test_epochs_of_a_sample_are_one_annotation():
    assert len(lines(failed_trial(), failed_trial(epoch=1), failed_trial(model="n"))) == 3


def test_samples_that_have_regressed_come_first_and_are_told_once():
    shown = TrialEvidence(epoch=0, status="completed", passed=False, grader="g", evidence="no id")
    fell = SamplePair(
        sample_id="s1",
        baseline_passes=3,
        baseline_trials=3,
        candidate_passes=1,
        candidate_trials=3,
        candidate_shown=shown,
    )
    compared = Comparison(
        suite="release train",
        baseline=ComparedRun(run_id="base", model="m"),
        candidate=ComparedRun(run_id="r-1", model="m"),
        pairing=Pairing(paired=2),
        verdict=SuiteVerdict(verdict="regressed", question="fixed_suite"),
        regressed=(fell,),
    )
    told = lines(failed_trial("s0"), failed_trial("s1"), comparisons=(compared,))
    assert told[1:] == [
        (
            "::error file=data/samples.jsonl,line=7,title=s1 on m::regressed: 3/3 passed in base, "
            "1/3 now; g: no id"
        ),
        "::error file=suite.yaml,title=s0 on m::g: it said nothing",
    ]


def test_there_are_never_more_than_github_shows_and_the_rest_is_counted():
    shown = lines(*(failed_trial(f"s{n}") for n in range(30)), failing=77)
    assert sum(line.startswith("::error") for line in shown) == 10
    assert shown[-1] == (
        "::notice title=release train::77 trials did not pass; "
        "the summary of the run groups them all"
    )


@pytest.mark.parametrize(
    ("text", "title", "message"),
    [
        ("50 %, or: more", "50 %25%2C or%3A more on m", "50 %25, or: more"),
        ("a\n::error::b", "a\\n%3A%3Aerror%3A%3Ab on m", "a\\n::error::b"),
        ("a\r\x1b[1m", "a\\r\\x1b[1m on m", "a\\r\\x1b[1m"),
    ],
)
def test_no_text_begins_a_command_of_its_own(text, title, message):
    (line,) = lines(failed_trial(text, evidence=text), places={}, state="passed")
    assert line == f"::warning title={title}::g: {message}"


def test_a_long_text_is_cut():
    assert len(lines(failed_trial(evidence="x" * 9_999), state="passed")[0]) < 500
