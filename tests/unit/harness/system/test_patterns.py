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


@pytest.mark.parametrize(
    "text",
    [
        "(?R)a",
        "((?1)?a)+b",
        "(?P<n>a(?&n)?)",
        "(?P<n>a(?P>n)?)",
        "(?P<n>a(?P&n)?)",
        "(?x)((?1 )?a)+b",
        "(?x)((?1 # once more\n)?a)+b",
        "(?V1x)((?1 )?a)+b",
        "(?x: ((?- 1)?a)+b)",
        "(?x:(?|(?x)) # (\n((?1 )?a)+b)",
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "a{10000000}",
        "a{1000000000}",
        "a{10000000,}",
        "(?:ab){50000000}",
        "((a{1000}){1000}){1000}",
        "(?:(?:[)]{1000}){1000}){1000}",
        "(?x)(?: a{1000} # (\n){ 1 0 0 0 }",
        "(?V1)(?:[[a])]{1000}){1000}",
        "(?x)(?|(?x))(a{1000}#(\n){1000}",
    ],
)
def test_repeats_that_would_fill_the_memory_are_refused(text):
    with pytest.raises(PatternError, match="repeats written out"):
        compile_pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}",
        r"^(?:[0-9a-f]{40}[ \n]){5}(?:[^,]*,){20}(?:[^,]*,){20}(?:[^,]*,){20}$",
        ".{0,1000000}",
        "(?s).{50000}",
        r"[({]{3}\){1000}\({1000}",
        "(?x)a{3} # (b{100000}){100000}\n",
    ],
)
def test_usual_repeats_are_allowed(text):
    assert compile_pattern(text)


PERIODIC = ["x" * 10_000, "ab" * 5_000, "y" + "x" * 9_999, "(?r)" + "x" * 10_000 + "y"]
PERIODIC += ["(?i)" + "x" * 10_000, "[x]" * 9_000, r"\x78" * 9_000, "(?x)" + "x " * 9_000]
PERIODIC += ["z|" + "x" * 10_000, "(?:x)" * 9_000, "y?" + "{" + "x" * 10_000 + "}", "{x" * 5_000]


@pytest.mark.parametrize("text", PERIODIC, ids=lambda text: text[:8])
def test_a_long_literal_is_searched_within_the_time_limit(text):
    expected = "y" not in text and "{" not in text and "a" not in text
    with time_limit(20):
        assert (search(text, "x" * 100_000) is not None) is expected


@pytest.mark.parametrize("text", ["(?V1)" + "x" * 10_000, "(?x)(?|" + "x" * 10_000 + ")"])
def test_a_long_pattern_that_cannot_be_read_in_detail_is_refused(text):
    with pytest.raises(PatternError, match="too long"):
        compile_pattern(text)


def test_a_pattern_with_a_long_literal_finds_what_it_says():
    words = " ".join(f"word{number}" for number in range(100))
    found = search(f"({words})( end)?", f"start {words} end")
    assert found.groups() == (words, " end")
    with pytest.raises(PatternError, match="position 690"):
        compile_pattern(f"{words}(")


def test_neither_a_large_pattern_nor_a_long_text_is_dealt_with_on_the_event_loop():
    for pattern, text in (("a{5000}", "a"), ("a", "a" * 200_000)):
        with inline_limit(), pytest.raises(SlowPattern) as caught:
            search(pattern, text)
        assert not caught.value.limited
    with inline_limit(), pytest.raises(SlowPattern):
        find_all("a", "b" * 200_000)


def test_finding_all_matches_keeps_the_limit():
    with time_limit(0.05), pytest.raises(SlowPattern):
        find_all(".", "x" * 10_000_000)
