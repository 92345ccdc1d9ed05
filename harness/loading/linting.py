"""What plug-ins find wrong with their own options and with samples, beyond what types can say."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harness.documents.nodes import Location
from harness.loading.load_context import LoadContext
from harness.system.texts import error_line
from harness.types.samples import Sample
from harness.types.suites import GraderSpec

Problem = tuple[str, str]
"""(option, what is wrong with it); an option without a name is the plug-in as a whole."""


def lint(plugin: Any, location: Location, context: LoadContext) -> list[Problem]:
    """Report what a bound plug-in says of its options as warnings, each at its option; return it.

    What names no option is about the whole of the plug-in.

    Inside a combination they are faults: its failing grade would let a `not` pass.
    """
    check = getattr(plugin, "lint", None)
    if not callable(check):
        return []
    problems = _problems(check)
    _report(problems, location, context)
    return problems


def lint_keys(plugin: Any, location: Location, context: LoadContext) -> None:
    """Report the keys that a bound grader misses in the environment."""
    check = getattr(plugin, "lint_keys", None)
    if callable(check):
        _report(_problems(check, ()), location, context)


def lint_target_keys(
    target: Any, models: Sequence[str], location: Location, context: LoadContext
) -> None:
    """Note the keys that a target misses in the environment: grading goes without them."""
    check = getattr(target, "lint_keys", None)
    for option, problem in _problems(check, models) if callable(check) else ():
        context.findings.absence(location.child(option) or location, problem)


def lint_target_files(target: Any, location: Location, context: LoadContext) -> None:
    """Note what a target misses on this machine: grading goes without it."""
    check = getattr(target, "lint_files", None)
    for option, problem in _problems(check, context.folder.path) if callable(check) else ():
        context.findings.absence(location.child(option) or location, problem)


def lint_models(
    target: Any, models: Sequence[str], location: Location, context: LoadContext
) -> None:
    """Report what a target says of its models as warnings, each at its option."""
    check = getattr(target, "lint_models", None)
    if callable(check):
        _report(_problems(check, models), location, context)


def _report(problems: Iterable[tuple[str, str]], location: Location, context: LoadContext) -> None:
    found, refuses = context.findings, context.refuses_lint
    for option, problem in problems:
        at = location.child(option) if option else location
        if at is None:
            (found.key_fault if refuses else found.warn_key)(location, option, problem)
        else:
            (found.fault if refuses else found.warn)(at, problem)


def lint_sample(specs: Iterable[GraderSpec], sample: Sample) -> Iterator[tuple[str, str]]:
    """Return (field, problem) for what the graders say of a sample."""
    for spec in (inner for whole in specs for inner in whole.with_parts):
        check = getattr(spec.grader, "lint_sample", None)
        if callable(check):
            for field, problem in _problems(check, sample):
                yield field, f"{spec.name}: {problem}"


def lints_samples(specs: Iterable[GraderSpec]) -> bool:
    """Say whether any grader looks at samples beforehand."""
    every = (inner for spec in specs for inner in spec.with_parts)
    return any(callable(getattr(spec.grader, "lint_sample", None)) for spec in every)


def _problems(check: Any, *args: Any) -> list[tuple[str, str]]:
    try:
        return [(str(option), str(problem)) for option, problem in check(*args)]
    except Exception as error:  # noqa: BLE001  (a plug-in's own check may raise anything)
        return [("", f"its check broke: {error_line(error)}")]
