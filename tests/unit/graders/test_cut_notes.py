"""Notes that a tool output was cut."""

import pytest

from graders.cut_notes import CutNotes

NOTE = "[... 4096 characters truncated ...]"


@pytest.mark.parametrize(
    ("start", "end", "touched"),
    [(0, 2, False), (1, 3, True), (10, 12, True), (2, 37, True), (36, 39, True), (37, 39, False)],
)
def test_what_touches_a_note_is_recognised(start, end, touched):
    assert CutNotes(f"ab{NOTE}cd{NOTE}").touch(start, end) is touched


def test_a_text_without_notes_touches_none():
    assert not CutNotes("4096 truncated").touch(0, 4)
