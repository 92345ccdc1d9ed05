"""`regrade compare`: is the candidate better, worse, or no worse than the baseline?"""

from pathlib import Path

import click

from harness.commands.shared_options import runs_folder_option


@click.command(name="compare")
@click.argument("baseline")
@click.argument("candidate")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Let this metric decide (a grader, `trial`, seconds, cost_usd, tokens, steps or "
    "tool_calls); may be repeated.",
)
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="FRACTION",
    help="The drop that you can live with: 0.05 is 5 points. METRIC=NUMBER for one metric alone.",
)
@click.option(
    "--population",
    is_flag=True,
    help="Ask about all that the samples stand for, not about these samples.",
)
@click.option(
    "--suite",
    "suite_file",
    type=click.Path(path_type=Path),
    help="Grade the baseline again by this suite, where graders differ.",
)
@click.option(
    "--regrade-judges", is_flag=True, help="Let graders that ask a model grade the baseline again."
)
@click.option("--strict", is_flag=True, help="Exit with 4 where the comparison is inconclusive.")
@click.option(
    "--require-baseline", is_flag=True, help="Exit with 3 where there is no baseline yet."
)
@click.option(
    "--confirmed",
    is_flag=True,
    help="Both runs were made afresh to confirm a regression: call it confirmed, not suspected.",
)
@click.option(
    "--json", "json_to", type=click.Path(path_type=Path, dir_okay=False), help="Write it as JSON."
)
@click.option(
    "--markdown",
    "markdown_to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it as Markdown, for a pull request.",
)
@runs_folder_option("Look for runs in this folder.")
def command(  # noqa: PLR0913, PLR0917  (one parameter an option)
    baseline: str,
    candidate: str,
    metrics: tuple[str, ...],
    margins: tuple[str, ...],
    suite_file: Path | None,
    json_to: Path | None,
    markdown_to: Path | None,
    out: Path,
    *,
    population: bool,
    regrade_judges: bool,
    strict: bool,
    require_baseline: bool,
    confirmed: bool,
) -> int:
    """Compare the run CANDIDATE with the run BASELINE, sample by sample.

    A run is named as for `regrade show`, one model of it as RUN::MODEL. BASELINE may also be a
    file that `regrade baseline export` wrote, `pinned`, or `latest`: the newest complete run of the
    suite, CANDIDATE aside, that met its gates and did not regress (latest::ONE with latest::OTHER
    are two models of the newest run). No agent is driven. A file that is `-` is standard output,
    which then holds nothing else. Exit codes: 0 improved, no worse or inconclusive, 1 regressed, 2
    the input is wrong, 3 the runs cannot be compared, 4 inconclusive with --strict.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.comparison_reporting import show  # noqa: PLC0415
    from harness.running.compared_metrics import MetricChoice  # noqa: PLC0415
    from harness.running.output_places import (  # noqa: PLC0415
        refuse_one_stream,
        require_writable,
    )
    from harness.running.run_addresses import RunAddress  # noqa: PLC0415
    from harness.running.run_comparisons import (  # noqa: PLC0415
        ComparisonChoices,
        compare_named,
        read_margins,
    )
    from harness.system.loops import run_to_end  # noqa: PLC0415

    refuse_one_stream({"--json": json_to, "--markdown": markdown_to})
    require_writable(json_to, markdown_to)
    suite_file = None if suite_file is None else _found_suite(suite_file)
    choices = ComparisonChoices(
        baseline=RunAddress.read(baseline),
        out=out,
        metrics=read_margins(margins, MetricChoice(gating=metrics)),
        question="population" if population else "fixed_suite",
        suite_file=suite_file,
        regrades_judges=regrade_judges,
        is_strict=strict,
        requires_baseline=require_baseline,
        confirmed=confirmed,
    )
    compared = run_to_end(compare_named(RunAddress.read(candidate), choices))
    show(compared, json_to=json_to, markdown_to=markdown_to)
    return compared.exit_code


def _found_suite(given: Path) -> Path:
    """Return the file of a suite that is named by its file or folder."""
    from harness.running.run_options import suite_file  # noqa: PLC0415
    from harness.types.errors import Fault, InputError  # noqa: PLC0415

    path = suite_file(given)
    if not path.is_file():
        allowed = "the suite by which the candidate was graded"
        raise InputError([Fault(file=f"--suite {given}", problem="no such file", allowed=allowed)])
    return path
