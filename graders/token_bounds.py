"""Finding a value in a text as a whole: not as a part of a longer word or number."""

import regex

from harness.system.patterns import check_time

_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
)
_WORD_END = regex.compile(r"\W|\Z")


def find_whole(wanted: str, text: str) -> tuple[int, int] | None:
    """Return where a value stands in a text with nothing beside it that would make it longer.

    `42` stands in `(42)` and `42%`, not in `421`, `x42`, `4.42` or `42.5`.

    Raises:
        SlowPattern: the time limit has passed.
    """
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        check_time(wanted, what="looking for")
        end = at + len(wanted)
        if not _goes_on_before(text, at):
            if not _goes_on_after(text, end):
                return at, end
            at = text.find(wanted, at + 1)
        else:
            # Inside of a word no later start is better.
            following = _WORD_END.search(text, at)
            at = text.find(wanted, max(at + 1, following.start() if following else len(text)))
    return None


def _goes_on_before(text: str, at: int) -> bool:
    if at == 0 or not _is_word(text[at]):
        return False
    before = text[at - 1]
    inside_number = before in ".," and text[at].isdigit() and text[at - 2 : at - 1].isdigit()
    return _is_word(before) or inside_number


def _goes_on_after(text: str, end: int) -> bool:
    if end == len(text) or not _is_word(text[end - 1]):
        return False
    after = text[end]
    inside_number = after in ".," and text[end - 1].isdigit() and text[end + 1 : end + 2].isdigit()
    return _is_word(after) or inside_number


def _is_word(character: str) -> bool:
    """Say whether a character makes a word longer; scripts without blanks have no such words."""
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)
