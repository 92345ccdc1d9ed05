"""Texts brought into one form, so that what means the same reads the same.

NFC; runs of white space, no-break spaces among them, are one blank; ends are stripped.
"""

import html
import unicodedata
from collections.abc import Collection
from typing import Literal

import regex

from harness.system.patterns import check_size, check_time

Ignored = Literal["case", "html", "invisible"]
"""What may be left aside besides: upper and lower case, HTML entities, invisible characters."""

_INVISIBLE = regex.compile(r"[\p{Cf}\p{Variation_Selector}]++")
THOUSANDS = ",'\u2019\u202f\u2009\u00a0"
"""The characters that separate thousands."""

_GROUPED = regex.compile(
    rf"(?<![\d.,'\u2019\u202f\u2009])\d{{1,3}}(?:[{THOUSANDS}]\d{{3}})++(?!\d)"
)
_NUMBERS = r"[-+]?\d++(?:\.\d++)?+(?:, ?[-+]?\d++(?:\.\d++)?+)++"
_LIST = regex.compile(rf"{_NUMBERS}|\({_NUMBERS}\)|\[{_NUMBERS}\]")
_SPACED_COMMA = regex.compile(r"(?<=\d), (?=[-+]?\d)")
_SEPARATORS = dict.fromkeys(map(ord, THOUSANDS))


def normalise(text: str, ignore: Collection[Ignored] = ()) -> str:
    """Bring a text into its normal form.

    Raises:
        SlowPattern: the time limit has passed.
    """
    check_size("the texts", len(text))
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    if "html" in ignore:
        text = html.unescape(text)
    if "invisible" in ignore:
        text = _INVISIBLE.sub("", text)
    if "case" in ignore:
        text = text.casefold()
    check_time("the texts", what="comparing")
    return " ".join(text.split())


def ungroup(text: str) -> str:
    """Write numbers without the separators of their thousands: `73,815` is `73815`."""
    if not any(mark in text for mark in THOUSANDS):
        return text
    return _GROUPED.sub(lambda match: match.group().translate(_SEPARATORS), text)


def is_number_list(text: str) -> bool:
    """Say whether a normal form is several numbers and their commas, such as `2, 5` or `(2,5)`.

    A number with its thousands separated is one number.
    """
    return _LIST.fullmatch(text) is not None and ungroup(text) == text


def close_up(text: str) -> str:
    """Write the lists of numbers in a normal form without blanks: `2, 5` is `2,5`."""
    return _SPACED_COMMA.sub(",", text)
