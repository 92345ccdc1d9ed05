import pytest
from fakes.factories import make_sample

from graders.judge_prompts import (
    JSON_ONLY,
    JUDGE,
    Rubric,
    messages,
    problems_of,
    problems_with,
    with_json_asked,
)
from graders.judge_templates import PromptError

WHOLE = "in={input} gt={ground_truth} sub={submission} k={k}"


def asked(text, *, submission="S", sample=None, **options):
    return messages(Rubric(text=text, **options), make_sample(**(sample or {})), submission)


def user(text, **options):
    return asked(text, **options)[-1]["content"]


def test_a_rubric_with_placeholders_is_the_whole_user_message():
    sample = {"input": "Q", "ground_truth": "A", "rubric_vars": {"k": 7}}
    assert asked(WHOLE, sample=sample) == ({"role": "user", "content": "in=Q gt=A sub=S k=7"},)


def test_the_system_prompt_goes_before_it_as_it_is():
    system, _ = asked("{submission}", system_prompt="Be {strict}.")
    assert system == {"role": "system", "content": "Be {strict}."}


@pytest.mark.parametrize(
    ("sample", "shown"),
    [
        ({"input": ("a", "ü"), "ground_truth": None}, 'in=["a","ü"] gt= sub=S k=1'),
        ({"input": "{k}", "ground_truth": "{{x}}"}, "in={k} gt={{x}} sub=S k=1"),
        ({"input": "q", "rubric_vars": {"k": [1, {"ü": None}]}}, 'in=q gt= sub=S k=[1,{"ü":null}]'),
    ],
)
def test_values_are_shown_as_text_or_json_and_not_expanded_again(sample, shown):
    assert user(WHOLE, sample={"rubric_vars": {"k": 1}, **sample}) == shown


def test_doubled_braces_are_single_ones():
    assert user("{{x}} {submission}") == "{x} S"


@pytest.mark.parametrize(
    ("text", "variables", "problem"),
    [
        ("{nope} {submission}", {"k": 1}, r"unknown placeholder \{nope\}; there are .*\{k\}"),
        ("{submission}", {"input": 1}, "'input' is reserved"),
        ("{submission.x}", {}, "no plain name"),
        ("{submission", {}, "braces"),
        ("  \n", {}, "empty"),
    ],
)
def test_a_prompt_that_cannot_be_made_says_why(text, variables, problem):
    with pytest.raises(PromptError, match=problem):
        asked(text, sample={"rubric_vars": variables})


OLD = {"rubric_vars": ("k",)}


def test_the_older_form_shows_everything_in_order_and_asks_for_json():
    sample = {"input": "QUESTION", "ground_truth": "TRUTH", "rubric_vars": {"k": "VALUE"}}
    system, text = asked("RUBRIC {k} {other}", sample=sample, submission="SUBMISSION", **OLD)
    assert system == {"role": "system", "content": JUDGE}
    parts = ["Do not answer the question", "RUBRIC VALUE {other}", "QUESTION", "TRUTH"]
    places = [text["content"].index(part) for part in (*parts, "SUBMISSION", JSON_ONLY)]
    assert places == sorted(places)


def test_the_older_form_leaves_out_an_expected_answer_that_is_not_there():
    assert "Expected answer" not in user("R", sample={"ground_truth": None}, rubric_vars=())


@pytest.mark.parametrize(
    ("text", "options", "composed"),
    [
        ("Rate it.", {}, True),
        ("Rate {{it}}.", {}, True),
        ("Rate {k}.", OLD, True),
        ('Answer {"score": 1}.', {"rubric_vars": ()}, True),
        ("Rate {submission} by {k}.", OLD, False),
        ("Rate {input}.", OLD, False),
        ("Rate {k}.", {}, False),
        ("Rate it.", {"system_prompt": "S"}, False),
        ("Rate {k}.", {**OLD, "system_prompt": "S"}, False),
    ],
)
def test_the_form_is_told_by_the_text_and_the_options(text, options, composed):
    content = user(text, sample={"rubric_vars": {"k": "v"}}, **options)
    assert content.startswith("You judge") is composed


def test_a_plain_rubric_is_unescaped_and_a_listed_one_is_literal():
    assert "Rate {it}." in user("Rate {{it}}.")
    assert "Rate {{it}}." in user("Rate {{it}}.", rubric_vars=())


def test_a_listed_variable_that_the_sample_lacks_is_named():
    with pytest.raises(PromptError, match=r"unknown placeholder \{k\}; there are \{j\}"):
        asked("{k}", sample={"rubric_vars": {"j": 1}}, **OLD)


def test_a_rubric_that_hides_the_submission_is_a_problem_of_its_own():
    assert list(problems_of(Rubric(text="{input}"))) != []
    assert list(problems_of(Rubric(text="x", system_prompt="S"))) != []
    for text in ("plain", "{submission}"):
        assert list(problems_of(Rubric(text=text))) == []


def test_all_that_keeps_a_sample_from_being_judged_is_listed():
    sample = make_sample(rubric_vars={"input": 1, "submission": 2})
    assert len(list(problems_with(Rubric(text="{a} {b} {submission}"), sample))) == 3


def test_json_is_asked_for_once():
    once = with_json_asked(asked("{submission}"))
    assert once[-1]["content"] == f"S\n\n{JSON_ONLY}"
    assert with_json_asked(once) == once
    composed = asked("plain")
    assert with_json_asked(composed) == composed
