"""Every fault of a suite, the script of its scripted models included."""

from pathlib import Path

from harness.loading.validation import inspect_suite
from harness.running.run_options import suite_file
from harness.types.errors import Fault, SuiteError


def collect_faults(path: Path) -> tuple[Fault, ...]:
    """Return the faults of one suite, in the order of its text, then those of its script."""
    suite, faults = inspect_suite(suite_file(path))
    script = suite.target.script if suite is not None and suite.target is not None else None
    return faults if script is None else (*faults, *_script_faults(script.path))


def _script_faults(path: Path) -> tuple[Fault, ...]:
    # The server's package is loaded only where there is a script.
    from harness.serving.script import read_script  # noqa: PLC0415

    try:
        read_script(path)
    except SuiteError as error:
        return error.faults
    return ()
