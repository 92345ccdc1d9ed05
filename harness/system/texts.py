"""Texts made safe: for storing (lone surrogates) and for showing (control characters)."""

import re
import traceback
from pathlib import Path

_HARMFUL = re.compile(
    # control characters, line and paragraph separators
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
    # marks, embeddings, overrides and isolates of the direction in which text runs
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
    # what nobody sees, yet stands there: spaces of no width, annotations, tags
    "\u00ad\u180e\u200b\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    # lone surrogates
    "\ud800-\udfff]"
)


def scrub(text: str) -> str:
    """Replace lone surrogates by U+FFFD; joined pairs become the character they stand for."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def harmless(text: str) -> str:
    r"""Show control characters, text-direction overrides and what is invisible as escapes.

    Line feeds and tabs stay; `\x1b[31m` is shown as those letters.
    """
    return _HARMFUL.sub(lambda m: ascii(m.group())[1:-1], text)


def one_line(text: str, width: int = 0) -> str:
    """Show a text on one line, harmless; cut with an ellipsis to `width` characters if given."""
    # What is cut off need not be made harmless; every character shows as one or more.
    line = harmless(text[: width + 1] if width else text)
    line = line.replace("\n", "\\n").replace("\t", "\\t")
    return cut(line, width) if width else line


def cut(text: str, most: int) -> str:
    """Shorten a text to `most` characters; an ellipsis says that it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def error_place(error: BaseException) -> str:
    """Describe an exception as `Type (file:line)`, without anything that it says."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{place}"


def error_line(error: BaseException) -> str:
    """Describe an exception as `Type: message`, also one that cannot be turned into text."""
    try:
        message = str(error)
    except (Exception, SystemExit):  # noqa: BLE001  (the exception is a stranger's)
        message = "(its message cannot be shown)"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
