import pytest
from fakes.factories import make_sample

from harness.shims.letta_samples import letta_sample


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("7", 7),
        ("101", 101),
        ("007", "007"),
        ("-3", "-3"),
        ("3.0", "3.0"),
        ("٣", "٣"),
        ("²", "²"),
        ("", ""),
        ("row-a", "row-a"),
        ("9" * 18, int("9" * 18)),
        ("9" * 400, "9" * 400),
    ],
)
def test_an_id_that_reads_as_a_number_is_one(text, number):
    found = letta_sample(make_sample(id=text)).id
    assert (found, type(found)) == (number, type(number))


def test_several_turns_are_lists():
    made = letta_sample(make_sample(input=("a", "b"), ground_truth=("c", "d")))
    assert (made.input, made.ground_truth) == (["a", "b"], ["c", "d"])


def test_what_a_row_leaves_out_is_none():
    made = letta_sample(make_sample())
    assert made.model_dump() == {
        "id": "s1",
        "input": "Find it.",
        "ground_truth": None,
        "agent_args": None,
        "rubric_vars": None,
        "extra_vars": None,
        "rubric": None,
        "rubric_path": None,
    }


def test_fields_are_taken_over_as_copies():
    sample = make_sample(
        agent_args={"a": [1]}, rubric_vars={"b": "2"}, extra_vars={"c": {"d": 3}}, rubric="r"
    )
    made = letta_sample(sample)
    assert (made.agent_args, made.rubric_vars, made.rubric) == ({"a": [1]}, {"b": "2"}, "r")
    made.agent_args["a"].append(2)
    made.extra_vars["c"]["d"] = 4
    assert (sample.agent_args, sample.extra_vars) == ({"a": [1]}, {"c": {"d": 3}})
