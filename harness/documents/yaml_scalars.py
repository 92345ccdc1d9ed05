"""What an unquoted YAML scalar means, by the core schema of YAML 1.2 (section 10.3.2).

`NO`, `on`, `12:30:00` and dates are texts there; only a program from the days of YAML 1.1 takes
them for something else.
"""

import math
import re

from harness.documents.nodes import LARGEST, Node, Scalar, Scalars

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]+")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LONGEST_NUMBER = 300


def resolve_scalar(text: str) -> Scalars:
    """Return the value of an unquoted scalar; numbers that are not finite stay texts."""
    if text in _NULL:
        return None
    return text if (value := resolve_number(text)) is None else value


def resolve_number(text: str) -> int | float | bool | None:
    """Return the number or truth value that a text writes; None where it writes neither."""
    if text in _BOOL:
        return _BOOL[text]
    if len(text) > _LONGEST_NUMBER:
        return None
    if _INT.fullmatch(text):
        return int(text)
    if _RADIX.fullmatch(text):
        value = int(text, 0)
        return value if value < LARGEST else None
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else None
    return None


def has_leading_zero(text: str) -> bool:
    """Say whether a whole number begins with a zero, which means eight things to eight readers."""
    return _LEADING_ZERO.fullmatch(text) is not None


def keeps_its_text(node: Scalar) -> bool:
    """Say whether writing the value gives the text that was read."""
    if node.written is None or isinstance(node.value, str) or node.value is None:
        return True
    if isinstance(node.value, bool):
        return node.written == str(node.value).lower()
    return node.written == repr(node.value)


def is_json_number(node: Node) -> bool:
    """Say whether an unquoted scalar is a number as JSON writes one."""
    if not isinstance(node, Scalar) or node.written is None:
        return False
    return isinstance(node.value, bool) or _JSON_NUMBER.fullmatch(node.written) is not None
