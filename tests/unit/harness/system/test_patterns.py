"""Regular expressions under a time limit."""

import pytest

from harness.system.patterns import (
    PatternError,
    SlowPattern,
    check_time,
    compile_pattern,
    find_all,
    inline_limit,
    search,
    time_limit,
)
from harness.system.threads import in_thread

ENDLESS, LONG = "(?:x|xx)+y", "x" * 5000


def test_a_match_is_found_from_a_place_on():
    assert search("a.", "abac", 1).group() == "ac"
    assert search("z", "abac") is None


def test_all_matches_are_found():
    assert [match.group() for match in find_all(r"\d", "1a2")] == ["1", "2"]


@pytest.mark.parametrize("look", [search, find_all])
def test_a_pattern_that_runs_over_is_stopped_where_it_runs_inline(look):
    with pytest.raises(SlowPattern) as caught:
        look(ENDLESS, LONG)
    assert not caught.value.limited


async def test_a_pattern_that_runs_over_its_limit_in_a_thread_is_stopped_too():
    def look():
        with time_limit(0.05):
            search(ENDLESS, LONG)

    with pytest.raises(SlowPattern) as caught:
        await in_thread(look)
    assert caught.value.limited


def test_a_limit_is_for_all_searches_together():
    with time_limit(0.0), pytest.raises(SlowPattern):
        search("a", "a")


@pytest.mark.parametrize("text", ["(", "[a", "(?P<n>a)(?P<n>b)(", "a{99999999999999999999}", "*"])
def test_a_text_that_is_no_pattern_says_so(text):
    with pytest.raises(PatternError):
        compile_pattern(text)


@pytest.mark.parametrize("text", ["(?R)a", "((?1)?a)+b", "(?P<n>a(?&n)?)", "(?P<n>a(?P>n)?)"])
def test_a_pattern_that_calls_itself_could_fill_the_memory_and_is_refused(text):
    with pytest.raises(PatternError, match="calls itself"):
        compile_pattern(text)


def test_searches_on_the_event_loop_share_their_milliseconds():
    with inline_limit():
        with pytest.raises(SlowPattern):
            search(ENDLESS, LONG)
        with pytest.raises(SlowPattern) as caught:
            search("a", "a")
        with pytest.raises(SlowPattern):
            check_time("a")
    assert not caught.value.limited
    assert search("a", "a")
    check_time("a")


def test_a_long_pattern_is_not_compiled_on_the_event_loop_and_a_huge_one_nowhere():
    with inline_limit(), pytest.raises(SlowPattern) as caught:
        search("a" * 1001, "a")
    assert not caught.value.limited
    with time_limit():
        assert search("a" * 1001, "a") is None
    with pytest.raises(PatternError, match="longer than 100,000 characters"):
        compile_pattern("a" * 100_001)
