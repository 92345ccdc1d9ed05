"""`regrade convert`: records of any tool, written as ours."""

from pathlib import Path

import click


@click.command(name="convert")
@click.argument("source")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file, outside of SOURCE; one that is there is not overwritten.",
)
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
def command(source: str, out: Path, named: str | None, fields: tuple[str, ...]) -> int:
    """Write the conversations of SOURCE as our own trials, one a line, without grades of ours.

    SOURCE is a run, or records of another tool. `regrade grade` reads the file again.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.run_lookup import lookup_source  # noqa: PLC0415
    from harness.running.converting import convert_records  # noqa: PLC0415
    from harness.running.record_mapping import read_field_map  # noqa: PLC0415
    from harness.running.record_reading import Records  # noqa: PLC0415
    from harness.storing.run_folders import RUNS  # noqa: PLC0415
    from harness.system.texts import one_line  # noqa: PLC0415

    records = Records(path=Path(source), format=named, fields=read_field_map(fields))
    folder = None if named else lookup_source(source, RUNS)
    if folder is not None and fields:
        raise click.UsageError("--map is for records of other tools")
    converted = convert_records(folder or records, out)
    for warning in converted.warnings:
        click.echo(one_line(f"warning: {warning}"), err=True)
    click.echo(one_line(f"wrote {converted.count} trials ({converted.format}) to {out}"))
    return 0
