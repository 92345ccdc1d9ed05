"""Foreign texts in Markdown."""

import pytest
from markdown_it import MarkdownIt

from harness.reports.markdown_spans import code_span, plain_words

VIEWER = MarkdownIt("commonmark", {"linkify": False})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "`plain`"),
        ("a`b", "``a`b``"),
        ("`a``", "``` `a`` ```"),
        (" a ", "`  a  `"),
        ("a\nb", "`a\\nb`"),
        ("\x1b[31m", "`\\x1b[31m`"),
        ("", "(nothing)"),
        ("  ", "(nothing)"),
    ],
)
def test_a_text_is_code_whatever_it_holds(text, shown):
    assert code_span(text) == shown


def test_a_long_text_is_cut():
    assert code_span("abcdef", 4) == "`abc…`"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("calls `look_up` with *all*", "calls <code>look_up</code> with *all*"),
        ("max_error_rate is _high_", "max_error_rate is _high_"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("![a](b) [c](d)", "![a](b) [c](d)"),
        ("# not a title | a", "# not a title | a"),
        ("a ` alone", "a ` alone"),
        (r"a \ b", r"a \ b"),
        ("1. x", "1. x"),
    ],
)
def test_in_a_sentence_of_ours_only_names_are_code(text, html):
    assert VIEWER.renderInline(plain_words(text)) == html


@pytest.mark.parametrize(
    "text",
    [
        "ask @someone",
        "see https://a.example/x",
        "WWW.a.example",
        "closes #12",
        "closes gh-12",
        "a :tada:",
        f"see {'0a' * 20}",
        "see 1a2b3c4",
    ],
)
def test_what_viewers_link_by_themselves_becomes_code(text):
    assert plain_words(text) == f"`{text}`"


@pytest.mark.parametrize("text", ["1. x", "12) x", "+ x", "- x", "=== x", "1.", "-"])
def test_what_begins_a_line_makes_no_list_and_no_title(text):
    assert VIEWER.render(plain_words(text)) == f"<p>{text}</p>\n"
    assert VIEWER.render(f"a\n{plain_words(text)}") == f"<p>a\n{text}</p>\n"


@pytest.mark.parametrize("text", ["1.5 points", "t-20311231T235959000Z-0fb63b", "a: b: c", "-1.5"])
def test_what_only_looks_alike_stays_plain(text):
    assert "`" not in plain_words(text)


def test_what_is_linked_inside_a_name_is_code_already():
    assert plain_words("skips `@x`") == "skips `@x`"
