from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from fakes.factories import make_custom, make_grader, make_sample
from fakes.stub_graders import StubGrader, grader_spec

from graders.text_graders import Contains
from harness.grading.grade_keys import grade_key


def same(sample, submission):
    return True


TURNS = {"input": ("a", "b"), "ground_truth": ("x", "y")}


@pytest.mark.parametrize(
    ("one", "other", "changed"),
    [
        ({"ground_truth": "a"}, {"ground_truth": "b"}, True),
        ({"ground_truth": None}, {"ground_truth": "null"}, True),
        ({"ground_truth": "a"}, {"ground_truth": ("a",)}, True),
        ({"rubric_vars": {"a": 1}}, {"rubric_vars": {"a": 2}}, True),
        ({"rubric_vars": {"a": 1, "b": 2}}, {"rubric_vars": {"b": 2, "a": 1}}, False),
        ({"id": "a"}, {"id": "b"}, False),
        ({"input": "a"}, {"input": "b"}, False),
        ({"tags": ("a",)}, {}, False),
        (TURNS, {**TURNS, "input": ("a", "c")}, True),
    ],
)
def test_a_built_in_grade_holds_as_long_as_what_its_grader_sees(one, other, changed):
    spec = make_grader("contains")
    keys = {grade_key(spec, make_sample(**fields)) for fields in (one, other)}
    assert len(keys) == 1 + changed


@pytest.mark.parametrize(
    "fields", [{"id": "b"}, {"input": "b"}, {"metadata": {"a": 1}}, {"tags": ("a",)}]
)
def test_a_custom_function_sees_the_whole_sample(fields):
    spec = make_custom(same)
    assert grade_key(spec, make_sample()) != grade_key(spec, make_sample(**fields))


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"fingerprint": "sha256:other"}, True),
        ({"turn": 0}, True),
        ({"threshold": 0.5}, True),
        ({"weight": 2.0}, False),
        ({"role": "observed"}, False),
        ({"name": "other"}, False),
    ],
)
def test_a_changed_grader_changes_the_key(fields, changed):
    one = grade_key(make_grader("contains"), make_sample())
    assert (one != grade_key(make_grader("contains", **fields), make_sample())) is changed


def test_lone_surrogates_and_graders_of_the_sample_do_not_break_a_key():
    sample = make_sample(ground_truth="\ud800", graders=(make_custom(same),))
    for spec in (make_grader("contains"), make_custom(same)):
        assert grade_key(spec, sample).startswith("sha256:")


@dataclass(frozen=True)
class UsesMetadata(StubGrader):
    uses: ClassVar[tuple[str, ...]] = ("metadata",)


@dataclass(frozen=True)
class UsesNothingThereIs(StubGrader):
    uses: ClassVar[tuple[str, ...]] = ("meta",)


@pytest.mark.parametrize(
    ("kind", "fields", "changed"),
    [
        (StubGrader, {"metadata": {"a": 1}}, True),
        (StubGrader, {"tags": ("a",)}, True),
        (StubGrader, {"id": "b"}, True),
        (UsesMetadata, {"metadata": {"a": 1}}, True),
        (UsesMetadata, {"ground_truth": "x"}, True),
        (UsesMetadata, {"tags": ("a",)}, False),
        (UsesNothingThereIs, {"metadata": {"a": 1}}, True),
    ],
)
def test_a_plugin_sees_the_whole_sample_unless_it_declares_what_it_uses(kind, fields, changed):
    spec = grader_spec(kind())
    assert (grade_key(spec, make_sample()) != grade_key(spec, make_sample(**fields))) is changed


@pytest.mark.parametrize("place", ["grader", "extractor"])
def test_another_release_of_a_plugin_changes_the_key(place):
    plugins = [type("Same", (Contains,), {"__module__": name})() for name in ("msgspec", "regex")]
    specs = [replace(make_grader("contains"), **{place: plugin}) for plugin in plugins]
    keys = {grade_key(spec, make_sample()) for spec in specs}
    assert len(keys) == 2


def test_a_sample_that_no_json_can_hold_has_a_key():
    sample = make_sample(metadata={"made": object()})
    assert grade_key(make_custom(same), sample).startswith("sha256:")
