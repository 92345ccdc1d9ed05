"""Laws of looking for many values at once: it finds what looking for each one finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders import value_search
from graders.token_bounds import find_whole
from graders.value_search import ValueSearch

letters = st.text("ab-1. ", max_size=40)
values = st.sets(st.text("ab-1.", max_size=20) | st.text("a", max_size=20), max_size=20)


@pytest.fixture(params=[0, 10**9], ids=["all at once", "one by one"], scope="module", autouse=True)
def _way(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_search, "_LOOKUP_NANOSECONDS", request.param)
        yield


@given(values, st.lists(letters, max_size=3))
def test_every_value_is_found_in_the_first_text_that_holds_it(wanted, texts):
    search = ValueSearch()
    for value in wanted:
        search.add(value)
    left = {value for value in wanted if value}
    for text in texts:
        here = {value: (text.find(value), text.find(value) + len(value)) for value in left}
        here = {value: span for value, span in here.items() if span[0] >= 0}
        assert search.find_in(text) == here
        left -= set(here)


@given(values, letters)
def test_every_whole_value_is_found_where_it_stands_whole(wanted, text):
    search = ValueSearch(whole=True)
    for value in wanted:
        search.add(value)
    alone = {value: find_whole(value, text, signed=True) for value in wanted}
    assert search.find_in(text) == {value: span for value, span in alone.items() if span}
