"""Laws of the numbers in texts: they are told in every spelling, and nothing else tells them."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from graders.token_bounds import find_whole
from graders.told_numbers import number_of, numbers_in

numbers = st.decimals(-(10**9), 10**9, places=2) | st.integers(-(10**9), 10**9).map(Decimal)
spellings = st.sampled_from(["{}", "{:,}"])
arounds = st.sampled_from(
    ["{}", "It is {}.", "({})", "**{}**!", "$5: {}, or so", "a={}", "- {} km"]
)


@given(numbers, spellings, arounds)
def test_a_number_is_told_with_its_sign_where_it_stands(number, spelling, around):
    written = spelling.format(number)
    text = around.format(written)
    start, end = numbers_in(text)[number]
    assert text[start:end] == written
    assert number_of(written) == number


@given(numbers, spellings, arounds)
def test_no_other_number_is_told(number, spelling, around):
    told = set(numbers_in(around.format(spelling.format(number))))
    assert told - {Decimal(5)} == {number} - {Decimal(5)}


@given(
    st.integers(0, 10**6),
    st.sampled_from(["v{}", "{}th", "A-{}", "{}-A", "3-{}", "{}.1.2", "{},5"]),
)
def test_a_part_of_a_name_tells_no_number(number, name):
    text = name.format(number)
    assert Decimal(number) not in numbers_in(text)
    assert find_whole(str(number), text, signed=True) is None


@given(numbers, numbers)
def test_a_text_tells_both_of_two_numbers(one, other):
    assert set(numbers_in(f"{one} and {other:,}")) == {one, other}


@given(st.text())
def test_reading_numbers_is_total_and_points_at_what_is_there(text):
    for number, (start, end) in numbers_in(text).items():
        assert 0 <= start < end <= len(text)
        assert number.is_finite()
    number_of(text)


@given(st.text(min_size=1), st.text(), st.text())
def test_what_stands_whole_with_its_sign_stands_whole_without(value, before, after):
    text = f"{before}{value}{after}"
    strict = find_whole(value, text, signed=True)
    loose = find_whole(value, text)
    assert strict is None or (loose is not None and loose <= strict)
    assert strict is None or text[slice(*strict)] == value
