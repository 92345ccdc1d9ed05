"""A run that the user named: found, or a fault of the input."""

from contextlib import suppress
from pathlib import Path

import click

from harness.running.grading_sources import run_at
from harness.running.narrowed_runs import narrowing_of, narrowing_words
from harness.running.resuming import Resume
from harness.running.run_addresses import find_named
from harness.storing.manifests import Manifest, read_manifest
from harness.storing.run_folders import TRIALS
from harness.storing.trial_log import read_trials
from harness.system.suggestions import suggest
from harness.system.texts import one_line
from harness.types.errors import Fault, InputError


def lookup_run(name: str, out: Path) -> Path:
    """Find the run that the user named.

    Raises:
        InputError: there is no such run.
    """
    return find_named(name, out)


def resumed_run(name: str, out: Path, *, retry_errors: bool, salvage: bool) -> Resume:
    """Find the run that the user wants to go on with; what is said of it goes to standard error.

    Raises:
        InputError: there is no such run.
    """
    return Resume(folder=lookup_run(name, out), retry_errors=retry_errors, salvage=salvage, say=say)


def say(text: str) -> None:
    """Tell the user something beside the results; a lost terminal is no matter."""
    with suppress(OSError):
        click.echo(one_line(f"note: {text}"), err=True)


def warn_of_part(manifest: Manifest) -> None:
    """Tell the user of a baseline that took a part of its suite; a lost terminal is no matter."""
    if words := narrowing_words(narrowing_of(manifest)):
        told = f"warning: this run took a part of its suite ({words}): nothing else has a baseline"
        with suppress(OSError):
            click.echo(one_line(told), err=True)


def warn_of_run(known: str) -> None:
    """Tell the user what is known against a baseline; a lost terminal is no matter."""
    if known:
        with suppress(OSError):
            click.echo(one_line(f"warning: this run {known}"), err=True)


def lookup_source(name: str, out: Path) -> Path | None:
    """Find the run that the user named; None where records of another tool lie there.

    Raises:
        InputError: there is nothing of that name.
    """
    return run_at(name, out)


def no_such_trial(folder: Path, sample: str | None, model: str | None) -> InputError:
    """Say that a run holds no such trial, and which names there are."""
    samples, models = set[str](), set[str]()
    for trial in read_trials(folder):
        samples.add(trial.sample_id)
        models.add(trial.model)
    if model is not None and model not in models:
        problem, allowed = f"no trial on model {model!r}", suggest(model, models)
    else:
        problem, allowed = f"no trial of sample {sample!r}", suggest(sample or "", samples)
    return InputError([Fault(file=str(folder / TRIALS), problem=problem, allowed=allowed)])


def suite_of_run(folder: Path) -> Path:
    """Return the suite file that a run was made of.

    Raises:
        InputError: the run was made without a file, or the file is not there any more.
    """
    manifest = read_manifest(folder)
    if manifest.suite_file is not None and Path(manifest.suite_file).is_file():
        return Path(manifest.suite_file)
    was = manifest.suite_file or "made in Python"
    raise InputError(
        [
            Fault(
                file=str(folder),
                problem=f"the suite of this run ({was}) is not there",
                allowed="name the suite's file as well: SUITE of `run`, --suite of other commands",
            )
        ]
    )
