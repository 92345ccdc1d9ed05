import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from harness.grading.returned_values import as_grade, as_submission
from harness.types.errors import GraderError
from harness.types.grades import Grade


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (0.25, 0.25),
        (0, 0.0),
        (1, 1.0),
        (-0.0, 0.0),
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(1), 1.0),
        (np.array(0.5), 0.5),
        ({"score": 1}, 1.0),
        ({"score": np.float32(0.5)}, 0.5),
        (SimpleNamespace(score=0.75), 0.75),
        (Grade(score=0.5), 0.5),
    ],
)
def test_a_score_is_read(value, score):
    made = as_grade(value)
    assert (made.score, made.passed) == (score, None)
    assert math.copysign(1, made.score) == 1.0


@pytest.mark.parametrize("value", [True, np.True_, {"score": True}])
def test_true_is_a_full_score(value):
    assert as_grade(value).score == 1.0


@pytest.mark.parametrize("value", [False, np.False_])
def test_a_bool_says_itself_whether_it_passed(value):
    assert as_grade(value).passed is False


class Silent:
    def __repr__(self):
        raise ValueError


class Moody:
    @property
    def score(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "returned None;"),
        ("0.8", "returned '0.8' (str)"),
        ([1, 0], "returned [1, 0] (list)"),
        ((1.0, "why"), "(tuple)"),
        (math.nan, "returned the score nan (float), which is not in 0..1"),
        (math.inf, "returned the score inf"),
        (-math.inf, "returned the score -inf"),
        (np.float64("nan"), "nan"),
        (np.array([0.5]), "(ndarray)"),
        (1.0000001, "returned the score 1.0000001"),
        (-1e-12, "returned the score -1e-12"),
        (7, "returned the score 7 (int)"),
        (10**400, "which is not in 0..1"),
        (10**5000, "an object of type int"),
        (1j, "(complex)"),
        (Fraction(1, 2), "(Fraction)"),
        ({"score": math.nan}, "returned the score nan"),
        ({"score": None}, "returned the score None"),
        ({"score": "1"}, "returned the score '1'"),
        ({"score": {"score": 1}}, "(dict)"),
        ({"points": 1}, "(dict)"),
        ({"score": 1, "rationale": 3}, "returned the rationale 3 (int)"),
        ({"score": 1, "passed": "yes"}, "returned `passed` as 'yes'"),
        ({"score": 1, "details": [1]}, "returned `details` as [1]"),
        ({"score": 1, "details": {"x": object()}}, "cannot be kept"),
        ({"score": 1, "details": {"x": math.nan}}, "cannot be kept"),
        (SimpleNamespace(score=None), "returned the score None"),
        (Silent(), "an object of type Silent"),
        (Grade(score="0.8"), "cannot be kept"),
        (Grade(score=2.0), "returned the score 2.0"),
        (Grade(score=1.0, evidence=3), "cannot be kept"),
        (Grade(score=1.0, status="fine"), "cannot be kept"),
        (Grade(score=1.0, refs=["x"]), "cannot be kept"),
        (Grade(score=None), "without a score"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_judgement_is_named_and_never_a_score(value, told):
    with pytest.raises(GraderError) as error:
        as_grade(value)
    assert told in str(error.value)
    assert len(str(error.value)) < 500


def test_an_attribute_that_raises_is_the_users_exception():
    with pytest.raises(ZeroDivisionError):
        as_grade(Moody())


@pytest.mark.parametrize("word", ["rationale", "evidence"])
def test_both_words_for_evidence_are_read(word):
    assert as_grade({"score": 1, word: "because"}).evidence == "because"
    assert as_grade(SimpleNamespace(score=1, **{word: "because"})).evidence == "because"


def test_nothing_of_a_mapping_is_dropped():
    made = as_grade({"score": 1, "metadata": {"a": 1}, "extra": [2]})
    assert made.details == {"a": 1, "extra": [2]}


@pytest.mark.parametrize("status", ["error", "skipped"])
def test_a_grade_without_a_judgement_has_no_score(status):
    made = as_grade(Grade(status=status, score=1.0, passed=True, evidence="why"))
    assert (made.status, made.score, made.passed) == (status, None, None)


def test_a_text_is_a_submission_and_nothing_else_is():
    assert as_submission("a").text == "a"
    with pytest.raises(GraderError, match="returned None"):
        as_submission(None)
