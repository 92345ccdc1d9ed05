"""Many values in texts, each found once at its first place."""

import pytest

from graders.value_search import ValueSearch
from harness.system.patterns import SlowPattern, time_limit


def search_of(values, **options):
    search = ValueSearch(**options)
    for value in values:
        search.add(value)
    return search


def test_a_value_is_found_once_and_at_its_first_place():
    search = search_of(["ab", "abc", "x", ""])
    assert search.find_in("-abc-ab-") == {"ab": (1, 3), "abc": (1, 4)}
    assert search.find_in("abc x") == {"x": (4, 5)}


def test_many_values_with_the_same_beginning_are_told_apart():
    values = [f"https://example.org/orders/{n}" for n in range(3_000)]
    search = search_of(values)
    found = search.find_in(" ".join(reversed(values)))
    assert len(found) == 3_000
    assert search.find_in(values[7]) == {}


def test_a_whole_value_is_no_part_of_a_longer_one():
    numbers = [str(n) for n in range(2_000)]
    found = search_of(numbers, whole=True).find_in("7 77 777x -5 12.5 A-9 9")
    assert found == {"7": (0, 1), "77": (2, 4), "9": (22, 23)}


def test_looking_for_hostile_values_keeps_to_the_time_limit():
    search = search_of(["a" * n + "b" for n in range(16, 3_000)])
    with time_limit(0.1), pytest.raises(SlowPattern):
        search.find_in("a" * 1_000_000)
