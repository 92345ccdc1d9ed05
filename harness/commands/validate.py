"""`regrade validate`: every fault of suites, datasets and their Python files, with its place."""

from pathlib import Path

import click

from harness.commands.env_option import env_file_option
from harness.commands.shared_options import parameters_option


@click.command(name="validate")
@click.argument(
    "suites", metavar="SUITE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@parameters_option
@env_file_option
def command(suites: tuple[Path, ...], parameters: tuple[str, ...]) -> int:
    """Report every mistake in SUITE: YAML, dataset, Python files, patterns, script.

    Each is one line: file:line:column: path: what is wrong; what is allowed. The exit code is 2 if
    there is one. A line that begins with "note:" says how something was understood.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.suite_faults import inspect_wholly  # noqa: PLC0415
    from harness.loading.vally_parameters import Parameters  # noqa: PLC0415
    from harness.system.texts import one_line  # noqa: PLC0415

    found = False
    given = Parameters(parameters)
    for suite in suites:
        faults, notes = inspect_wholly(suite, given)
        for fault in faults:
            click.echo(one_line(str(fault)))
        for note in notes:
            click.echo(one_line(f"note: {note}"))
        found = found or bool(faults)
        if not faults:
            click.echo(one_line(f"{suite}: no fault"))
    given.require_used()
    return 2 if found else 0
