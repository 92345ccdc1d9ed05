import pytest

from harness.system.escaped_texts import readings


@pytest.mark.parametrize(
    ("text", "read", "origins"),
    [
        (r"a\/b", "a/b", [0, 1, 3, 4]),
        (r"\u0026x", "&x", [0, 6, 7]),
        (r"\u002B\n\"", '+\n"', [0, 6, 8, 10]),
        (r"\ud83d\ude00.", "😀.", [0, 12, 13]),
        (r"\ud83d.", "\ud83d.", [0, 6, 7]),
        (r"\x2b\'", "+'", [0, 4, 6]),
        (r"\\u0026", r"\u0026", [0, 2, 3, 4, 5, 6, 7]),
        ("&amp;b", "&b", [0, 5, 6]),
        ("&#x2F;&#47;", "//", [0, 6, 11]),
        ("%c3%BCx%2F", "üx/", [0, 6, 7, 10]),
        ("%ff", "\udcff", [0, 3]),
    ],
)
def test_what_escapes_stand_for_is_read_with_the_places_of_each_character(text, read, origins):
    assert list(readings(text)) == [(read, origins)]


@pytest.mark.parametrize("text", ["", "plain", r"\d \u00", "a & b", "&nosuch;", "100 %", "%zz"])
def test_what_is_no_escape_stands_for_itself(text):
    assert not list(readings(text))


@pytest.mark.parametrize("text", ["&#1;", "&#x110000;", "&#9999999;", "&NotEqualTilde;", "&notit;"])
def test_odd_escapes_keep_the_places_of_what_follows(text):
    for read, origins in readings(f"{text}end"):
        assert len(origins) == len(read) + 1
        assert [text_at - len(text) for text_at in origins[-4:]] == [0, 1, 2, 3]
