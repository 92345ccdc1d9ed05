"""`regrade plan`: what a suite can and cannot see, and what a run of it costs."""

from pathlib import Path

import click

from harness.commands.number_options import FiniteRange
from harness.commands.shared_options import parameters_option, runs_folder_option, selection_options


@click.command(name="plan")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option(
    "--detect",
    type=FiniteRange(min=0.1, max=100),
    default=5.0,
    show_default=True,
    metavar="POINTS",
    help="The drop of the pass rate that is to be seen, in points of a hundred.",
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="RUN",
    help="Learn from this earlier run how much samples vary, cost and take; may be repeated.",
)
@click.option("--model", "models", multiple=True, help="Plan for this model, not the suite's.")
@click.option("--epochs", type=click.IntRange(min=1), help="Plan for so many epochs.")
@selection_options
@parameters_option
@click.option(
    "--json", "json_to", type=click.Path(path_type=Path, dir_okay=False), help="Write it as JSON."
)
@runs_folder_option()
def command(  # noqa: PLR0913, PLR0917  (one parameter an option)
    suite: Path,
    detect: float,
    sources: tuple[str, ...],
    models: tuple[str, ...],
    epochs: int | None,
    limit: int | None,
    ids: tuple[str, ...],
    tags: tuple[str, ...],
    parameters: tuple[str, ...],
    json_to: Path | None,
    out: Path,
) -> int:
    """Say whether two runs of SUITE would tell a drop of the pass rate from chance.

    No agent is driven. Without --from it is said for several shares of samples that change by
    chance; an earlier run with several epochs, or several runs, measure that share.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.history_reporting import write_json  # noqa: PLC0415
    from harness.commands.run_lookup import lookup_run  # noqa: PLC0415
    from harness.commands.suite_faults import load_wholly  # noqa: PLC0415
    from harness.loading.selections import Selection  # noqa: PLC0415
    from harness.loading.vally_parameters import Parameters  # noqa: PLC0415
    from harness.reports.plan_text import plan_text  # noqa: PLC0415
    from harness.running.output_places import require_writable  # noqa: PLC0415
    from harness.running.run_options import suite_file  # noqa: PLC0415
    from harness.running.suite_planning import PlanOptions, plan_suite  # noqa: PLC0415

    require_writable(json_to)
    options = PlanOptions(
        detect=detect / 100,
        models=models,
        epochs=epochs,
        selection=Selection(limit=limit, ids=ids, tags=tags),
        sources=tuple(lookup_run(name, out) for name in sources),
    )
    plan = plan_suite(load_wholly(suite_file(suite), None, Parameters(parameters)), options)
    click.echo(plan_text(plan), nl=False)
    if json_to is not None:
        write_json(json_to, plan)
    return 0
