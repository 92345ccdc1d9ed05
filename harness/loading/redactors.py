"""The function of a suite that takes out of a trial what must not be stored."""

import inspect

from harness.documents.nodes import Location
from harness.loading.load_context import LoadContext
from harness.system.user_calls import is_async
from harness.types.code import CodeRef

_ALLOWED = "a plain function of one parameter, the trial as a mapping: def name(trial): ..."


def check_redactor(ref: CodeRef | None, location: Location | None, context: LoadContext) -> None:
    """Report what keeps a suite's `redact` from being called with a trial."""
    if ref is None or location is None:
        return
    if problem := _problem(ref):
        context.findings.fault(location, f"{ref.text} {problem}", _ALLOWED)


def _problem(ref: CodeRef) -> str:
    function = ref.value
    if not callable(function) or inspect.isclass(function):
        return f"is of type {type(function).__name__}"
    if is_async(function) or inspect.isgeneratorfunction(function):
        return "is no plain function"
    try:
        inspect.signature(function).bind({})
    except (TypeError, ValueError):
        return "cannot be called with one trial"
    return ""
