"""`regrade baseline`: pin the run that others are held against, or write it as one file."""

from pathlib import Path

import click

from harness.commands.shared_options import runs_folder_option


@click.group(name="baseline")
def command() -> None:
    """Choose the run that later runs of its suite are compared with."""


@command.command(name="set")
@click.argument("run")
@runs_folder_option("Look for RUN in this folder, and keep the pin there.")
def set_baseline(run: str, out: Path) -> int:
    """Pin RUN: `--baseline pinned` means it from now on, for runs of its suite.

    Only a complete run can be pinned. The pin is a line of baselines.json in the folder of runs.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.run_lookup import lookup_run, warn_of_part, warn_of_run  # noqa: PLC0415
    from harness.running.planned_comparisons import known_against  # noqa: PLC0415
    from harness.running.run_addresses import require_complete  # noqa: PLC0415
    from harness.storing.baseline_files import Pin, pin_baseline  # noqa: PLC0415
    from harness.system.clock import now  # noqa: PLC0415
    from harness.system.texts import one_line  # noqa: PLC0415

    folder = lookup_run(run, out)
    manifest = require_complete(folder)
    warn_of_part(manifest)
    warn_of_run(known_against(folder, manifest))
    # A run elsewhere is found again by its path alone.
    place = folder.name if folder.parent.resolve() == out.resolve() else str(folder.resolve())
    pin_baseline(out, manifest.suite, Pin(run=place, set_at=now()))
    click.echo(one_line(f"{manifest.suite}: the baseline is {place}"))
    return 0


@command.command(name="export")
@click.argument("run")
@click.option("--suite", help="The name of the suite that `latest` or `pinned` is of.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file, not to RUN.baseline.zip in the current folder; none is overwritten.",
)
def export(run: str, suite: str | None, out: Path | None) -> int:
    """Write RUN as one file, with which runs on other machines can be compared.

    It holds all that the run directory holds, its trajectories included. Only a complete run can be
    exported. RUN may be `pinned`, or `latest`: as a baseline, the newest complete run that met its
    gates and did not regress, of the suite that was run last unless --suite names one.
    """
    from harness.commands.run_lookup import warn_of_part, warn_of_run  # noqa: PLC0415
    from harness.running.output_places import refuse_overwriting  # noqa: PLC0415
    from harness.running.planned_comparisons import known_against  # noqa: PLC0415
    from harness.running.run_addresses import find_exported, require_complete  # noqa: PLC0415
    from harness.storing.baseline_files import export_baseline  # noqa: PLC0415
    from harness.storing.run_folders import RUNS  # noqa: PLC0415
    from harness.system.texts import one_line  # noqa: PLC0415

    folder = find_exported(run, RUNS, suite)
    manifest = require_complete(folder)
    path = out or Path(f"{folder.resolve().name}.baseline.zip")
    refuse_overwriting(path)
    warn_of_part(manifest)
    warn_of_run(known_against(folder, manifest))
    export_baseline(folder, path)
    click.echo(one_line(f"wrote {path}: {folder.resolve().name}"))
    return 0
