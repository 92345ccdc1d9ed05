"""`regrade grade`: grade stored trajectories; no agent is driven."""

import sys
from pathlib import Path

import click


@click.command(name="grade")
@click.argument("source")
@click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    help="Grade by this suite instead of the one that the run was made of.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Make the new run directory in this folder; `latest` is sought there too.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(source: str, suite_path: Path | None, out: Path, *, quiet: bool) -> int:
    """Grade the trajectories of the run SOURCE with the graders of its suite as they are now.

    Grades whose grader, code and ground truth have not changed are kept as they are. The result
    is a run directory of its own; SOURCE stays as it was.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.run_lookup import lookup_run, suite_of_run  # noqa: PLC0415
    from harness.commands.run_reporting import run_and_report  # noqa: PLC0415
    from harness.commands.suite_faults import load_wholly  # noqa: PLC0415
    from harness.running.replays import recorded_run, replay  # noqa: PLC0415
    from harness.running.run_options import RunOptions, suite_file  # noqa: PLC0415

    folder = lookup_run(source, out)
    suite = load_wholly(suite_file(suite_path or suite_of_run(folder)))
    recorded = recorded_run(folder)
    options = RunOptions(out=out, command=("regrade", *sys.argv[1:]))
    return run_and_report(
        suite,
        lambda observer, stop: replay(suite, recorded, options, observer, stop),
        quiet=quiet,
    )
