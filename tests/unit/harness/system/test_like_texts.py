"""What like sentences have in common."""

import pytest

from harness.system.like_texts import alike, split_place


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("KeyError: 'a' (g.py:7)", "KeyError: 'b' (g.py:7)", "KeyError: … (g.py:7)"),
        ('no "x", "y" matched', 'no "z" matched', "no … matched"),
        ("POST http://127.0.0.1:1/v1/chat: 503", "POST http://10.0.0.9:2/v1/chat: 429",
         "POST http://…/chat: …"),
        ("waiting 1.75 s", "waiting 2 s", "waiting … s"),
    ],
)  # fmt: skip
def test_like_sentences_are_one(one, other, shown):
    assert (alike(one), alike(other)) == (shown, shown)


def test_sentences_that_differ_in_words_or_in_the_place_are_two():
    assert alike("KeyError: 'a' (g.py:7)") != alike("KeyError: 'a' (g.py:8)")
    assert alike("not found") != alike("forbidden")


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("KeyError: 'a' (g.py:7)", ("KeyError: 'a'", " (g.py:7)")),
        ("KeyError: 'a'", ("KeyError: 'a'", "")),
        ("(of two) it broke", ("(of two) it broke", "")),
        (f"x{' (' * 5_000}", (f"x{' (' * 5_000}", "")),
    ],
    ids=["place", "none", "brackets", "many brackets"],
)
def test_the_place_in_code_is_split_off(sentence, parts):
    assert split_place(sentence) == parts
