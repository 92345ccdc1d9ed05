"""The option `--env-file` of the commands that load suites."""

from pathlib import Path
from typing import Any

import click


def _read(_context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    if path is not None:
        # Only who asks for it needs the package.
        from harness.loading.env_files import read_env_file  # noqa: PLC0415

        read_env_file(path)


def env_file_option(command: Any) -> Any:
    """Add `--env-file` to a command: its variables are set before the command begins."""
    return click.option(
        "--env-file",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=_read,
        expose_value=False,
        is_eager=True,
        help="Take environment variables from this file, too; those that are set stay.",
    )(command)
