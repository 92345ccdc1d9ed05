"""Every fault of a suite, the script of its scripted models included."""

from contextlib import suppress
from pathlib import Path

from harness.loading.suite_files import load_suite
from harness.loading.validation import find_faults
from harness.running.choices import suite_file
from harness.types.errors import Fault, SuiteError


def faults_of(path: Path) -> tuple[Fault, ...]:
    """Give the faults of one suite, in the order of its text."""
    file = suite_file(path)
    return (*find_faults(file), *_script_faults(file))


def _script_faults(path: Path) -> tuple[Fault, ...]:
    from harness.serving.script import read_script  # noqa: PLC0415  (only where there is one)

    with suppress(SuiteError):
        suite = load_suite(path)
        if suite.target is not None and suite.target.script is not None:
            try:
                read_script(suite.target.script.path)
            except SuiteError as error:
                return error.faults
    return ()
