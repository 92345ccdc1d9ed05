"""Foreign texts in Markdown: nothing in them is markup, a link, or a mention of somebody."""

import re

from harness.system.texts import one_line

_LINKED = re.compile(
    r"@|://|www\.|#\d|\bGH-\d|:[a-z0-9_+-]+:|\b[0-9a-f]{40}\b|(?<![\w.-])[0-9a-f]{7,39}(?![\w.-])",
    re.IGNORECASE,
)
"""What the viewers of Markdown turn into links and mentions even where its signs are escaped."""


_SIGNS = re.compile(r"(?P<inside>(?<=[^\W_])_+(?=[^\W_]))|[\\`*\[\]<>&#|~$_]")
"""What is markup, but for underscores inside a word, which are nothing but themselves."""


def code_span(text: str, width: int = 0) -> str:
    """Show a text as inline code on one line, cut to `width` characters if given.

    Inside code nothing is markup, HTML, a link, or a mention of a person or an issue.
    """
    line = one_line(text, width)
    if not line.strip():
        return "(nothing)"
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    # A blank is taken off on both sides, and stands between a backtick and the fence.
    pad = " " if {line[0], line[-1]} & {"`", " "} else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def plain_words(text: str, width: int = 0) -> str:
    """Show a sentence of ours, in which names in backticks are code and nothing else is markup.

    One that would become a link or a mention is shown as code altogether.
    """
    line = one_line(text, width)
    parts = re.split(r"(`[^`]+`)", line)
    if any(_LINKED.search(part) for part in parts[::2]):
        return code_span(line)
    shown = (_escaped(part) if index % 2 == 0 else part for index, part in enumerate(parts))
    return re.sub(r"^(\d+)(?=[.)](\s|$))|^(?=[-+=])", _escaped_begin, "".join(shown))


def _escaped_begin(found: re.Match[str]) -> str:
    # What would begin a list or underline a title: a dot behind a number, or the sign itself.
    return f"{found[0]}\\"


def _escaped(text: str) -> str:
    return _SIGNS.sub(lambda found: found["inside"] or f"\\{found[0]}", text)
