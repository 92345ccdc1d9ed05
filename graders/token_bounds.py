"""Finding a value in a text as a whole: not as a part of a longer word or number."""

import regex

from harness.system.patterns import check_time

_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
)
_WORD_END = regex.compile(r"\W|\Z")
_HYPHENS = "-\u2010\u2011\u2013\u2212"
"""Hyphens, the dash of ranges and the minus sign: between words they join, else they are signs."""

_SIGN = regex.compile(rf"(?r)(?:[{_HYPHENS}]|\bminus\s)\p{{Sc}}?", regex.IGNORECASE)
"""A minus that ends where the search does, such as `-`, `-$` or `minus `."""


def find_whole(wanted: str, text: str, *, signed: bool = False) -> tuple[int, int] | None:
    """Return where a value stands in a text with nothing beside it that would make it longer.

    `42` stands in `(42)` and `42%`, not in `421`, `x42`, `4.42` or `42.5`; with `signed` not in
    `-42`, `A-42`, `3-42` or `.42` either.

    Raises:
        SlowPattern: the time limit has passed.
    """
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        check_time(wanted, what="looking for")
        end = at + len(wanted)
        if not goes_on_before(text, at):
            if not (signed and _is_joined(text, at)) and not goes_on_after(
                text, end, signed=signed
            ):
                return at, end
            at = text.find(wanted, at + 1)
        else:
            # Inside of a word no later start is better.
            following = _WORD_END.search(text, at)
            at = text.find(wanted, max(at + 1, following.start() if following else len(text)))
    return None


def is_whole(text: str, at: int, end: int, *, signed: bool = False) -> bool:
    """Say whether what stands from `at` to `end` stands there as a whole."""
    return not (
        goes_on_before(text, at)
        or (signed and _is_joined(text, at))
        or goes_on_after(text, end, signed=signed)
    )


def goes_on_before(text: str, at: int) -> bool:
    """Say whether what begins at `at` is a part of a word or number that began before."""
    if at == 0 or not _is_word(text[at]):
        return False
    before = text[at - 1]
    inside_number = before in ".," and text[at].isdigit() and text[at - 2 : at - 1].isdigit()
    return _is_word(before) or inside_number


def goes_on_after(text: str, end: int, *, signed: bool = True) -> bool:
    """Say whether a word or number goes on at `end`; `signed` also in `42-7` and `42-B`."""
    if end == len(text) or not _is_word(text[end - 1]):
        return False
    after, following = text[end], text[end + 1 : end + 2]
    if text[end - 1].isdigit() and (
        (after in ".," and following.isdigit())
        or (signed and after in _HYPHENS and (following.isdigit() or following.isupper()))
    ):
        return True
    return _is_word(after)


def sign_before(text: str, at: int) -> str | None:
    """Return the minus before a number, empty for none; None where it is a part of another one.

    `-` is one in `-5` and `-$5`, none in `- 5` and `--5`; `A-5`, `3-5` and `.5` are others.
    """
    found = _SIGN.match(text, 0, at)
    if found is None:
        before = text[at - 2 : at - 1]
        is_decimal = text[at - 1 : at] == "." and before != "." and not _goes_on_from(before)
        return None if is_decimal else ""
    before = text[found.start() - 1 : found.start()]
    if before and before in _HYPHENS:
        return ""
    return None if _goes_on_from(before) else found.group()


def _is_joined(text: str, at: int) -> bool:
    """Say whether a sign or a hyphen before a number makes it another one."""
    if text[at] in _HYPHENS and text[at + 1 : at + 2].isdigit():
        return _goes_on_from(text[at - 1 : at])
    return text[at].isdigit() and sign_before(text, at) != ""


def _goes_on_from(before: str) -> bool:
    return bool(before) and _is_word(before)


def _is_word(character: str) -> bool:
    """Say whether a character makes a word longer; scripts without blanks have no such words."""
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)
