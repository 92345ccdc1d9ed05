"""`regrade clean`: delete what a run left on a server."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.shared_options import runs_folder_option

if TYPE_CHECKING:
    from harness.types.errors import InputError


@click.command(name="clean")
@click.argument("run")
@click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    help="Take the server from this suite; RUN may then be the name of a run without directory.",
)
@runs_folder_option()
def command(run: str, suite_path: Path | None, out: Path) -> int:
    """Delete what RUN has left, on a Letta server and, of Letta Code, on this machine.

    That is agents, memory blocks and tools there, processes and folders here.
    A run deletes them itself, unless it was killed, lost its server, or keeps its agents. Only
    what bears the tags of this run is deleted. A run that is still under way is refused.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.run_lookup import lookup_run, suite_of_run  # noqa: PLC0415
    from harness.commands.suite_faults import load_wholly  # noqa: PLC0415
    from harness.running.cleaning import clean_run  # noqa: PLC0415
    from harness.running.run_options import suite_file  # noqa: PLC0415
    from harness.storing.run_locks import holder_of  # noqa: PLC0415
    from harness.system.loops import run_to_end  # noqa: PLC0415
    from harness.system.texts import one_line  # noqa: PLC0415
    from harness.types.errors import Fault, InputError  # noqa: PLC0415

    try:
        folder = lookup_run(run, out)
    except InputError as error:
        if suite_path is None:
            raise _without_directory(error) from error
        folder = Path(run)
    if holder := holder_of(folder):
        problem = f"the run is still under way: {holder}"
        raise InputError([Fault(file=str(folder), problem=problem, allowed="wait for its end")])
    suite = load_wholly(suite_file(suite_path or suite_of_run(folder)))
    deleted = run_to_end(clean_run(suite, folder.name))
    for line in deleted:
        click.echo(one_line(f"deleted {line}"))
    if not deleted:
        click.echo("nothing was left")
    return 0


def _without_directory(error: "InputError") -> "InputError":
    """Say how a run is cleaned that was killed before it had a directory."""
    allowed = "`--suite SUITE` cleans a run without a directory, by its name"
    return type(error)(
        [replace(fault, allowed=f"{fault.allowed}; {allowed}") for fault in error.faults]
    )
