"""Regular expressions under a time limit, by the `regex` package, which interrupts itself.

A search runs inline for a few milliseconds. Where that is not enough it raises `SlowPattern`;
whoever called the grader then calls it again in a thread, inside `time_limit`.
"""

import threading
import time
from contextvars import ContextVar, Token
from functools import lru_cache
from types import TracebackType
from typing import Self

import regex

from harness.system.pattern_texts import PatternText, read_pattern

INLINE_SECONDS = 0.005
"""How long patterns may take on the event loop: those inside one `inline_limit` together."""

THREAD_SECONDS = 1.0
"""How long all patterns of one grade may take in a thread."""

INLINE_CHARACTERS = 1_000
"""How long a pattern may be to be compiled on the event loop: it takes some 3 us a character."""

MOST_CHARACTERS = 100_000
"""How long a pattern may be at all: compiling cannot be interrupted."""

MOST_REPEATED = 200_000
"""How large a pattern may be with its repeats written out: a character takes some 400 bytes."""

INLINE_SUBJECT_CHARACTERS = 100_000
"""How long a text may be to be searched on the event loop: some searches ignore their limit."""

_CHECKED_EVERY = 256  # matches; the time limit of `finditer` may begin anew with each

_KEPT_SIZE = 2_000
"""How large a pattern may be to be kept with a thousand others."""

_limit: ContextVar["TimeLimit | None"] = ContextVar("pattern_limit", default=None)


class _Inline(threading.local):
    """The limit of what a thread does at once, on its event loop.

    Nothing is awaited inside, so that it need be known to no other thread or task: a variable of
    the context, which is, takes longer to set than most graders take to grade.
    """

    limit: "TimeLimit | None" = None


_inline = _Inline()
"""Each thread has its own."""


def _current() -> "TimeLimit | None":
    return _inline.limit or _limit.get()


class SlowPattern(Exception):  # noqa: N818  (an outcome of a search, not a mistake)
    """A pattern needs more time than it has here; `limited` says that it had its full time.

    `what` names what it is, where it is other work under the same time limit; `place` says which.
    """

    def __init__(self, pattern: str, *, limited: bool, what: str = "pattern") -> None:
        shown = pattern if len(pattern) <= 200 else f"{pattern[:200]}…"  # noqa: PLR2004
        self.place = f"{what} {shown!r}"
        super().__init__(f"{self.place} took longer than its time limit")
        self.limited = limited


class PatternError(ValueError):
    """A text is no regular expression; the message says why and where."""


class TimeLimit:
    """Bounds the searches inside a `with` block together; `final` says that no other try comes."""

    __slots__ = ("_outer", "_token", "deadline", "final", "seconds")

    def __init__(self, seconds: float, *, final: bool) -> None:
        self.seconds = seconds
        self.final = final

    def __enter__(self) -> Self:
        self.deadline = time.perf_counter() + self.seconds
        if self.final:
            self._token: Token[TimeLimit | None] = _limit.set(self)
        else:
            self._outer, _inline.limit = _inline.limit, self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        if self.final:
            _limit.reset(self._token)
        else:
            _inline.limit = self._outer


def time_limit(seconds: float = THREAD_SECONDS) -> TimeLimit:
    """Let the searches inside take this long together; each releases the interpreter lock."""
    return TimeLimit(seconds, final=True)


def inline_limit() -> TimeLimit:
    """Let the searches inside take a few milliseconds together, holding up the event loop."""
    return TimeLimit(INLINE_SECONDS, final=False)


def check_time(pattern: str, *, what: str = "pattern") -> None:
    """Stop work that goes on beside the searches of a pattern, such as comparing what it found.

    `what` names what took too long, where that is no pattern.

    Raises:
        SlowPattern: the time limit around has passed.
    """
    limit = _current()
    if limit is not None and time.perf_counter() > limit.deadline:
        raise SlowPattern(pattern, limited=limit.final, what=what)


def check_size(name: str, characters: int, *, what: str = "comparing") -> None:
    """Stop work on a long text on the event loop, where nothing else would run meanwhile.

    Raises:
        SlowPattern: the text is too long there; in a thread it never is.
    """
    limit = _current()
    if limit is not None and not limit.final and characters > INLINE_SUBJECT_CHARACTERS:
        raise SlowPattern(name, limited=False, what=what)


def compile_pattern(text: str) -> regex.Pattern[str]:
    """Compile a pattern; the same text is compiled once.

    Raises:
        PatternError: the text is no regular expression, or one that would fill the memory.
        SlowPattern: it is too large to be compiled on the event loop.
    """
    _keep_inline_below(text, len(text), INLINE_CHARACTERS)
    if len(text) > MOST_CHARACTERS:
        raise PatternError(f"longer than {MOST_CHARACTERS:,} characters")
    size = (_read_kept if len(text) <= _KEPT_SIZE else _read_large)(text).size
    _keep_inline_below(text, size, INLINE_CHARACTERS)
    return (_compile_kept if size <= _KEPT_SIZE else _compile_large)(text)


def _keep_inline_below(text: str, size: int, most: int) -> None:
    """Raise `SlowPattern` for work of more than `most` characters on the event loop."""
    limit = _current()
    if size > most and limit is not None and not limit.final:
        raise SlowPattern(text, limited=False)


def _read(text: str) -> PatternText:
    read = read_pattern(text)
    if read.calls_itself:
        # Within its second, `((?1)?a)+b` fills hundreds of megabytes.
        raise PatternError("a pattern that calls itself is refused: it can fill the memory")
    if read.broken is None:
        raise PatternError("too long for a pattern with (?V1), or with (?x) and (?| or (?(")
    if read.size > MOST_REPEATED:
        raise PatternError(
            f"with its repeats written out, as a{{3}} is aaa, it has {read.size:,} characters; "
            f"at most {MOST_REPEATED:,} are allowed"
        )
    return read


def _compile(text: str) -> regex.Pattern[str]:
    try:
        return regex.compile(_read(text).broken or text, cache_pattern=False)
    except regex.error as error:
        raise PatternError(_reason(text, error)) from error
    except (OverflowError, RecursionError, ValueError, MemoryError) as error:
        raise PatternError(str(error)) from error


def _reason(text: str, error: regex.error) -> str:
    """Say why a pattern is invalid, and where: the place is one in the text as it was written."""
    try:
        regex.compile(text, cache_pattern=False)
    except regex.error as of_text:
        return str(of_text)
    return str(error)


_read_kept, _read_large = lru_cache(maxsize=1024)(_read), lru_cache(maxsize=4)(_read)
_compile_kept, _compile_large = lru_cache(maxsize=1024)(_compile), lru_cache(maxsize=4)(_compile)


def search(text: str, subject: str, start: int = 0) -> regex.Match[str] | None:
    """Find the first match of the pattern `text` in `subject`, from character `start` on.

    Raises:
        PatternError: the pattern is invalid.
        SlowPattern: the time limit has passed.
    """
    pattern = compile_pattern(text)
    _keep_inline_below(text, len(subject) - start, INLINE_SUBJECT_CHARACTERS)
    seconds, concurrent = _allowance(text)
    try:
        return pattern.search(subject, start, timeout=seconds, concurrent=concurrent)
    except TimeoutError:
        raise SlowPattern(text, limited=concurrent is not None) from None


def find_all(text: str, subject: str) -> list[regex.Match[str]]:
    """Find every match that does not overlap an earlier one; raises as `search` does."""
    pattern = compile_pattern(text)
    _keep_inline_below(text, len(subject), INLINE_SUBJECT_CHARACTERS)
    seconds, concurrent = _allowance(text)
    found: list[regex.Match[str]] = []
    try:
        for match in pattern.finditer(subject, timeout=seconds, concurrent=concurrent):
            found.append(match)
            if len(found) % _CHECKED_EVERY == 0:
                check_time(text)
    except TimeoutError:
        raise SlowPattern(text, limited=concurrent is not None) from None
    return found


def _allowance(text: str) -> tuple[float, bool | None]:
    """Return the seconds that are left, and whether the search releases the interpreter lock."""
    limit = _current()
    if limit is None:
        return INLINE_SECONDS, None
    seconds = limit.deadline - time.perf_counter()
    if seconds <= 0:
        raise SlowPattern(text, limited=limit.final)
    return seconds, True if limit.final else None
