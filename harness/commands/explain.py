"""`regrade explain`: why a run is as it is, on one screen."""

import json
from pathlib import Path

import click

from harness.commands.shared_options import runs_folder_option


@click.command(name="explain")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@runs_folder_option()
def command(run: str, out: Path, *, as_json: bool) -> int:
    """Explain RUN: its verdict, its failures grouped, three of them, and how to see them again.

    RUN is a run directory, its name in the folder of runs, or `latest`. What is printed is the
    Markdown of `summary.md` in the run directory, made anew; nothing is written.
    """
    # Loaded here, so that `regrade --help` need not.
    import msgspec  # noqa: PLC0415

    from harness.commands.run_lookup import lookup_run  # noqa: PLC0415
    from harness.reports.summary_markdown import summary_markdown  # noqa: PLC0415
    from harness.running.summary_pages import explained  # noqa: PLC0415

    _, explanation = explained(lookup_run(run, out))
    if as_json:
        # Nothing but ASCII: what a terminal cannot encode would be shown as no JSON.
        click.echo(json.dumps(msgspec.to_builtins(explanation), indent=2), color=False)
    else:
        click.echo(summary_markdown(explanation), nl=False, color=False)
    return 0
