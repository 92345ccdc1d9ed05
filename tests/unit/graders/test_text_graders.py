import pytest
from fakes.factories import make_sample, make_trajectory

from graders.catalogue import EXTRACTORS
from graders.text_graders import AsciiPrintableOnly, Contains, ExactMatch, RegexMatch
from harness.types.errors import GraderError
from harness.types.events import UserMessage
from harness.types.grades import Ref
from harness.types.protocols import Subject

ASKED = UserMessage(text="q")


def judged(grader, truth, *said, extractor="last_assistant", **config):
    trajectory = make_trajectory([ASKED, *said])
    submission = EXTRACTORS[extractor](**config).extract(trajectory)
    return grader.grade(Subject(make_sample(ground_truth=truth), trajectory, submission))


def test_a_match_points_at_its_characters_in_the_message():
    made = judged(Contains(), "lisbon", "first", "It is Lisbon.")
    assert made.refs == (Ref(turn=0, event=2, start=6, end=12),)


def test_a_match_in_joined_messages_points_into_each_of_them():
    made = judged(RegexMatch(), "b - c", "a b", "c d", extractor="all_assistant", separator=" - ")
    assert made.refs == (
        Ref(turn=0, event=1, start=2, end=3),
        Ref(turn=0, event=2, start=0, end=1),
    )


def test_a_match_in_an_extracted_piece_points_past_the_start_of_the_piece():
    made = judged(Contains(), "porto", "So. ANSWER:  Porto", extractor="after_marker", marker="R:")
    assert made.refs == (Ref(turn=0, event=1, start=13, end=18),)


def test_a_letter_that_is_longer_in_lower_case_leaves_the_message_without_a_span():
    made = judged(Contains(), "x", "\u0130 x")
    assert made.score == 1.0
    assert made.refs == (Ref(turn=0, event=1),)


def test_a_failure_points_at_what_was_graded():
    for grader in (ExactMatch(), Contains(), RegexMatch()):
        assert judged(grader, "zzz", "a").refs == (Ref(turn=0, event=1),)


def test_the_first_character_that_is_not_printable_is_pointed_at():
    assert judged(AsciiPrintableOnly(), None, "ab\u00e9\t").refs == (
        Ref(turn=0, event=1, start=2, end=3),
    )


@pytest.mark.parametrize("grader", [ExactMatch(), Contains(), RegexMatch()])
def test_a_list_of_ground_truths_cannot_be_compared_with_one_text(grader):
    with pytest.raises(GraderError, match="list of 2 texts"):
        judged(grader, ("a", "b"), "a")


def test_a_grader_of_a_text_without_a_text_says_so():
    with pytest.raises(GraderError, match="extractor"):
        Contains().grade(Subject(make_sample(ground_truth="x"), make_trajectory()))


@pytest.mark.parametrize(
    ("truth", "faults"), [("a+", 0), ("(", 1), (None, 0), (("a", "[", "("), 2)]
)
def test_ground_truths_that_are_no_pattern_are_found_beforehand(truth, faults):
    found = list(RegexMatch().lint_sample(make_sample(ground_truth=truth)))
    assert [field for field, _ in found] == ["ground_truth"] * faults
