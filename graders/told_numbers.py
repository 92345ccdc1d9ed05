"""The numbers that a text tells, each as a whole: with its sign, and not as a part of a name.

`-5` is not 5, `v5`, `5th`, `A-5`, `3-5` and `1.2.3` tell no number, `12,50` is no 1250. Thousands
may be separated (`1,250`), and a unit of measure may follow at once (`5km`).
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation

import regex

from graders.normalised_texts import THOUSANDS
from graders.token_bounds import goes_on_after, goes_on_before, sign_before
from harness.system.patterns import check_time

_LONGEST = 60
_GROUPED = rf"\d{{1,3}}(?:[{THOUSANDS}]\d{{3}})++(?!\d)(?:\.\d++)?"
_PLAIN = r"(?:\d++(?:\.\d++)?|(?<![\w.])\.\d++)"
_NUMBER = regex.compile(rf"{_GROUPED}|{_PLAIN}(?:[eE][-+]?\d{{1,3}}+(?!\w))?")
_ALONE = regex.compile(rf"(?P<sign>[-\u2212+]?)(?P<digits>{_GROUPED}|{_PLAIN})")
_MARKS = dict.fromkeys(map(ord, THOUSANDS))
_UNIT = regex.compile(
    r"(?:[kKMGT]?i?B|[kMG]?Hz|[kM]?Wh?|[kcmn\u00b5]?m|k?g|mg|[mn\u00b5]?s|m?[lL]|min|h|px|ft|lb|mph)"
    r"(?!\w)"
)


def numbers_in(text: str) -> Mapping[Decimal, tuple[int, int]]:
    """Return the numbers that a text tells, each with its first place, the sign included.

    Raises:
        SlowPattern: the time limit has passed.
    """
    found: dict[Decimal, tuple[int, int]] = {}
    for number, span in _numbers(text):
        found.setdefault(number, span)
    return found


def number_of(text: str) -> Decimal | None:
    """Return the number that a text is; None for any other text."""
    match = _ALONE.fullmatch(text)
    if match is None:
        return None
    number = _decimal(match["digits"])
    return -number if number is not None and match["sign"] in ("-", "\u2212") else number


def _numbers(text: str) -> Iterator[tuple[Decimal, tuple[int, int]]]:
    for match in _NUMBER.finditer(text):
        check_time("the numbers", what="reading")
        start, end = match.span()
        sign = sign_before(text, start)
        number = _decimal(match.group())
        if number is None or sign is None or goes_on_before(text, start):
            continue
        if not goes_on_after(text, end) or _UNIT.match(text, end):
            first = start - len(sign)
            yield (-number if sign else number), (first, end)


def _decimal(digits: str) -> Decimal | None:
    if len(digits) > _LONGEST:
        return None
    try:
        return Decimal(digits.translate(_MARKS))
    except InvalidOperation:
        return None
