"""Regular expressions under a time limit, by the `regex` package, which interrupts itself.

A search runs inline for a few milliseconds. Where that is not enough it raises `SlowPattern`;
whoever called the grader then calls it again in a thread, inside `time_limit`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import regex

INLINE_SECONDS = 0.005
"""How long the patterns of one search may take on the event loop."""

THREAD_SECONDS = 1.0
"""How long all patterns of one grade may take in a thread."""

_deadline: ContextVar[float | None] = ContextVar("pattern_deadline", default=None)


class SlowPattern(Exception):  # noqa: N818  (an outcome of a search, not a mistake)
    """A pattern needs more time than it has here; `limited` says that it had its full time."""

    def __init__(self, pattern: str, *, limited: bool) -> None:
        super().__init__(f"pattern {pattern!r} took longer than its time limit")
        self.limited = limited


class PatternError(ValueError):
    """A text is no regular expression; the message says why and where."""


@lru_cache(maxsize=1024)
def compile_pattern(text: str) -> regex.Pattern[str]:
    """Compile a pattern; the same text is compiled once.

    Raises:
        PatternError: the text is no regular expression.
    """
    try:
        return regex.compile(text)
    except (regex.error, OverflowError, RecursionError, ValueError, MemoryError) as error:
        raise PatternError(str(error)) from error


@contextmanager
def time_limit(seconds: float = THREAD_SECONDS) -> Iterator[None]:
    """Let the searches inside take this long together; each releases the interpreter lock."""
    token = _deadline.set(time.perf_counter() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def search(text: str, subject: str, start: int = 0) -> regex.Match[str] | None:
    """Find the first match of the pattern `text` in `subject`, from character `start` on.

    Raises:
        PatternError: the pattern is none.
        SlowPattern: the time limit has passed.
    """
    pattern = compile_pattern(text)
    deadline = _deadline.get()
    left = INLINE_SECONDS if deadline is None else deadline - time.perf_counter()
    try:
        if left > 0:
            return pattern.search(
                subject, start, timeout=left, concurrent=None if deadline is None else True
            )
    except TimeoutError:
        pass
    raise SlowPattern(text, limited=deadline is not None)


def find_all(text: str, subject: str) -> list[regex.Match[str]]:
    """Find every match that does not overlap an earlier one; raises as `search` does."""
    pattern = compile_pattern(text)
    deadline = _deadline.get()
    left = INLINE_SECONDS if deadline is None else deadline - time.perf_counter()
    try:
        if left > 0:
            found = pattern.finditer(
                subject, timeout=left, concurrent=None if deadline is None else True
            )
            return list(found)
    except TimeoutError:
        pass
    raise SlowPattern(text, limited=deadline is not None)
