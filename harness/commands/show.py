"""`regrade show`: a run, or its trials of one sample."""

from pathlib import Path

import click

from harness.commands.shared_options import runs_folder_option


@click.command(name="show")
@click.argument("run")
@click.argument("sample", required=False)
@click.option("--model", help="Only the trials on this model.")
@click.option("--failed", is_flag=True, help="Only trials that did not pass.")
@runs_folder_option()
def command(run: str, sample: str | None, model: str | None, out: Path, *, failed: bool) -> int:
    """Show the numbers of RUN, or with SAMPLE, --model or --failed all that happened.

    RUN is a run directory, its name in the folder of runs, or `latest`.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.run_lookup import lookup_run, no_such_trial  # noqa: PLC0415
    from harness.storing.counted_trials import replaced_trials  # noqa: PLC0415
    from harness.storing.trial_log import read_trials  # noqa: PLC0415

    folder = lookup_run(run, out)
    if sample is None and model is None and not failed:
        _show_summary(folder)
        return 0
    from harness.reports.trial_text import trial_text  # noqa: PLC0415

    found, replaced = False, replaced_trials(folder)
    trials = enumerate(read_trials(folder, lambda note: click.echo(f"note: {note}", err=True)))
    for trial in (one for index, one in trials if index not in replaced):
        wanted = sample in (None, trial.sample_id) and model in (None, trial.model)
        if wanted and not (failed and trial.passed):
            click.echo(trial_text(trial), color=False)
            found = True
    if not found and failed:
        click.echo("every trial that was asked for has passed")
    elif not found:
        raise no_such_trial(folder, sample, model)
    return 0


def _show_summary(folder: Path) -> None:
    from harness.commands.run_reporting import console  # noqa: PLC0415  (loads the tables)
    from harness.reports.terminal import print_summary  # noqa: PLC0415
    from harness.running.held_trials import held_summary  # noqa: PLC0415

    print_summary(console(), held_summary(folder), folder)
