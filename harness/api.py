"""The Python API: what the commands do, as functions, plain and async.

The plain forms work everywhere, also inside a running event loop such as a notebook's: there
the work is done in a thread with a loop of its own.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.loading.selections import Selection
from harness.loading.suite_files import load_suite
from harness.reports.progress_bar import progress_shown
from harness.running.recording import RunResult
from harness.running.replays import recorded_trials, replay, replay_run
from harness.running.run_options import RunOptions, suite_file
from harness.running.runs import execute
from harness.running.stored_summaries import summary_of
from harness.storing.manifests import Manifest, read_manifest
from harness.storing.run_folders import find_run
from harness.storing.trial_log import read_trials
from harness.types.suites import Suite
from harness.types.summaries import Summary
from harness.types.trajectories import Trajectory
from harness.types.trials import Trial

_T = TypeVar("_T")
_RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory: its numbers, and its trials as a stream."""

    folder: Path
    summary: Summary

    @property
    def passed(self) -> bool:
        """Say whether the run is complete and met its gates."""
        return self.summary.passed

    @property
    def manifest(self) -> Manifest:
        """Read what the run is made of."""
        return read_manifest(self.folder)

    def trials(self) -> Iterator[Trial]:
        """Read the trials one by one, in the order in which they ended."""
        return read_trials(self.folder)


async def run_async(  # noqa: PLR0913  (one keyword an option of `regrade run`)
    suite: Suite | str | Path,
    *,
    models: Sequence[str] = (),
    epochs: int | None = None,
    limit: int | None = None,
    samples: Sequence[str] = (),
    tags: Sequence[str] = (),
    concurrency: int | None = None,
    out: str | Path = _RUNS,
    progress: bool = False,
) -> Run:
    """Run a suite, as `regrade run` does.

    Args:
        suite: a suite, or the path of its file or folder.
        models: run on these instead of the suite's.
        epochs: repeat every sample so many times.
        limit: take the first so many samples.
        samples: take the samples of these ids.
        tags: take the samples that have one of these tags.
        concurrency: drive so many trials at once.
        out: make the run directory in this folder.
        progress: show how far the run is, on standard error.

    Raises:
        InputError: the suite or its dataset cannot be used; nothing was stored.
        StoreError: the run directory cannot be made.
    """
    options = RunOptions(
        models=tuple(models),
        epochs=epochs,
        concurrency=concurrency,
        selection=Selection(limit=limit, ids=tuple(samples), tags=tuple(tags)),
        out=Path(out),
    )
    return _run(await execute(_loaded(suite), options, progress_shown(quiet=not progress)))


async def grade_async(
    source: Run | str | Path | Mapping[str, Trajectory],
    suite: Suite | str | Path,
    *,
    out: str | Path = _RUNS,
    progress: bool = False,
) -> Run:
    """Grade trajectories with a suite, without driving an agent.

    Args:
        source: a run, the path of its directory, or trajectories by the id of their sample.
        suite: a suite, or the path of its file or folder; its target is not used.
        out: make the new run directory in this folder.
        progress: show how far the work is, on standard error.

    Raises:
        InputError: the suite or its dataset cannot be used; nothing was stored.
        StoreError: the run cannot be read, or the new directory cannot be made.
    """
    loaded, watcher = _loaded(suite), progress_shown(quiet=not progress)
    if isinstance(source, Mapping):
        options = RunOptions(models=("default",), epochs=1, out=Path(out), planned=len(source))
        return _run(await replay(loaded, recorded_trials(source), options, watcher))
    folder = source.folder if isinstance(source, Run) else find_run(source, Path(out))
    return _run(await replay_run(loaded, folder, Path(out), watcher))


def run(suite: Suite | str | Path, **options: Any) -> Run:
    """Run a suite and wait for its end; the options are those of `run_async`."""
    return _waited(run_async(suite, **options))


def grade(
    source: Run | str | Path | Mapping[str, Trajectory], suite: Suite | str | Path, **options: Any
) -> Run:
    """Grade trajectories and wait for the end; the options are those of `grade_async`."""
    return _waited(grade_async(source, suite, **options))


def load_run(name: str | Path, *, out: str | Path = _RUNS) -> Run:
    """Open a run directory by its path, its name under `out`, or the word `latest`.

    Raises:
        StoreError: there is no such run, or it cannot be read.
    """
    folder = find_run(name, Path(out))
    return Run(folder, summary_of(folder))


def _loaded(suite: Suite | str | Path) -> Suite:
    return suite if isinstance(suite, Suite) else load_suite(suite_file(suite))


def _run(result: RunResult) -> Run:
    return Run(result.folder, result.summary)


def _waited(work: Coroutine[Any, Any, _T]) -> _T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    ended: list[_T] = []
    failed: list[BaseException] = []

    def do() -> None:
        try:
            ended.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001  (raised again below)
            failed.append(error)

    thread = threading.Thread(target=do, name="regrade-run")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return ended[0]
