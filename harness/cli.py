"""The command `regrade`: finds the subcommand, and turns errors into lines and exit codes.

Exit codes: 0 all is well; 1 a gate was missed; 2 the input is wrong; 3 the run could not be
completed; 130 interrupted, what was done is kept.
"""

import sys

from harness.system.early_signals import (
    interrupt_on_signals,
    keep_exit_code,
    leave_on_signals,
)

if __name__ == "__main__" or sys.argv[0].replace("\\", "/").rpartition("/")[2] == "regrade":
    # Before all that takes its time to load; who imports this module keeps their own handlers.
    leave_on_signals()

import io
import os
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from harness.system.process_exit import leave
from harness.system.shown_streams import RedactingStream
from harness.system.texts import one_line
from harness.types.errors import HarnessError, InputError

EVERYDAY = {
    "init": ("init", "Write a starter suite that runs at once."),
    "run": ("run", "Drive the agent of a suite, grade what it did, store and sum up."),
    "grade": ("grade", "Grade a stored run, or records of another tool; no agent is driven."),
    "compare": ("compare", "Say whether a run is better, worse or no worse than another."),
    "show": ("show", "Show the numbers of a run, or all that happened in its trials."),
    "validate": ("validate", "Report every mistake in suites and datasets, with its place."),
}
MORE = {
    "baseline": ("baseline", "Pin the run that others are held against, or write it as one file."),
    "clean": ("clean", "Delete what a killed run has left on a Letta server."),
    "convert": ("convert", "Write a run, or records of another tool, as trials of our own."),
    "explain": ("explain", "Say why a run is as it is, and how to see it again."),
    "export": ("export", "Write a run as a table, or its conversations as messages."),
    "history": ("history", "Show how the runs of the last nights have gone, and which samples."),
    "list": ("list", "Show which graders, extractors, targets and formats there are."),
    "plan": ("plan", "Say what a suite can and cannot see, and what a run of it costs."),
    "report": ("report", "Write a run as JUnit XML, Markdown or annotations of GitHub."),
    "schema": ("schema", "Print the JSON Schema of a suite, for your editor."),
    "serve-model": ("serve_model", "Serve scripted models on loopback, to any OpenAI client."),
}
_COMMANDS = EVERYDAY | MORE


class _Commands(click.Group):
    """The subcommands, each loaded when it is called; the everyday ones are shown first."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a subcommand."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"harness.commands.{_COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Show the subcommands without loading them."""
        for title, commands in (("Everyday commands", EVERYDAY), ("More", MORE)):
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Each command has its own --help. Exit codes: 0 all is well, 1 a gate was missed, "
    "2 the input is wrong, 3 the run could not be completed, 130 interrupted.",
)
@click.version_option(package_name="regrade", prog_name="regrade")
def group() -> None:
    """Drive live agents through a dataset, record what they did, and grade the record."""


def main() -> None:
    """Run the command line and exit with its code."""
    _prepare_streams()
    # A suite's Python files may import the user's project from where the command is started; last,
    # so that nothing there hides what is installed.
    with suppress(OSError):
        sys.path.append(str(Path.cwd()))
    try:
        interrupt_on_signals()
        code = _run()
        keep_exit_code(code)
    except KeyboardInterrupt:
        code = 130
    try:
        sys.stdout.flush()
    except OSError:
        # Whoever read the output has gone; the interpreter must not try to flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    leave(code)


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the command
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.flush()
            setattr(sys, name, RedactingStream(stream))


def _run() -> int:
    try:
        # Not `group.main()`: it exits by itself where the reader of the output has gone.
        with group.make_context("regrade", sys.argv[1:]) as context:
            code = group.invoke(context)
    except click.exceptions.Exit as end:
        code = end.exit_code
    except click.ClickException as error:
        return _report_usage(error)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except HarnessError as error:
        return _report(error)
    except BaseException as error:  # noqa: BLE001  (never to be taken for a missed gate)
        return _report_unexpected(error)
    return code if isinstance(code, int) else 0


def _report_usage(error: click.ClickException) -> int:
    """Tell in one line what is wrong with the words of the command."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    problem = " ".join(error.format_message().split()).removesuffix(".")
    path = context.command_path
    click.echo(one_line(f"{path}: {problem}; {path} --help says what there is"), err=True)
    return error.exit_code


def _report_unexpected(error: BaseException) -> int:
    if isinstance(error, BrokenPipeError):  # whoever read the output has gone (`| head`)
        return 0
    traceback.print_exception(error)
    return 3


def _report(error: HarnessError) -> int:
    faults = error.faults if isinstance(error, InputError) else ()
    for line in map(str, faults) if faults else [error.line]:
        click.echo(one_line(line), err=True)
    return 2 if isinstance(error, InputError) else 3


if __name__ == "__main__":
    main()
