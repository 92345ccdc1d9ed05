"""`regrade export`: a run as a table, or its conversations as messages."""

from pathlib import Path

import click

NAMES = {"csv": "trials.csv", "parquet": "trials.parquet", "openai-chat": "conversations.jsonl"}
"""What is written -> the name of the file, where the user names none."""


@click.command(name="export")
@click.argument("run")
@click.option(
    "--to",
    "kind",
    required=True,
    type=click.Choice(list(NAMES)),
    help="A table, a row a trial; or one conversation a line.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file, not to one in the run directory; none is overwritten.",
)
def command(run: str, kind: str, out: Path | None) -> int:
    """Write the trials of RUN as a table (csv, parquet), or as Chat Completions messages.

    RUN is a run directory, its name in the folder of runs, or `latest`.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.run_lookup import lookup_run  # noqa: PLC0415
    from harness.reports import table_files  # noqa: PLC0415
    from harness.reports.trial_rows import grader_names  # noqa: PLC0415
    from harness.running.hidden_trials import trial_without  # noqa: PLC0415
    from harness.running.output_places import refuse_overwriting  # noqa: PLC0415
    from harness.storing.counted_trials import counted_trials  # noqa: PLC0415
    from harness.storing.run_folders import RUNS  # noqa: PLC0415
    from harness.system.files import whole_file  # noqa: PLC0415
    from harness.system.redaction import known_secrets  # noqa: PLC0415
    from harness.system.texts import one_line  # noqa: PLC0415
    from harness.types.errors import Fault, InputError  # noqa: PLC0415

    writers = {
        "csv": table_files.write_csv,
        "parquet": table_files.write_parquet,
        "openai-chat": table_files.write_chat,
    }
    secrets = known_secrets()
    folder = lookup_run(run, RUNS)
    path = out or folder / NAMES[kind]
    refuse_overwriting(path)
    try:
        with whole_file(path) as draft:
            names = grader_names(counted_trials(folder, _note))
            trials = (trial_without(secrets, trial) for trial in counted_trials(folder))
            left_out = writers[kind](draft, trials, names)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or type(error).__name__}"
        raise InputError([Fault(file=str(path), problem=problem)]) from error
    if left_out:
        kinds = ", ".join(f"{what} ({count})" for what, count in left_out.most_common())
        click.echo(
            one_line(f"warning: left out, as messages have no form for it: {kinds}"), err=True
        )
    click.echo(one_line(f"wrote {path}"))
    return 0


def _note(text: str) -> None:
    from harness.system.texts import one_line  # noqa: PLC0415  (as above)

    click.echo(one_line(f"note: {text}"), err=True)
