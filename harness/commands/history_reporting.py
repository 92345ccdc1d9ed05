"""A history read and shown."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import msgspec

from harness.reports.history_text import history_text
from harness.running.histories import HistoryOptions, read_history
from harness.running.quarantining import QuarantineOrder, change_quarantine
from harness.system.files import write_whole
from harness.system.texts import one_line
from harness.types.errors import Fault, InputError
from harness.types.nights import History


def show_history(folder: Path, at: datetime, json_to: Path | None, **choices: Any) -> History:
    """Show the history of a folder of runs, write it as JSON where asked for, and return it.

    `choices` are further fields of `HistoryOptions`.

    Raises:
        InputError: there is no night, or a name that is given is not there.
    """
    with TemporaryDirectory(prefix="regrade-") as workspace:
        options = HistoryOptions(now=at, workspace=Path(workspace), **choices)
        history = read_history(folder, options)
    click.echo(history_text(history, at.date()), nl=False)
    if json_to is not None:
        write_json(json_to, history)
    return history


def quarantine(folder: Path, at: datetime, **choices: Any) -> None:
    """Put samples into quarantine and take others out, and say which file was written.

    `choices` are further fields of `QuarantineOrder`.

    Raises:
        InputError: a sample cannot go in, or is not there to come out.
    """
    with TemporaryDirectory(prefix="regrade-") as workspace:
        order = QuarantineOrder(today=at.date(), workspace=Path(workspace), **choices)
        path = change_quarantine(folder, order)
    click.echo(one_line(f"wrote {path}"))


def write_json(path: Path, record: msgspec.Struct) -> None:
    """Write a record as JSON, over what was there, and say so.

    Raises:
        InputError: the file cannot be written.
    """
    text = msgspec.json.format(msgspec.json.encode(record), indent=2).decode()
    try:
        write_whole(path, f"{text}\n")
    except OSError as error:
        problem = f"cannot be written: {error.strerror or type(error).__name__}"
        raise InputError([Fault(file=str(path), problem=problem)]) from error
    click.echo(one_line(f"wrote {path}"))
