"""Source code of tools that run on a Letta server: a function of the suite's file in, a text out.

The server keeps a tool as source code and runs it in a process of its own, in which the suite's
file does not exist. So the text holds the function and everything at the top of its file that it
needs: imports, constants, other functions and classes, in the order of the file.
"""

import ast
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.types.code import CodeFile

_LOCAL = "works on the Letta server, where the suite's files and Regrade do not exist"
_ALLOWED = "imports of packages that the server has; or list the file under target.client_tools"


class SourceError(ValueError):
    """A function has no source that stands alone; `allowed` says what is allowed."""

    def __init__(self, problem: str, allowed: str) -> None:
        super().__init__(problem)
        self.allowed = allowed


def standalone_source(code: CodeFile, function: Callable[..., Any]) -> str:
    """Return the source of a function with what it needs of its file.

    Raises:
        SourceError: it is not defined in the file under its own name, or needs what only exists
            beside the suite.
    """
    file = _TopLevel.read(code)
    name = function.__name__
    if getattr(code.module, name, None) is not function or name not in file.bound:
        problem = "is not defined at the top of the file under its own name"
        raise SourceError(problem, "functions that are written with `def` at the top of the file")
    needed = file.needed(name)
    for index in sorted(needed):
        _require_known(file.statements[index], code.path.parent)
    parts = [file.text_of(index) for index in sorted(needed)]
    return "\n\n".join([*file.future, *parts]) + "\n"


@dataclass(frozen=True, slots=True)
class _TopLevel:
    """The statements at the top of a file; `bound` says which of them bind a name."""

    lines: tuple[str, ...]
    statements: tuple[ast.stmt, ...]
    bound: Mapping[str, tuple[int, ...]]
    future: tuple[str, ...]

    @classmethod
    def read(cls, code: CodeFile) -> "_TopLevel":
        with tokenize.open(code.path) as file:
            text = file.read()
        statements = tuple(ast.parse(text).body)
        bound: dict[str, list[int]] = {}
        for index, statement in enumerate(statements):
            for name in _bound_names(statement):
                bound.setdefault(name, []).append(index)
        future = [ast.unparse(one) for one in statements if _is_future(one)]
        places = {name: tuple(indices) for name, indices in bound.items()}
        return cls(tuple(text.splitlines()), statements, places, tuple(future))

    def needed(self, name: str) -> set[int]:
        """Return the statements that a name needs, directly or through others."""
        found: set[int] = set()
        waiting = [name]
        seen = {name}
        while waiting:
            for index in self.bound.get(waiting.pop(), ()):
                if index in found:
                    continue
                found.add(index)
                fresh = {*_used_names(self.statements[index])} - seen
                seen |= fresh
                waiting += fresh
        return found

    def text_of(self, index: int) -> str:
        """Return a statement as it is written, decorators included."""
        statement = self.statements[index]
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        return "\n".join(self.lines[first - 1 : statement.end_lineno])


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if _is_future(statement):
        return
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import):
        yield from ((alias.asname or alias.name.partition(".")[0]) for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        yield from ((alias.asname or alias.name) for alias in statement.names)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _used_names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.isidentifier()
        ):
            # A postponed annotation is a text that holds a name.
            yield node.value


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _require_known(statement: ast.stmt, folder: Path) -> None:
    """Refuse an import that cannot work on another machine.

    Raises:
        SourceError: of Regrade, of a file beside the suite, or a relative one.
    """
    for node in ast.walk(statement):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        for name in names:
            if _is_local(name, folder):
                raise SourceError(f"needs `{name}`, but {_LOCAL}", _ALLOWED)


def _is_local(name: str, folder: Path) -> bool:
    top = name.partition(".")[0]
    if name.startswith(".") or top in {"harness", "graders"}:
        return True
    if top in sys.stdlib_module_names:
        return False
    return (folder / f"{top}.py").is_file() or (folder / top).is_dir()
