"""Faults of what a suite's Python file defines, each with its line."""

import inspect
from pathlib import Path
from typing import Any

from harness.types.code import CodeFile
from harness.types.errors import Fault


def fault_at(code: CodeFile, defined: Any, problem: str, allowed: str) -> Fault:
    """Return a fault of a function or class of a file, at the line of its definition."""
    return Fault(file=code.text, line=line_of(code, defined), problem=problem, allowed=allowed)


def line_of(code: CodeFile, defined: Any) -> int:
    """Return the line where a function or class is defined; 0 where that is not in this file."""
    inner = inspect.unwrap(defined)
    if inspect.isclass(inner):
        return _line_of_class(code, inner)
    compiled = getattr(inner, "__code__", None)
    if compiled is None or Path(compiled.co_filename) != code.path:
        return 0
    return int(compiled.co_firstlineno)


def _line_of_class(code: CodeFile, defined: type) -> int:
    made = line_of(code, vars(defined).get("__init__"))
    if made or defined.__module__ != code.module.__name__:
        return made
    try:
        return inspect.findsource(defined)[1] + 1
    except (OSError, TypeError):
        # The file has changed since it was loaded, or the class was made by a call.
        return 0
