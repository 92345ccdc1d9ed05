"""Regular expressions under a time limit, by the `regex` package, which interrupts itself.

A search runs inline for a few milliseconds. Where that is not enough it raises `SlowPattern`;
whoever called the grader then calls it again in a thread, inside `time_limit`.
"""

import re
import time
from contextvars import ContextVar, Token
from functools import lru_cache
from types import TracebackType
from typing import Self

import regex

INLINE_SECONDS = 0.005
"""How long patterns may take on the event loop: those inside one `inline_limit` together."""

THREAD_SECONDS = 1.0
"""How long all patterns of one grade may take in a thread."""

INLINE_CHARACTERS = 1_000
"""How long a pattern may be to be compiled on the event loop: it takes some 3 us a character."""

MOST_CHARACTERS = 100_000
"""How long a pattern may be at all: compiling cannot be interrupted."""

_RECURSION = re.compile(r"\(\?(?:R|[+-]?\d+|&\w+|P>\w+)\)")
"""A pattern that calls itself: `(?R)`, `(?1)`, `(?&name)`, `(?P>name)`."""

_limit: ContextVar["TimeLimit | None"] = ContextVar("pattern_limit", default=None)


class SlowPattern(Exception):  # noqa: N818  (an outcome of a search, not a mistake)
    """A pattern needs more time than it has here; `limited` says that it had its full time."""

    def __init__(self, pattern: str, *, limited: bool) -> None:
        shown = pattern if len(pattern) <= 200 else f"{pattern[:200]}…"  # noqa: PLR2004
        super().__init__(f"pattern {shown!r} took longer than its time limit")
        self.limited = limited


class PatternError(ValueError):
    """A text is no regular expression; the message says why and where."""


class TimeLimit:
    """Bounds the searches inside a `with` block together; `final` says that no other try comes."""

    __slots__ = ("_token", "deadline", "final", "seconds")

    def __init__(self, seconds: float, *, final: bool) -> None:
        self.seconds = seconds
        self.final = final

    def __enter__(self) -> Self:
        self.deadline = time.perf_counter() + self.seconds
        self._token: Token[TimeLimit | None] = _limit.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        _limit.reset(self._token)


def time_limit(seconds: float = THREAD_SECONDS) -> TimeLimit:
    """Let the searches inside take this long together; each releases the interpreter lock."""
    return TimeLimit(seconds, final=True)


def inline_limit() -> TimeLimit:
    """Let the searches inside take a few milliseconds together, holding up the event loop."""
    return TimeLimit(INLINE_SECONDS, final=False)


def check_time(pattern: str) -> None:
    """Stop work that goes on beside the searches of a pattern, such as comparing what it found.

    Raises:
        SlowPattern: the time limit around has passed.
    """
    limit = _limit.get()
    if limit is not None and time.perf_counter() > limit.deadline:
        raise SlowPattern(pattern, limited=limit.final)


@lru_cache(maxsize=1024)
def _compile(text: str) -> regex.Pattern[str]:
    if len(text) > MOST_CHARACTERS:
        raise PatternError(f"longer than {MOST_CHARACTERS:,} characters")
    if _RECURSION.search(text):
        # Within its second, `((?1)?a)+b` fills hundreds of megabytes.
        raise PatternError("a pattern that calls itself is refused: it can fill the memory")
    try:
        return regex.compile(text)
    except (regex.error, OverflowError, RecursionError, ValueError, MemoryError) as error:
        raise PatternError(str(error)) from error


def compile_pattern(text: str) -> regex.Pattern[str]:
    """Compile a pattern; the same text is compiled once.

    Raises:
        PatternError: the text is no regular expression.
        SlowPattern: it is too long to be compiled on the event loop.
    """
    if len(text) > INLINE_CHARACTERS:
        limit = _limit.get()
        if limit is not None and not limit.final:
            raise SlowPattern(text, limited=False)
    return _compile(text)


def search(text: str, subject: str, start: int = 0) -> regex.Match[str] | None:
    """Find the first match of the pattern `text` in `subject`, from character `start` on.

    Raises:
        PatternError: the pattern is none.
        SlowPattern: the time limit has passed.
    """
    pattern = compile_pattern(text)
    seconds, concurrent = _allowance(text)
    try:
        return pattern.search(subject, start, timeout=seconds, concurrent=concurrent)
    except TimeoutError:
        raise SlowPattern(text, limited=concurrent is not None) from None


def find_all(text: str, subject: str) -> list[regex.Match[str]]:
    """Find every match that does not overlap an earlier one; raises as `search` does."""
    pattern = compile_pattern(text)
    seconds, concurrent = _allowance(text)
    try:
        return list(pattern.finditer(subject, timeout=seconds, concurrent=concurrent))
    except TimeoutError:
        raise SlowPattern(text, limited=concurrent is not None) from None


def _allowance(text: str) -> tuple[float, bool | None]:
    """Return the seconds that are left, and whether the search releases the interpreter lock."""
    limit = _limit.get()
    if limit is None:
        return INLINE_SECONDS, None
    seconds = limit.deadline - time.perf_counter()
    if seconds <= 0:
        raise SlowPattern(text, limited=limit.final)
    return seconds, True if limit.final else None
