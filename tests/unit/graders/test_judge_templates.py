import pytest

from graders.judge_templates import (
    MOST_CHARACTERS,
    PromptError,
    fill,
    placeholders,
    replace_listed,
    shown_value,
    unescaped,
    unknown_placeholders,
)


@pytest.mark.parametrize(
    ("rubric", "names"),
    [
        ("", ()),
        ("plain", ()),
        ("{input} and {submission} and {input}", ("input", "submission")),
        ("{{input}}", ()),
        ("{größe}", ("größe",)),
    ],
)
def test_placeholders_are_the_names_in_single_braces(rubric, names):
    assert placeholders(rubric) == names


@pytest.mark.parametrize(
    "rubric",
    [
        "{",
        "}",
        "a { b",
        "{input",
        "{}",
        "{0}",
        "{input.__class__}",
        "{input[0]}",
        "{input!r}",
        "{input:>1000000000}",
        "{input:{submission}}",
        "{ input }",
        '{"score": 0.5}',
    ],
)
def test_what_is_more_than_a_name_is_refused_with_the_way_to_write_it(rubric):
    for read in (placeholders, unescaped, lambda text: fill(text, {"input": "x"})):
        with pytest.raises(PromptError, match=r"\{\{"):
            read(rubric)


def test_values_are_put_in_once_and_their_braces_stay():
    values = {"a": "{b}", "b": "{{a}}"}
    assert fill("{a}-{b}-{{a}}-{{{a}}}", values) == "{b}-{{a}}-{a}-{{b}}"


def test_an_unknown_placeholder_is_named_with_all_that_are_known():
    with pytest.raises(PromptError, match=r"unknown placeholder \{x\}, \{y\}; there are \{a\}"):
        fill("{x} {a} {y}", {"a": "1"})


def test_of_many_names_only_some_are_shown():
    text = unknown_placeholders([f"n{index}" for index in range(1000)], [])
    assert text.endswith("980 more; there are none")


def test_only_listed_names_are_replaced_and_every_other_brace_stays():
    text = '{k} {other} {{k}} {"score": 1} {'
    assert replace_listed(text, {"k": "{k}"}) == '{k} {other} {{k}} {"score": 1} {'
    assert replace_listed("{a}{ab}", {"a": "1", "ab": "2"}) == "12"
    assert replace_listed("{a.b}", {"a.b": "x"}) == "x"
    assert replace_listed("{a}", {}) == "{a}"


def test_a_rubric_that_names_a_long_text_a_million_times_is_refused():
    values = {"a": "x" * 100_000}
    for make in (fill, replace_listed):
        with pytest.raises(PromptError, match="longer than 4,000,000"):
            make("{a}" * 100_000, values)
    assert len(fill("{a}" * 40, values)) == MOST_CHARACTERS


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        (None, ""),
        (3, "3"),
        (True, "true"),
        (0.5, "0.5"),
        (("a", "b"), '["a","b"]'),
        ({"total": 3, "items": ["a", "ü"]}, '{"total":3,"items":["a","ü"]}'),
    ],
)
def test_a_value_that_is_no_text_is_shown_as_json(value, shown):
    assert shown_value(value) == shown


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": {1, 2}}])
def test_a_value_without_json_is_an_error_and_never_a_repr(value):
    with pytest.raises(PromptError, match="cannot be shown"):
        shown_value(value)
