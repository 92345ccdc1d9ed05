"""Paths into end states: what they lead to, and what is no path."""

import pytest

from harness.system.json_paths import check_path, leads_to_one, select
from harness.system.patterns import SlowPattern, time_limit

STATE = {"seats": [{"who": "Ines", "n": 1}, {"who": "Rui", "n": 2}], "paid": True}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [STATE]),
        ("$.paid", [True]),
        ("$.seats[1].who", ["Rui"]),
        ("$.seats[-1].n", [2]),
        ("$['seats'][0]['who']", ["Ines"]),
        ("$.seats[*].who", ["Ines", "Rui"]),
        ("$..n", [1, 2]),
        ("$.seats[?@.n > 1].who", ["Rui"]),
        ("$.seats[?match(@.who, 'I.*s')].n", [1]),
        ("$.seats[?match(@.who, 'n')].n", []),
        ("$.seats[?search(@.who, 'n')].n", [1]),
        ("$.seats[?search(@.n, '1')].n", []),
        ("$.seats[?search(@.who, '(')].n", []),
        ("$.none", []),
        ("$.seats.who", []),
    ],
)
def test_a_path_leads_to_values(path, found):
    assert select(path, STATE) == found


@pytest.mark.parametrize(
    ("path", "single"),
    [("$", True), ("$.a[0]['b']", True), ("$.a[*]", False), ("$..a", False), ("$[0:1]", False)],
)
def test_a_path_to_one_value_is_known_by_its_form(path, single):
    assert leads_to_one(path) is single


@pytest.mark.parametrize(
    "path", ["", "a", "$.", "$[", "$.a[?", "$..*..*..*..*", "$[?@[?@[?@[?@]]]]"]
)
def test_what_is_no_path_or_too_much_of_one_is_refused(path):
    with pytest.raises(ValueError, match=r"\S"):
        check_path(path)


def test_a_slow_pattern_in_a_path_is_given_up():
    with time_limit(0.1), pytest.raises(SlowPattern):
        select("$[?search(@, '(a|aa)+$')]", ["a" * 60 + "b"])


def test_a_state_that_is_nested_too_deep_for_a_path_is_told():
    state = {}
    for _ in range(150):
        state = {"a": state}
    with pytest.raises(ValueError, match=r"\S"):
        select("$..b", state)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("orders", "a path begins with `$`, such as `$.orders`"),
        ("", "a path begins with `$`, such as `$.orders`"),
        (" $.a", "a path begins with `$`, such as `$.orders`"),
        ("$.orders[", "unexpected end of query at its end"),
        ("$.a b", "unexpected token 'b' at character 5"),
        ("$.a[1:2:3:4]", "expected comma, found colon at character 10"),
        ("$[?foo(@)]", "function 'foo' is not defined at character 4"),
    ],
)
def test_what_is_wrong_with_a_path_is_said_in_the_words_of_its_author(path, told):
    with pytest.raises(ValueError, match=r"\S") as caught:
        check_path(path)
    assert str(caught.value) == told


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", '{"', ""])
def test_a_text_is_never_read_as_json(text):
    assert select("$", text) == [text]
    assert select("$.a", text) == select("$[0]", text) == select("$..*", text) == []
