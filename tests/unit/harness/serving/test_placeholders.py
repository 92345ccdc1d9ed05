import re

import pytest

from harness.serving.placeholders import MissingValue, Slot, fill, fill_json, invent, slots

VALUES = {"service": "cart-api", "n": "12", "half": "-0.5", "code": "007", "braces": "{n}"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("", ""),
        ("no braces", "no braces"),
        ("{service}", "cart-api"),
        ("{service}{n} and {service}", "cart-api12 and cart-api"),
        ('{{"n": {n}}}', '{"n": 12}'),
        ("{{service}}", "{service}"),
        ("{{{n}}}", "{12}"),
    ],
)
def test_placeholders_are_replaced_and_doubled_braces_become_single(text, filled):
    assert fill(text, VALUES) == filled


def test_what_is_filled_in_is_never_filled_again():
    assert fill("{braces}", VALUES) == "{n}"


@pytest.mark.parametrize("text", ["{", "}", "a { b", "{}", "{0}", "{a b}", "{n!r}", "{{n}", "{n"])
def test_a_single_brace_is_refused(text):
    with pytest.raises(ValueError, match="a single brace"):
        fill(text, VALUES)


def test_a_value_that_is_not_there_is_named():
    with pytest.raises(MissingValue, match=r"no value for \{other\}"):
        fill("{other}", VALUES)


def test_slots_are_given_in_order_with_their_options():
    assert slots("{a} {{b}} {c:number}{a}") == (Slot("a"), Slot("c", "number"), Slot("a"))


@pytest.mark.parametrize(
    ("argument", "filled"),
    [
        ("{n}", "12"),
        ("{n:number}", 12),
        ("{half:number}", -0.5),
        ({"a": ["{n:number}", {"b": "{service}!"}], "c": None, "d": 3, "e": True}, None),
    ],
)
def test_an_argument_is_text_unless_it_asks_for_a_number(argument, filled):
    nested = {"a": [12, {"b": "cart-api!"}], "c": None, "d": 3, "e": True}
    assert fill_json(argument, VALUES) == (nested if filled is None else filled)


@pytest.mark.parametrize("text", ["007", "1e5", "0x10", "NaN", "12 ", "9" * 5_000, "١٢", ""])
def test_a_value_that_is_no_number_of_json_is_not_made_one(text):
    with pytest.raises(MissingValue, match="not a number"):
        fill_json("{x:number}", {"x": text})


def test_an_invented_value_follows_its_spec_and_its_seed():
    spec = "rt_{hex:16}-{digits:3}-{letters:2}-{pick:red|blue}"
    made = {invent(spec, str(seed)) for seed in range(50)}
    shape = re.compile(r"rt_[0-9a-f]{16}-[0-9]{3}-[a-z]{2}-(red|blue)")
    assert len(made) == 50
    assert all(shape.fullmatch(text) for text in made)
    assert invent(spec, "1") == invent(spec, "1")
