"""The registries of letta-evals: the built-in functions, and those of the suite that asks.

Nothing is registered in them: a function of a suite is found by its mark, so that no suite sees
another's, and a built-in function is never replaced.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.shims import builtin_functions
from harness.shims.stand_ins import EXTRACTORS, FUNCTIONS
from harness.system.private_modules import package_of
from harness.types.marks import MarkKind, mark_of


class FunctionRegistry(Mapping[str, Callable[..., Any]]):
    """Functions of one kind by name; it cannot be written to."""

    def __init__(self, kind: MarkKind, builtin: tuple[str, ...]) -> None:
        self._kind = kind
        self._builtin = builtin

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name in self._builtin:
            found: Callable[..., Any] = getattr(builtin_functions, name)
            return found
        return self._of_suite()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._builtin, *self._of_suite()]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _of_suite(self) -> dict[str, Callable[..., Any]]:
        """Return the functions in the files of the suite from which the call comes."""
        package = next(filter(None, map(package_of, _callers())), None)
        files = [module for name, module in list(sys.modules.items()) if package_of(name)]
        own = [module for module in files if package and package_of(module.__name__) == package]
        found: list[Any] = [value for module in own for value in list(vars(module).values())]
        marked = [(mark, value) for value in found if (mark := mark_of(value))]
        return {mark.name: value for mark, value in marked if mark.kind == self._kind}


def _callers() -> Iterator[str]:
    """Return the names of the modules from which a call comes, the innermost first."""
    # There is no other way to a caller's module.
    frame = inspect.currentframe()
    while frame is not None:
        yield str(frame.f_globals.get("__name__", ""))
        frame = frame.f_back


GRADER_REGISTRY = FunctionRegistry("grader", FUNCTIONS)
EXTRACTOR_REGISTRY = FunctionRegistry("extractor", EXTRACTORS)
