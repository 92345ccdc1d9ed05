import json
import math

import pytest
from pydantic import ValidationError

from harness.shims.eval_models import GradeResult, PerTurnGrade, RewardOutput, Sample, Usage


def test_a_result_is_made_and_dumped_as_in_letta_evals():
    made = GradeResult(score=1, rationale="fine", metadata={"n": 1})
    assert made.model_dump() == {
        "score": 1.0,
        "rationale": "fine",
        "metadata": {"n": 1},
        "per_turn_grades": None,
    }
    assert json.loads(made.model_dump_json())["score"] == 1.0


def test_metadata_of_two_results_is_not_shared():
    one, two = GradeResult(score=1), GradeResult(score=1)
    one.metadata["a"] = 1
    assert two.metadata == {}


@pytest.mark.parametrize("score", [-0.1, 1.1, 2, math.inf, -math.inf, math.nan, "much", None])
@pytest.mark.parametrize("record", [GradeResult, RewardOutput])
def test_a_score_that_is_no_number_in_0_to_1_is_refused(record, score):
    with pytest.raises(ValidationError, match="score"):
        record(score=score)


def test_a_turn_has_a_checked_score_too():
    with pytest.raises(ValidationError):
        PerTurnGrade(turn=0, score=math.nan, submission="")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"input": "a", "ground_truth": ["b"]}, "cannot be a list"),
        ({"input": ["a", "b"], "ground_truth": ["c"]}, "2 items but ground_truth has 1"),
        ({"input": "a", "rubric": "r", "rubric_path": "p"}, "not both"),
        ({"input": None}, "input"),
    ],
)
def test_a_sample_whose_fields_do_not_fit_is_refused(fields, problem):
    with pytest.raises(ValidationError, match=problem):
        Sample(id=1, **fields)


def test_ids_keep_their_type():
    assert (Sample(id=3, input="a").id, Sample(id="3", input="a").id) == (3, "3")


def test_usage_begins_at_nothing():
    assert Usage().model_dump() == {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cached_input_tokens": 0,
        "cache_write_tokens": 0,
        "reasoning_tokens": 0,
        "cost": None,
    }
