"""`regrade init`: a starter suite, written into a folder of its own."""

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import click

from harness.types.errors import Fault, SuiteError


@click.command("init")
@click.argument("folder", metavar="[DIR]", default="evals", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Write a starter suite into DIR (by default evals/) that runs at once, without a key.

    No file is overwritten: where one of them is there already, nothing is written.
    """
    texts = starter_files()
    _refuse_to_overwrite(folder, texts)
    _write(folder, texts)
    click.echo("\n".join(f"wrote {folder / name}" for name in texts))
    click.echo(_NEXT.format(run=_quoted(folder), agent=folder / "agent.py"))


_NEXT = """
Run it:    regrade run {run}
Then put your own agent into {agent}, your questions into samples.jsonl beside it,
and what a right answer looks like into suite.yaml."""


def starter_files() -> Mapping[str, str]:
    """Return the texts of the starter suite by file name."""
    folder = files("harness.commands").joinpath("starter")
    names = ("suite.yaml", "samples.jsonl", "agent.py", "checks.py")
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in names}


def _refuse_to_overwrite(folder: Path, texts: Mapping[str, str]) -> None:
    there = [name for name in texts if os.path.lexists(folder / name)]
    if there:
        problem = f"{', '.join(there)} would be overwritten"
        raise _refusal(folder, problem, "nothing was written; name another folder")


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with (folder / name).open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise _refusal(folder, f"cannot be written: {error.strerror}", "") from error


def _refusal(folder: Path, problem: str, allowed: str) -> SuiteError:
    return SuiteError([Fault(file=str(folder), problem=problem, allowed=allowed)])


def _quoted(folder: Path) -> str:
    text = str(folder)
    return f'"{text}"' if " " in text else text
