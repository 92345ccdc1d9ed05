import pytest

from harness.messages.arguments import Arguments, read_arguments


@pytest.mark.parametrize(
    ("raw", "value", "text"),
    [
        ('{"q": "x"}', {"q": "x"}, '{"q": "x"}'),
        ("{}", {}, "{}"),
        ("", {}, ""),
        (" \n", {}, " \n"),
        (None, {}, None),
        ({"q": "x"}, {"q": "x"}, None),
        ([1], [1], None),
        (5, 5, None),
        ("[1, 2]", [1, 2], "[1, 2]"),
        ("5", 5, "5"),
        ("null", None, "null"),
        # encoded twice: decoded once more, where an object or a list comes of it
        ('"{\\"q\\": \\"x\\"}"', {"q": "x"}, '"{\\"q\\": \\"x\\"}"'),
        ('"[1]"', [1], '"[1]"'),
        ('"5"', "5", '"5"'),
        ('"Oslo"', "Oslo", '"Oslo"'),
        # encoded three times: never decoded a third time
        ('"\\"{}\\""', '"{}"', '"\\"{}\\""'),
    ],
)
def test_arguments_are_read_as_they_were_meant(raw, value, text):
    assert read_arguments(raw) == Arguments(value, text)


@pytest.mark.parametrize(
    "text",
    [
        '{"q": "x"',
        "{'q': 'x'}",
        "q=x",
        '{"q": NaN}',
        '{"q": 1e999}',
        '{"q": -Infinity}',
        '{"q": 1} {"q": 2}',
        "[" * 100_000,
        "[" * 300 + "]" * 300,
        "1" * 10_000,
    ],
)
def test_a_text_that_is_no_json_stays_a_text_in_both(text):
    assert read_arguments(text) == Arguments(text, text)


@pytest.mark.parametrize(
    ("text", "value", "duplicates"),
    [
        ('{"q": "x", "q": "y"}', {"q": "y"}, ("q",)),
        ('{"a": {"b": 1, "b": 2, "b": 3}, "c": 1, "c": 2}', {"a": {"b": 3}, "c": 2}, ("b", "c")),
        ('"{\\"q\\": 1, \\"q\\": 2}"', {"q": 2}, ("q",)),
    ],
)
def test_keys_that_stand_twice_are_told_and_the_last_value_counts(text, value, duplicates):
    assert read_arguments(text) == Arguments(value, text, duplicates)


def test_lone_surrogates_are_replaced_in_text_and_value():
    found = read_arguments('{"q": "\\ud800", "r": "\ud800", "s": "\\ud83d\\ude00"}')
    assert found.value == {"q": "\ufffd", "r": "\ufffd", "s": "\U0001f600"}
    assert found.text.isprintable()
    found.text.encode()


@pytest.mark.parametrize("raw", [{"q": float("nan")}, {"q": object()}, {"q": {1, 2}}])
def test_an_object_that_is_no_json_is_refused(raw):
    with pytest.raises(ValueError, match="no JSON"):
        read_arguments(raw)
