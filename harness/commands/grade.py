"""`regrade grade`: grade stored trajectories; no agent is driven."""

import sys
from pathlib import Path

import click

from harness.commands.env_option import env_file_option
from harness.commands.shared_options import parameters_option, runs_folder_option


@click.command(name="grade")
@click.argument("source")
@click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    help="Grade by this suite instead of that of the run; records of other tools need one.",
)
@parameters_option
@click.option(
    "--format",
    "named",
    metavar="NAME",
    help="Read SOURCE as this format, instead of telling it by its shape.",
)
@click.option(
    "--map",
    "fields",
    multiple=True,
    metavar="WORD=FIELD,...",
    help="Say which field of a record names its sample, model, epoch, ground_truth or outcome.",
)
@click.option(
    "--allow-unmatched",
    is_flag=True,
    help="Leave out records that belong to no sample of the dataset.",
)
@click.option("--salvage", is_flag=True, help="Grade what can be read of a damaged run.")
@runs_folder_option("Make the new run directory in this folder; `latest` is sought there too.")
@click.option("--quiet", is_flag=True, help="Show no progress; the summary is printed.")
@env_file_option
def command(  # noqa: PLR0913, PLR0917  (one parameter an option)
    source: str,
    suite_path: Path | None,
    parameters: tuple[str, ...],
    named: str | None,
    fields: tuple[str, ...],
    out: Path,
    *,
    allow_unmatched: bool,
    salvage: bool,
    quiet: bool,
) -> int:
    """Grade the trajectories of SOURCE: a run, or records of another tool.

    A run is given as for `regrade show`; those of its grades whose grader, code and ground truth
    have not changed are kept as they are. Records of another tool are a file, a file with one
    record a line, or a folder of them; `regrade list formats` shows what can be read. The result is
    a run directory of its own; SOURCE stays as it was.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.github_outputs import told_to_github  # noqa: PLC0415
    from harness.commands.run_lookup import lookup_source, suite_of_run  # noqa: PLC0415
    from harness.commands.run_reporting import run_and_report  # noqa: PLC0415
    from harness.commands.suite_faults import load_wholly  # noqa: PLC0415
    from harness.loading.vally_parameters import Parameters  # noqa: PLC0415
    from harness.running.foreign_records import recorded_elsewhere  # noqa: PLC0415
    from harness.running.record_mapping import read_field_map  # noqa: PLC0415
    from harness.running.record_reading import Records  # noqa: PLC0415
    from harness.running.recorded_trials import recorded_run  # noqa: PLC0415
    from harness.running.replays import replay  # noqa: PLC0415
    from harness.running.run_options import RunOptions, suite_file  # noqa: PLC0415

    records = Records(
        path=Path(source),
        format=named,
        fields=read_field_map(fields),
        allow_unmatched=allow_unmatched,
    )
    folder = None if named else lookup_source(source, out)
    if folder is not None and (fields or allow_unmatched):
        raise click.UsageError("--map and --allow-unmatched are for records of other tools")
    if folder is None and salvage:
        raise click.UsageError("--salvage is for run directories")
    if folder is None and suite_path is None:
        raise click.UsageError("records of other tools know no suite: name one with --suite")
    options = RunOptions(out=out, command=("regrade", *sys.argv[1:]))
    with told_to_github(source):
        path = suite_file(suite_path or suite_of_run(folder or Path()))
        suite = load_wholly(path, parameters=Parameters(parameters))
        recorded = (
            recorded_run(folder, salvage=salvage) if folder else recorded_elsewhere(suite, records)
        )
        return run_and_report(
            suite,
            lambda observer, stop: replay(suite, recorded, options, observer, stop),
            quiet=quiet,
        )
