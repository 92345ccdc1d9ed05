"""JSON paths (RFC 9535) into JSON values: end states of trials, replies of agents."""

import re
from functools import lru_cache
from typing import Any

from jsonpath import JSONPathEnvironment, JSONPathError
from jsonpath.function_extensions import ExpressionType, FilterFunction

from harness.system.patterns import PatternError, check_time, search

_MOST = {"..": 3, "?": 3}
"""How often a path may hold what looks at everything below: nothing interrupts it meanwhile."""

_TOKEN = re.compile(r"'?TOKEN_(\w+)'?")


class _Search(FilterFunction):
    """`search` and `match` of RFC 9535, under the time limit of patterns."""

    def __init__(self, form: str) -> None:
        self._form = form

    @property
    def arg_types(self) -> list[ExpressionType]:
        return [ExpressionType.VALUE, ExpressionType.VALUE]

    @property
    def return_type(self) -> ExpressionType:
        return ExpressionType.LOGICAL

    def __call__(self, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        try:
            return search(self._form.format(pattern), value) is not None
        except PatternError:
            return False


class _Paths(JSONPathEnvironment):
    """Paths as the standard has them, with patterns that cannot stall."""

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["search"] = _Search("{}")
        self.function_extensions["match"] = _Search(r"\A(?:{})\Z")


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    if not path.startswith("$"):
        raise ValueError("a path begins with `$`, such as `$.orders`")
    for part, most in _MOST.items():
        if path.count(part) > most:
            raise ValueError(f"it holds {part!r} more than {most} times")
    try:
        return _Paths(strict=True).compile(path)
    except JSONPathError as error:
        raise ValueError(_in_words(error)) from error
    except RecursionError:
        raise ValueError("the path is nested too deep") from None


def _in_words(error: JSONPathError) -> str:
    """Say what is wrong with a path and where, without the names that the parser has for it."""
    said = str(error.args[0]) if error.args else type(error).__name__
    plain = _TOKEN.sub(lambda found: found[1].lower().replace("_", " "), said)
    at = getattr(error.token, "index", None)
    said = " ".join(plain.split())
    if not isinstance(at, int):
        return said
    return f"{said} at character {at + 1}" if at >= 0 else f"{said} at its end"


def check_path(path: str) -> None:
    """Check that a text is a path.

    Raises:
        ValueError: it is none.
    """
    _compiled(path)


def select(path: str, value: Any) -> list[Any]:
    """Return every value that a path leads to, in order; none where it leads nowhere.

    Raises:
        ValueError: it is no path, or cannot be followed.
        SlowPattern: the time limit has passed.
    """
    compiled = _compiled(path)
    if isinstance(value, str):
        # The library would read a text as JSON; nothing lies below one.
        return [value] if compiled.empty() else []
    found = []
    try:
        for match in compiled.finditer(value):
            check_time(path, what="the path")
            found.append(match.obj)
    except JSONPathError as error:
        raise ValueError(_in_words(error)) from error
    except RecursionError:
        raise ValueError("the value is nested too deep for it") from None
    return found


def leads_to_one(path: str) -> bool:
    """Say whether a path leads to one value at most: it has no wildcard, slice or filter."""
    return bool(_compiled(path).singular_query())
