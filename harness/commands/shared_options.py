"""Options that several commands have, each written once."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

Decorate = Callable[[Any], Any]


def runs_folder_option(text: str = "Look for RUN in this folder.") -> Decorate:
    """Add `--out` to a command: the folder of the runs, of which `text` says what it is for."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("runs"),
        show_default=True,
        help=text,
    )


def parameters_option(command: Any) -> Any:
    """Add `--param` to a command that loads suites."""
    return click.option(
        "--param",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help="Put VALUE for ${NAME} in an eval spec of Vally.",
    )(command)


_SELECTION = (
    click.option(
        "--limit", type=click.IntRange(min=1), help="Take only the first so many samples."
    ),
    click.option(
        "--sample", "ids", multiple=True, metavar="ID", help="Take only the sample of this id."
    ),
    click.option("--tag", "tags", multiple=True, help="Take only the samples that have this tag."),
)


def selection_options(command: Any) -> Any:
    """Add the options that choose samples of a dataset: `--limit`, `--sample`, `--tag`."""
    # Click lists the options of a command in the reverse order in which they are added.
    return reduce(lambda made, add: add(made), reversed(_SELECTION), command)
