"""What like sentences have in common, so that they can be told once."""

import re

_VARYING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\b\w*\d[\w.:-]*")
"""What differs between like sentences: quoted texts, and words with digits in them."""

_PLACE = re.compile(r" \([^()\s]{1,200}:\d{1,9}\)$")


def alike(sentence: str) -> str:
    """Take out of a sentence what differs between like ones; a place in code at its end stays."""
    said, place = split_place(sentence)
    shown = _VARYING.sub("…", said)
    # An address that lost several of its parts has lost one.
    shown = re.sub(r"…(?:[\s,/]*…)+", "…", shown)
    return f"{shown}{place}"


def split_place(sentence: str) -> tuple[str, str]:
    """Split off the place in code that a sentence ends in, such as ` (checks.py:7)`."""
    found = _PLACE.search(sentence)
    return (sentence, "") if found is None else (sentence[: found.start()], found.group())
