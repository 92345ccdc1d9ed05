"""A run that is gone on with: what it holds is kept, and what is missing is made."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from harness.loading.datasets import Dataset
from harness.loading.selections import Selection, effective
from harness.running.planned_comparisons import planned_comparison
from harness.running.plans import plan
from harness.running.run_changes import changes_between, changes_of_suite
from harness.running.run_manifests import make_manifest
from harness.running.run_options import RunOptions
from harness.running.stored_work import StoredWork
from harness.storing.log_repair import cut_torn_end, salvage
from harness.storing.manifests import (
    Manifest,
    Resumption,
    read_manifest,
    read_summary,
    require_known_summary,
    write_manifest,
)
from harness.storing.run_folders import COMPARISON, SUMMARY
from harness.storing.stored_index import StoredIndex
from harness.system.clock import now
from harness.system.hashing import sha256_of
from harness.types.errors import Fault, InputError, StoreError
from harness.types.suites import Suite
from harness.types.summaries import Summary


def _silent(_text: str) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Which run to go on with, and how.

    With `retry_errors`, trials that ended in errors are made again; with `salvage`, what can be
    read of a damaged log is kept. `say` hears what is kept and what has changed, a line each.
    """

    folder: Path
    retry_errors: bool = False
    salvage: bool = False
    say: Callable[[str], None] = _silent


def resumed_options(folder: Path, options: RunOptions) -> RunOptions:
    """Fill what is not chosen by what the run in a folder was made with.

    Raises:
        StoreError: the run cannot be read.
        InputError: nothing was driven in it.
    """
    manifest = read_manifest(folder)
    if manifest.graded_from is not None:
        problem = "nothing was driven in this run: it cannot be resumed"
        allowed = "grade its source again with `regrade grade`"
        raise InputError([Fault(file=str(folder), problem=problem, allowed=allowed)])
    chosen = options.selection
    return replace(
        options,
        models=options.models or manifest.models,
        epochs=options.epochs or manifest.epochs,
        selection=chosen if chosen != Selection() else _selection(manifest),
        out=(folder if folder.name not in {"", ".."} else folder.resolve()).parent,
        target_file=options.target_file or _path(manifest.target_file),
        parameters=options.parameters or manifest.parameters,
        compared_with=options.compared_with or planned_comparison(manifest),
    )


def say_left_out(resume: Resume, suite: Suite, options: RunOptions) -> None:
    """Say what the text of a suite asks for by now that the run goes on without."""
    manifest = read_manifest(resume.folder)
    if manifest.suite_sha256 == sha256_of(suite.text):
        return
    for line in _left_out(manifest, suite, options):
        resume.say(line)


def _left_out(manifest: Manifest, suite: Suite, options: RunOptions) -> Iterator[str]:
    names = suite.target.models if suite.target else ()
    new = [name for name in names if name not in options.models]
    if new:
        chosen = " ".join(f"--model {shlex.quote(name)}" for name in (*options.models, *new))
        yield (
            f"the suite names {', '.join(new)} as well, which this run does not; "
            f"go on with {chosen}"
        )
    if options.epochs == manifest.epochs != suite.epochs:
        yield (
            f"the suite asks for epochs: {suite.epochs}, this run for {manifest.epochs}; "
            f"go on with --epochs {suite.epochs}"
        )
    now_selected = effective(Selection(), suite)
    chosen_by_run = _selection(manifest)
    if options.selection == chosen_by_run != now_selected and not chosen_by_run.ids:
        yield (
            "the suite selects other samples (max_samples, sample_tags) than this run, which goes "
            "on with its own; --limit and --tag choose others"
        )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _selection(manifest: Manifest) -> Selection:
    return msgspec.convert(manifest.selection, Selection)


def without_selection(suite: Suite) -> Suite:
    """Return a suite that selects no samples by itself: the run has done so already."""
    return replace(suite, max_samples=None, sample_tags=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A run that is gone on with, its log made whole: what it was, is now, and has to do."""

    folder: Path
    before: Manifest
    manifest: Manifest
    work: StoredWork
    changes: tuple[str, ...]

    def summary_if_done(self) -> Summary | None:
        """Return the summary of a complete run in which nothing is to be done, else None."""
        if changes_of_suite(self.before, self.manifest) or not self.work.is_done:
            return None
        with suppress(StoreError):
            summary = read_summary(self.folder)
            return summary if summary.complete else None
        return None

    def begin(self) -> Sequence[str]:
        """Put the run on record as going on; return warnings.

        Raises:
            StoreError: the run directory cannot be written.
        """
        warning = self.work.leave_out_unplanned()
        write_manifest(self.folder, self.manifest)
        # The numbers of before are true no longer, nor is what they were compared with.
        for path in (self.folder / SUMMARY, self.folder / COMPARISON):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"cannot write: {error.strerror}", place=str(path)) from error
        return [warning] if warning else []


def complete_summary(
    resume: Resume, suite: Suite, options: RunOptions, dataset: Dataset
) -> Summary | None:
    """Return the summary of a complete run in which nothing is to be done, else None.

    The run is only read, so that it need not be locked; what is said of it is said where it is so.
    """
    said, torn = list[str](), list[str]()
    look = replace(resume, say=said.append)
    try:
        if not read_summary(resume.folder).complete:
            return None
        index = StoredIndex(resume.folder, torn.append)
        summary = _held(look, index, suite, options, dataset).summary_if_done()
    except StoreError:
        return None  # told again where it is mended
    if summary is None or torn:
        return None
    for text in [*([_UNDAMAGED] if resume.salvage else []), *said]:
        resume.say(text)
    return summary


def open_resumed(resume: Resume, suite: Suite, options: RunOptions, dataset: Dataset) -> Resumed:
    """Make the log of a run whole, and hold what it has against the plan of now.

    The run is locked by the caller.

    Raises:
        StoreError: the run cannot be read or written, or its log is damaged.
    """
    folder = resume.folder
    read_manifest(folder)
    require_known_summary(folder)
    if resume.salvage:
        _salvage(resume)
    index = StoredIndex(folder, lambda note: resume.say(f"{note}; its trial is run again"))
    cut_torn_end(folder, index)
    return _held(resume, index, suite, options, dataset)


def _held(
    resume: Resume, index: StoredIndex, suite: Suite, options: RunOptions, dataset: Dataset
) -> Resumed:
    folder, before = resume.folder, read_manifest(resume.folder)
    work = StoredWork(folder, index, suite, retry_errors=resume.retry_errors)
    work.survey(plan(dataset.samples(), options.models, suite.epochs))
    after = make_manifest(
        suite, options, dataset, run_id=before.run_id, started_at=before.started_at
    )
    changes = changes_between(before, after)
    for change in changes:
        resume.say(f"since this run was made: {change}")
    resume.say(
        f"{work.kept:,} trials are kept, {work.graded:,} are graded again, "
        f"{work.driven:,} are driven"
    )
    resumption = Resumption(
        at=now(),
        command=after.command,
        host=after.host,
        changes=changes,
        kept=work.kept,
        graded=work.graded,
        driven=work.driven,
    )
    manifest = msgspec.structs.replace(
        after, command=before.command, resumed=(*before.resumed, resumption)
    )
    return Resumed(folder=folder, before=before, manifest=manifest, work=work, changes=changes)


_UNDAMAGED = "nothing of the log is damaged"


def _salvage(resume: Resume) -> None:
    lines, pieces = salvage(resume.folder)
    if not lines:
        resume.say(_UNDAMAGED)
    elif not pieces:
        resume.say(f"{lines} damaged lines of the log were put right: every trial in them is kept")
    else:
        resume.say(
            f"{pieces} damaged pieces of the log were put into damaged.jsonl; the rest is kept"
        )
