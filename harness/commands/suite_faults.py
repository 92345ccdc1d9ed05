"""Every fault of a suite, the script of its scripted models included."""

from collections.abc import Sequence
from pathlib import Path

from harness.loading.suite_files import load_suite
from harness.loading.target_files import with_target
from harness.loading.validation import inspect_suite
from harness.loading.vally_parameters import Parameters
from harness.running.grader_scripts import script_faults
from harness.running.run_options import suite_file
from harness.running.scripted_models import missing_models
from harness.types.errors import Fault, SuiteError
from harness.types.suites import Suite, TargetSpec


def collect_faults(path: Path, parameters: Parameters | None = None) -> tuple[Fault, ...]:
    """Return the faults of one suite, in the order of its text, then those of its scripts."""
    return inspect_wholly(path, parameters)[0]


def inspect_wholly(
    path: Path, parameters: Parameters | None = None
) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """Return the faults of one suite, as `collect_faults` does, and the notes on it."""
    suite, faults = inspect_suite(suite_file(path), parameters)
    if suite is None:
        return faults, ()
    target = suite.target
    scripted = _script_faults(target, target.script.path) if target and target.script else ()
    return tuple(dict.fromkeys((*faults, *scripted, *script_faults(suite)))), suite.notes


def load_wholly(
    path: Path, target: Path | None = None, parameters: Parameters | None = None
) -> Suite:
    """Load a suite, with the target of another file where one is named.

    `parameters` fill an eval spec of Vally.

    Raises:
        InputError: a parameter fills nothing.
        SuiteError: with every fault that `collect_faults` finds, those of the dataset included.
    """
    try:
        suite = load_suite(path, parameters)
    except SuiteError as error:
        raise SuiteError(collect_faults(path, parameters)) from error
    if parameters is not None:
        parameters.require_used()
    return suite if target is None else _with_target(suite, target)


def _with_target(suite: Suite, path: Path) -> Suite:
    suite = with_target(suite, path)
    if suite.target and suite.target.script:
        faults = _script_faults(suite.target, suite.target.script.path)
        if faults:
            raise SuiteError(faults)
    return suite


def _script_faults(target: TargetSpec, path: Path) -> Sequence[Fault]:
    # The server's package is loaded only where there is a script.
    from harness.serving.script import read_script  # noqa: PLC0415

    try:
        script = read_script(path)
    except SuiteError as error:
        return error.faults
    return missing_models(target, script.models)
