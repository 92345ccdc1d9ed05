"""`regrade history`: what the last nights say together."""

from pathlib import Path

import click

from harness.commands.number_options import FiniteRange


@click.command(name="history")
@click.argument("folder", metavar="[DIR]", default="runs", type=click.Path(path_type=Path))
@click.option("--suite", help="Only the nights of this suite.")
@click.option("--model", help="Only this model.")
@click.option("--nights", type=click.IntRange(min=1), help="Only the last so many nights.")
@click.option(
    "--baseline",
    metavar="RUN",
    help="Judge against this run, or this file of `regrade baseline export`, not the pinned one.",
)
@click.option(
    "--margin",
    type=FiniteRange(min=0, max=1, min_open=True),
    metavar="FRACTION",
    help="The drop that you can live with: 0.05 is 5 points.",
)
@click.option(
    "--json", "json_to", type=click.Path(path_type=Path, dir_okay=False), help="Write it as JSON."
)
@click.option(
    "--alarm", is_flag=True, help="Exit with 1 where the last night or a sample has regressed."
)
@click.option(
    "--quarantine", "add", multiple=True, metavar="ID", help="Put this sample into quarantine."
)
@click.option(
    "--release", "release", multiple=True, metavar="ID", help="Take this sample out of quarantine."
)
@click.option("--reason", default="", help="Why, for the readers of the quarantine file.")
@click.option(
    "--quarantine-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Use this file, not quarantine.yaml beside the suite.",
)
def command(  # noqa: PLR0913, PLR0917  (one parameter an option)
    folder: Path,
    suite: str | None,
    model: str | None,
    nights: int | None,
    baseline: str | None,
    margin: float | None,
    json_to: Path | None,
    add: tuple[str, ...],
    release: tuple[str, ...],
    reason: str,
    quarantine_file: Path | None,
    *,
    alarm: bool,
) -> int:
    """Show how the runs in DIR have gone over time, by suite and model.

    Every run in DIR (by default runs) is a night. Samples that are flaky, regressed, fixed or new
    are named, with the night since which they are. No trajectory is read. --quarantine keeps a
    flaky sample from gating for 14 nights; --quarantine and --release may be given several times.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.history_reporting import quarantine, show_history  # noqa: PLC0415
    from harness.running.output_places import require_writable  # noqa: PLC0415
    from harness.system.clock import now  # noqa: PLC0415

    at = now()
    require_writable(json_to)
    choices = {"suite": suite, "model": model, "nights": nights, "baseline": baseline}
    if add or release:
        quarantine(
            folder,
            at,
            **choices,
            add=add,
            release=release,
            reason=reason,
            file=quarantine_file,
        )
    elif reason:
        raise click.UsageError("--reason is for --quarantine")
    history = show_history(
        folder, at, json_to, margin=margin, quarantine=quarantine_file, **choices
    )
    return int(alarm and any(one.alarms for one in history.models))
