"""What `run` and `grade` share: warnings first, progress meanwhile, the table and the code last."""

import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from harness.commands.published_runs import publish
from harness.reports.progress_bar import progress_shown
from harness.reports.terminal import print_summary
from harness.running.budget_amounts import is_limited, spending_rule
from harness.running.next_steps import next_step
from harness.running.recording import RunResult
from harness.running.workers import Stop
from harness.system.loops import run_to_end
from harness.system.shown_streams import bounded_streams, hide_on_streams
from harness.system.signals import on_interrupt
from harness.system.texts import one_line
from harness.types.comparisons import Comparisons
from harness.types.progress import Observer
from harness.types.suites import Suite

INTERRUPTED = 130
_PIPE_WIDTH = 110


def say_spending_rule(suite: Suite, concurrency: int | None) -> None:
    """Say how a run keeps its limits of money and tokens, where it has any."""
    limits = replace(suite.limits, concurrency=concurrency or suite.limits.concurrency)
    if is_limited(limits):
        with contextlib.suppress(OSError):
            click.echo(f"note: {spending_rule(limits)}", err=True)


Compared = Callable[[RunResult], Comparisons]
"""Compares a run that has ended with its baseline, and shows that."""


def run_and_report(
    suite: Suite,
    work: Callable[[Observer, Stop], Awaitable[RunResult]],
    *,
    quiet: bool,
    junit: Path | None = None,
    compare: Compared | None = None,
) -> int:
    """Do the work, show a user what comes of it, and tell CI; return the exit code.

    Of one that is not complete, it is said how to go on with it. `junit` is a file
    for JUnit XML. With `compare` the exit code is the gravest of both.
    """
    hide_on_streams(suite.secrets)
    # A reader that has gone (`| head`) or a full disk changes nothing about the run.
    with contextlib.suppress(OSError):
        for warning in suite.warnings:
            click.echo(one_line(f"warning: {warning}"), err=True)
        for note in suite.notes:
            click.echo(one_line(f"note: {note}"), err=True)
    observer = progress_shown(quiet=quiet)
    with bounded_streams():
        result = run_to_end(_interruptible(work, observer))
    with contextlib.suppress(OSError):
        print_summary(console(), result.summary, result.folder)
        if advice := _how_to_go_on(result):
            click.echo(one_line(advice))
    compared = compare(result) if compare and not result.interrupted else Comparisons()
    publish(result.folder, result.summary, compared, junit=junit)
    return gravest((exit_code(result), compared.exit_code))


def gravest(codes: Iterable[int]) -> int:
    """Return the gravest of exit codes: interrupted, cannot be judged, failed, undecided, well."""
    found = set(codes)
    return next((code for code in (INTERRUPTED, 3, 1, 4) if code in found), 0)


def _how_to_go_on(result: RunResult) -> str:
    """Say how to make what is missing or ended in errors; empty where nothing did."""
    step = next_step(result.folder, result.summary)
    if step is None:
        return ""
    return f"{step.words}: {step.command}" if step.command else step.words


def console() -> Console:
    """Return a console for tables: as wide as the terminal, or wide enough for a file."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)


async def _interruptible(
    work: Callable[[Observer, Stop], Awaitable[RunResult]], observer: Observer
) -> RunResult:
    stop = Stop()
    with on_interrupt(lambda: stop.ask("interrupted before the end"), _insist) as ends_with:
        result = await work(observer, stop)
        ends_with(exit_code(result))
        return result


def _insist() -> None:
    # Trials are handed to the system whole, one by one: there is nothing left to lose.
    os._exit(INTERRUPTED)


def exit_code(result: RunResult) -> int:
    """Return the exit code of a run: 130 interrupted, 3 incomplete, 1 a gate missed, else 0."""
    if result.interrupted:
        return INTERRUPTED
    if not result.summary.complete:
        return 3
    return 0 if result.summary.passed else 1
