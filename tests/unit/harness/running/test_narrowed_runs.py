"""What options leave of a suite, and which runs stand for which."""

import pytest
from fakes.explained_runs import make_manifest
from fakes.suites import fake_suite

from harness.loading.selections import Selection
from harness.running.narrowed_runs import narrowed_by, narrowing_of, narrowing_words, stands_for
from harness.running.run_options import RunOptions


def suite_of(**more):
    return fake_suite(lambda context, text: "ok", models=("a", "b"), **more)


@pytest.mark.parametrize(
    ("options", "own", "left"),
    [
        ({}, {}, {}),
        ({}, {"max_samples": 2, "sample_tags": ("x",)}, {}),
        ({"selection": Selection(limit=2)}, {"max_samples": 2}, {}),
        ({"selection": Selection(limit=2)}, {}, {"limit": 2}),
        ({"selection": Selection(ids=("s1",))}, {"max_samples": 2}, {"ids": ["s1"]}),
        ({"selection": Selection(tags=("x", "y"))}, {}, {"tags": ["x", "y"]}),
        ({"selection": Selection(limit=3)}, {}, {}),
        ({"selection": Selection(limit=9)}, {}, {}),
        ({"selection": Selection(ids=("s2", "s0", "s1"))}, {}, {}),
        ({"selection": Selection(ids=("s1", "s2"))}, {"max_samples": 2}, {"ids": ["s1", "s2"]}),
        ({"selection": Selection(ids=("gone",))}, {}, {"ids": ["gone"]}),
        ({"selection": Selection(limit=3), "models": ("b",)}, {}, {"models": ["b"]}),
        ({"models": ("b",)}, {}, {"models": ["b"]}),
        ({"models": ("b", "a", "c")}, {}, {}),
    ],
)
def test_what_options_leave_is_told_apart_from_what_the_suite_selects(options, own, left):
    assert narrowed_by(suite_of(**own), RunOptions(**options)) == left


def test_an_older_run_is_told_by_its_selection():
    selection = {"limit": None, "ids": ["s 1"], "tags": []}
    told = narrowing_of(make_manifest(selection=selection))
    assert told == {"ids": ["s 1"]}
    assert narrowing_words(told) == "--sample 's 1'"


@pytest.mark.parametrize(
    ("own", "models", "wanted", "on", "stands"),
    [
        ({}, ("a",), {}, ("b",), True),
        ({}, ("a",), {"ids": ["s1"]}, ("a",), True),
        ({"ids": ["s1"]}, ("a",), {}, ("a",), False),
        ({"ids": ["s1", "s2"]}, ("a",), {"ids": ["s2", "s1"]}, ("a",), True),
        ({"limit": 2}, ("a",), {"limit": 3}, ("a",), False),
        ({"models": ["a"]}, ("a",), {}, ("a", "b"), False),
        ({"models": ["a"]}, ("a",), {"models": ["a"]}, ("a",), True),
        ({"models": ["a"]}, ("a",), {}, (), False),
        ({"models": ["a"]}, ("a",), {}, None, True),
    ],
)
def test_a_run_stands_for_those_that_took_no_more(own, models, wanted, on, stands):
    manifest = make_manifest(narrowed=own, models=models)
    assert stands_for(manifest, wanted, on) is stands
