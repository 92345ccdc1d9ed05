"""The Python API: what the commands do, as functions, plain and async.

The plain forms work everywhere, also inside a running event loop such as a notebook's: there
the work is done in a thread with a loop of its own.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from harness.loading.selections import Selection
from harness.loading.suite_files import load_suite
from harness.reports.progress_bar import progress_shown
from harness.running.compared_metrics import MetricChoice
from harness.running.foreign_records import recorded_elsewhere
from harness.running.grading_sources import run_at
from harness.running.held_trials import held_summary
from harness.running.record_mapping import read_field_map
from harness.running.record_reading import Records
from harness.running.recorded_trials import Recorded, recorded_run, recorded_trajectories
from harness.running.recording import RunResult
from harness.running.replays import replay
from harness.running.resuming import Resume
from harness.running.run_addresses import RunAddress, find_named
from harness.running.run_comparisons import ComparisonChoices, compare_named, with_margins
from harness.running.run_options import RunOptions, suite_file
from harness.running.runs import execute
from harness.running.workers import Stop
from harness.storing.counted_trials import counted_trials
from harness.storing.manifests import Manifest, read_manifest
from harness.system.loops import run_to_end
from harness.system.signals import on_interrupt
from harness.system.threads import in_thread
from harness.types.comparisons import Comparisons
from harness.types.errors import InputError
from harness.types.suites import Suite
from harness.types.summaries import Summary
from harness.types.trajectories import Trajectory
from harness.types.trials import Trial

_T = TypeVar("_T")

_RUNS = Path("runs")
_INTERRUPTED = "interrupted before the end"


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory: its numbers, and its trials as a stream."""

    folder: Path
    summary: Summary = field(repr=False)

    @property
    def passed(self) -> bool:
        """Say whether the run is complete and met its gates."""
        return self.summary.passed

    @property
    def manifest(self) -> Manifest:
        """Read what the run is made of."""
        return read_manifest(self.folder)

    def trials(self) -> Iterator[Trial]:
        """Read the trials that count one by one, in the order in which they ended."""
        return counted_trials(self.folder)


Conversation = Trajectory | Sequence[Mapping[str, Any]]
"""A trajectory, or Chat Completions messages that one is read from."""

Source = Run | str | Path | Mapping[str, Conversation]
"""What can be graded: a run, the path of its directory or of records, or conversations by id."""


class PlaceKeywords(TypedDict, total=False):
    """Keywords of both: where the run directory is made, and whether progress is shown."""

    out: str | Path
    progress: bool


class GradeKeywords(PlaceKeywords, total=False):
    """Keywords of `grade`, one for each option of `regrade grade`.

    They are about records of other tools: their `format`, which of their fields name what
    (`fields`, such as `sample=instance_id,outcome=resolved`), and whether those that belong to no
    sample of the suite are left out.
    """

    format: str | None
    fields: str | Sequence[str]
    allow_unmatched: bool


class RunKeywords(PlaceKeywords, total=False):
    """Keywords of `run`, one for each option of `regrade run`.

    `models`, `epochs` and `concurrency` replace those of the suite; `limit`, `samples` (ids) and
    `tags` select from the dataset. `resume` names a run to go on with: its directory, its name, or
    `latest`; what is not chosen is then as it was made. `retry_errors` and `salvage` are for it.
    """

    models: str | Sequence[str]
    epochs: int | None
    limit: int | None
    samples: str | Sequence[str]
    tags: str | Sequence[str]
    concurrency: int | None
    resume: "Run | str | Path | None"
    retry_errors: bool
    salvage: bool


class CompareKeywords(TypedDict, total=False):
    """Keywords of `compare`, one for each option of `regrade compare`.

    `metrics` decide in place of those that the suite names. `margin` is the drop that one can live
    with: a fraction, or numbers by metric. `population` asks about all that the samples stand for.
    `suite` grades the baseline again where graders differ, with `regrade_judges` also by those that
    ask a model. `strict` and `require_baseline` change the exit code of the record alone;
    `confirmed` says that both runs were made afresh to confirm a regression.
    """

    out: str | Path
    metrics: str | Sequence[str]
    margin: float | Mapping[str, float] | None
    population: bool
    suite: Suite | str | Path | None
    regrade_judges: bool
    strict: bool
    require_baseline: bool
    confirmed: bool


def run(suite: Suite | str | Path, **keywords: Unpack[RunKeywords]) -> Run:
    """Run a suite, given as such or by the path of its file or folder, and wait for its end.

    Raises:
        InputError: the suite or its dataset cannot be used; nothing was stored.
        TargetError: the agents cannot be reached at all; nothing was stored.
        StoreError: the run directory cannot be made, or the run not be gone on with.
    """
    return _waited(lambda stop: _run(suite, keywords, stop))


async def run_async(suite: Suite | str | Path, **keywords: Unpack[RunKeywords]) -> Run:
    """Run a suite beside other work; otherwise as `run`."""
    return await _run(suite, keywords, Stop())


def grade(source: Source, suite: Suite | str | Path, **keywords: Unpack[GradeKeywords]) -> Run:
    """Grade trajectories with a suite, without driving an agent, and wait for the end.

    Raises:
        InputError: the suite, its dataset or the records cannot be used; nothing was stored.
        StoreError: the run cannot be read, or the new directory cannot be made.
    """
    return _waited(lambda stop: _grade(source, suite, keywords, stop))


async def grade_async(
    source: Source, suite: Suite | str | Path, **keywords: Unpack[GradeKeywords]
) -> Run:
    """Grade trajectories beside other work; otherwise as `grade`."""
    return await _grade(source, suite, keywords, Stop())


def compare(
    baseline: Run | str | Path, candidate: Run | str | Path, **keywords: Unpack[CompareKeywords]
) -> Comparisons:
    """Compare a run with its baseline, sample by sample; no agent is driven.

    Each is a run, or the text by which `regrade compare` knows it: a directory, a name under `out`,
    `latest`, `RUN::MODEL`; the baseline also `pinned` or an exported file. What comes back is what
    `regrade compare --json` writes.

    Raises:
        InputError: there is no such run, model or metric, or a margin is no number above 0.
        StoreError: a run cannot be read.
    """
    return _to_end(lambda: _compare(baseline, candidate, keywords))


async def compare_async(
    baseline: Run | str | Path, candidate: Run | str | Path, **keywords: Unpack[CompareKeywords]
) -> Comparisons:
    """Compare two runs beside other work; otherwise as `compare`."""
    return await in_thread(lambda: run_to_end(_compare(baseline, candidate, keywords)))


async def _compare(
    baseline: Run | str | Path, candidate: Run | str | Path, keywords: CompareKeywords
) -> Comparisons:
    suite = keywords.get("suite")
    choice = MetricChoice(gating=_names(keywords.get("metrics", ())))
    choices = ComparisonChoices(
        baseline=_address(baseline),
        out=Path(keywords.get("out", _RUNS)),
        metrics=with_margins(keywords.get("margin"), choice),
        question="population" if keywords.get("population", False) else "fixed_suite",
        suite=None if suite is None else _loaded(suite),
        regrades_judges=keywords.get("regrade_judges", False),
        is_strict=keywords.get("strict", False),
        requires_baseline=keywords.get("require_baseline", False),
        confirmed=keywords.get("confirmed", False),
    )
    try:
        return await compare_named(_address(candidate), choices)
    except InputError as error:
        # The keywords are called as the options are, but for their dashes.
        faults = [replace(one, file=_KEYWORDS.get(one.file, one.file)) for one in error.faults]
        raise type(error)(faults) from error


_KEYWORDS = {"--metric": "metrics", "--margin": "margin"}


def _address(named: Run | str | Path) -> RunAddress:
    return RunAddress(str(named.folder)) if isinstance(named, Run) else RunAddress.read(str(named))


def load_run(name: str | Path, *, out: str | Path = _RUNS) -> Run:
    """Open a run directory by its path, its name under `out`, or the word `latest`.

    Raises:
        InputError: there is no such run.
        StoreError: it cannot be read.
    """
    folder = find_named(name, Path(out))
    return Run(folder, held_summary(folder))


async def _run(suite: Suite | str | Path, keywords: RunKeywords, stop: Stop) -> Run:
    selection = Selection(
        limit=keywords.get("limit"),
        ids=_names(keywords.get("samples", ())),
        tags=_names(keywords.get("tags", ())),
    )
    options = RunOptions(
        models=_names(keywords.get("models", ())),
        epochs=keywords.get("epochs"),
        concurrency=keywords.get("concurrency"),
        selection=selection,
        out=Path(keywords.get("out", _RUNS)),
    )
    observer = progress_shown(quiet=not keywords.get("progress", False))
    resume = _resume(keywords, options.out)
    return _as_run(await execute(_loaded(suite), options, observer, stop, resume=resume))


def _resume(keywords: RunKeywords, out: Path) -> Resume | None:
    named = keywords.get("resume")
    if named is None:
        return None
    return Resume(
        folder=named.folder if isinstance(named, Run) else find_named(named, out),
        retry_errors=keywords.get("retry_errors", False),
        salvage=keywords.get("salvage", False),
    )


async def _grade(
    source: Source, suite: Suite | str | Path, keywords: GradeKeywords, stop: Stop
) -> Run:
    out = Path(keywords.get("out", _RUNS))
    observer = progress_shown(quiet=not keywords.get("progress", False))
    loaded = _loaded(suite)
    # Looking at all records of another tool may take long.
    recorded = await in_thread(lambda: _recorded(source, loaded, out, keywords))
    return _as_run(await replay(loaded, recorded, RunOptions(out=out), observer, stop))


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _recorded(source: Source, suite: Suite, out: Path, keywords: GradeKeywords) -> Recorded:
    if isinstance(source, Mapping):
        return recorded_trajectories({name: _trajectory(one) for name, one in source.items()})
    if isinstance(source, Run):
        return recorded_run(source.folder)
    named = keywords.get("format")
    if named is None and (folder := run_at(source, out)):
        return recorded_run(folder)
    records = Records(
        path=Path(source),
        format=named,
        fields=read_field_map(_names(keywords.get("fields", ()))),
        allow_unmatched=keywords.get("allow_unmatched", False),
    )
    return recorded_elsewhere(suite, records)


def _trajectory(conversation: Conversation) -> Trajectory:
    if isinstance(conversation, Trajectory):
        return conversation
    return Trajectory.from_messages(conversation)


def _loaded(suite: Suite | str | Path) -> Suite:
    return suite if isinstance(suite, Suite) else load_suite(suite_file(suite))


def _as_run(result: RunResult) -> Run:
    return Run(result.folder, result.summary)


def _waited(work: Callable[[Stop], Coroutine[Any, Any, Run]]) -> Run:
    async def whole() -> Run:
        return await work(stop)

    stop = Stop()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _interruptible(whole, stop)
    return _in_thread_of_its_own(whole, stop)


def _interruptible(whole: Callable[[], Coroutine[Any, Any, Run]], stop: Stop) -> Run:
    async def guarded() -> Run:
        with on_interrupt(lambda: stop.ask(_INTERRUPTED), lambda: None):
            return await whole()

    run = run_to_end(guarded())
    if stop.reason:
        # What was done is stored and summed up; the caller still hears of Ctrl-C.
        raise KeyboardInterrupt
    return run


def _to_end(whole: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_to_end(whole())
    return _in_thread_of_its_own(whole, Stop())


def _in_thread_of_its_own(whole: Callable[[], Coroutine[Any, Any, _T]], stop: Stop) -> _T:
    loops: list[asyncio.AbstractEventLoop] = []
    ended: list[_T] = []
    failed: list[BaseException] = []

    async def noted() -> _T:
        loops.append(asyncio.get_running_loop())
        return await whole()

    def do() -> None:
        try:
            ended.append(run_to_end(noted()))
        except BaseException as error:  # noqa: BLE001  (raised again below)
            failed.append(error)

    thread = threading.Thread(target=do, name="regrade-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        # The interrupted cell must not leave agents at work behind.
        for loop in loops:
            loop.call_soon_threadsafe(stop.ask, _INTERRUPTED)
        thread.join()
        raise
    if failed:
        raise failed[0]
    return ended[0]
