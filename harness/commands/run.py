"""`regrade run`: drive, grade, store, sum up."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.baseline_options import baseline_options, compared, settled
from harness.commands.env_option import env_file_option
from harness.commands.shared_options import parameters_option, runs_folder_option, selection_options

if TYPE_CHECKING:
    from harness.running.resuming import Resume
    from harness.running.run_options import ComparedWith, RunOptions


@click.command(name="run")
@click.argument("suite", type=click.Path(path_type=Path), required=False)
@click.option(
    "--target",
    "target_path",
    type=click.Path(path_type=Path),
    help="Drive the target of this YAML file instead of the suite's.",
)
@click.option("--model", "models", multiple=True, help="Run on this model instead of the suite's.")
@click.option("--epochs", type=click.IntRange(min=1), help="Repeat every sample so many times.")
@selection_options
@click.option("--concurrency", type=click.IntRange(min=1), help="Drive so many trials at once.")
@parameters_option
@runs_folder_option("Make the run directory in this folder.")
@click.option(
    "--resume",
    metavar="RUN",
    help="Go on with this run, or with the `latest`: make what is missing, keep the rest.",
)
@click.option(
    "--retry-errors", is_flag=True, help="With --resume, make trials that ended in errors again."
)
@click.option(
    "--salvage", is_flag=True, help="With --resume, keep what can be read of a damaged run."
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write JUnit XML to this file as the run ends, one case a sample.",
)
@click.option("--quiet", is_flag=True, help="Show no progress; the summary is printed.")
@baseline_options
@env_file_option
def command(  # noqa: PLR0913, PLR0917  (one parameter an option)
    suite: Path | None,
    target_path: Path | None,
    models: tuple[str, ...],
    epochs: int | None,
    limit: int | None,
    ids: tuple[str, ...],
    tags: tuple[str, ...],
    concurrency: int | None,
    parameters: tuple[str, ...],
    out: Path,
    resume: str | None,
    junit: Path | None,
    *,
    against: "ComparedWith | None",
    retry_errors: bool,
    salvage: bool,
    quiet: bool,
) -> int:
    """Drive the agent of SUITE through its dataset, grade what it did, and sum up.

    SUITE is a YAML file, or a folder that holds suite.yaml (or Vally's eval.yaml). --model,
    --sample and --tag may be given several times. Every trial is stored as it ends; Ctrl-C ends
    the run and sums up what was done.

    With --resume, SUITE may be left out: it is that of the run, and so are the models, epochs,
    samples, target, parameters and baseline that are not given. Nothing that was stored and still
    counts is driven again.

    With --baseline, the exit code is the gravest of the run's and the comparison's.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.github_outputs import told_to_github  # noqa: PLC0415
    from harness.commands.run_lookup import resumed_run, suite_of_run  # noqa: PLC0415
    from harness.loading.selections import Selection  # noqa: PLC0415
    from harness.running.resuming import resumed_options  # noqa: PLC0415
    from harness.running.run_options import RunOptions  # noqa: PLC0415

    if resume is None and (suite is None or retry_errors or salvage):
        missing = "name a SUITE" if suite is None else "--retry-errors and --salvage need --resume"
        raise click.UsageError(f"{missing}, or a run with --resume")
    options = RunOptions(
        models=models,
        epochs=epochs,
        concurrency=concurrency,
        selection=Selection(limit=limit, ids=ids, tags=tags),
        out=out,
        command=("regrade", *sys.argv[1:]),
        target_file=target_path,
        parameters=parameters,
    )
    going_on = None
    with told_to_github(resume or str(suite)):
        if resume is not None:
            going_on = resumed_run(resume, out, retry_errors=retry_errors, salvage=salvage)
            options = resumed_options(going_on.folder, options)
            suite = suite or suite_of_run(going_on.folder)
        ending = _Ending(quiet=quiet, junit=junit, against=against)
        return _run(suite or Path(), options, going_on, ending)


def _run(
    suite: Path,
    options: "RunOptions",
    resume: "Resume | None",
    ending: "_Ending",
) -> int:
    from harness.commands.run_reporting import run_and_report, say_spending_rule  # noqa: PLC0415
    from harness.commands.suite_faults import load_wholly  # noqa: PLC0415
    from harness.loading.vally_parameters import Parameters  # noqa: PLC0415
    from harness.running.foreseen_faults import Upcoming  # noqa: PLC0415
    from harness.running.output_places import require_writable  # noqa: PLC0415
    from harness.running.run_options import apply_options, suite_file  # noqa: PLC0415
    from harness.running.runs import execute  # noqa: PLC0415

    against = settled(ending.against, resume)
    options = replace(options, compared_with=against)
    require_writable(ending.junit, makes_folders=True)
    loaded = load_wholly(suite_file(suite), options.target_file, Parameters(options.parameters))
    apply_options(loaded, options)  # what refuses the run comes before what is said of it
    upcoming = Upcoming(suite=loaded, options=options, folder=resume.folder if resume else None)
    compare = compared(against, upcoming) if against else None
    say_spending_rule(loaded, options.concurrency)
    return run_and_report(
        loaded,
        lambda observer, stop: execute(loaded, options, observer, stop, resume=resume),
        quiet=ending.quiet,
        junit=ending.junit,
        compare=compare,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """What is done as a run ends."""

    quiet: bool
    junit: Path | None
    against: "ComparedWith | None"
