import pytest
from fakes.factories import make_custom, make_grader, make_sample

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
