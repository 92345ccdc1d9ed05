"""What its own comparison has against a run, and what one that is gone on with is compared with."""

import msgspec
import pytest
from fakes.suites import fake_suite

import harness
from harness.running.planned_comparisons import comparison_words, gone_on_with, known_against
from harness.running.run_options import ComparedWith
from harness.storing.manifests import read_manifest


@pytest.fixture
def run(tmp_path):
    return harness.run(fake_suite(lambda context, text: "ok"), out=tmp_path).folder


def planned(run, compared_with):
    return msgspec.structs.replace(read_manifest(run), compared_with=compared_with)


@pytest.mark.parametrize(
    ("written", "is_planned", "said"),
    [
        (None, False, ""),
        (None, True, "was to be compared with its baseline, and was not"),
        ('{"first_night": true, "exit_code": 3}', True, ""),
        ('{"comparisons": [{"verdict": {"verdict": "invalid"}}]}', True, ""),
        ('{"comparisons": [{"verdict": {"verdict": "inconclusive"}}]}', True, ""),
        ('{"problems": ["no space"]}', True, "could not be compared with its baseline"),
        (
            '{"comparisons": [{"verdict": {"verdict": "regressed"}}]}',
            False,
            "regressed against its own baseline",
        ),
        ('{"comparisons": [', True, "has a damaged comparison.json"),
        ("", True, "has a damaged comparison.json"),
    ],
)
def test_what_is_known_against_a_run(run, written, is_planned, said):
    if written is not None:
        (run / "comparison.json").write_text(written, "utf-8")
    compared_with = {"baseline": "latest"} if is_planned else None
    assert known_against(run, planned(run, compared_with)) == said


BEFORE = {"baseline": "a b::m", "metrics": ["trial"], "margins": ["0.1"], "required": True}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "--baseline 'a b::m' --metric trial --margin 0.1 --require-baseline"),
        (
            ComparedWith(baseline="pinned", margins=("trial=0.2",)),
            "--baseline pinned --metric trial --margin trial=0.2 --require-baseline",
        ),
        (
            ComparedWith(baseline="", metrics=("tokens",)),
            "--baseline 'a b::m' --metric tokens --margin 0.1 --require-baseline",
        ),
    ],
)
def test_what_is_not_chosen_of_a_comparison_is_as_it_was(run, given, words):
    against = gone_on_with(given, planned(run, BEFORE))
    assert against is not None
    assert comparison_words(against) == words
    assert gone_on_with(given, planned(run, None)) == given
