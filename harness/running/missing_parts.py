"""What a target needs of this machine, looked for before a run begins."""

from collections.abc import Iterator
from typing import Any

from harness.types.errors import Fault, SuiteError
from harness.types.protocols import RunContext
from harness.types.suites import Suite


def require_parts(suite: Suite, target: Any, context: RunContext) -> None:
    """Check that a target's program is there, and what else it says that it needs.

    Raises:
        SuiteError: with the faults that `validate` finds too; nothing was stored.
    """
    if faults := tuple(_faults(suite, target, context)):
        raise SuiteError(faults)


def _faults(suite: Suite, target: Any, context: RunContext) -> Iterator[Fault]:
    check: Any = getattr(target, "lint_files", None)
    file = suite.source.as_posix() if suite.source else suite.name
    for option, problem in check(context.folder) if check else ():
        yield Fault(file=file, path=f"target.{option}", problem=problem)
