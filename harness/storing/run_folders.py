"""Run directories: how one is named, made and found again."""

import re
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from harness.storing.run_order import RunOrder, note_run
from harness.system.disk_syncing import sync_folders
from harness.types.errors import StoreError

MANIFEST, TRIALS, OUTCOMES, SUMMARY = (
    "manifest.json",
    "trials.jsonl",
    "outcomes.jsonl",
    "summary.json",
)
LOCK, DAMAGED, UNPLANNED = ".lock", "damaged.jsonl", "unplanned.jsonl"
SUMMARY_PAGE = "summary.md"


COMPARISON = "comparison.json"


def new_run_id(suite: str, started: datetime) -> str:
    """Name a new run: `<UTC time>-<suite>-<6 hex>`."""
    slug = re.sub(r"[^a-z0-9]+", "-", suite.lower()).strip("-")[:40].strip("-") or "suite"
    return f"{stamp(started)}-{slug}-{secrets.token_hex(3)}"


def make_run_folder(out: Path, run_id: str, fill: Callable[[Path], None]) -> Path:
    """Make the directory of a new run under `out`; it appears with what `fill` has put into it.

    Raises:
        StoreError: the directory cannot be made.
    """
    path, draft = out / run_id, out / f".{run_id}.part"
    try:
        draft.mkdir(parents=True)
        fill(draft)
        (draft / TRIALS).touch(exist_ok=False)
        note_run(out, run_id)
        draft.rename(path)
        sync_folders([out])
    except OSError as error:
        raise StoreError(
            f"cannot make the run directory: {error.strerror}",
            place=str(path),
            hint="choose another place with --out",
        ) from error
    return path


def stamp(started: datetime) -> str:
    """Return a time as names of runs begin, to the millisecond: they are sorted by it."""
    return f"{started:%Y%m%dT%H%M%S}{started.microsecond // 1000:03d}Z"


RUNS = Path("runs")
"""Where runs are made and sought unless the user says otherwise."""


def find_run(name: str | Path, out: Path = RUNS) -> Path:
    """Find a run directory by its path, its name, or the word `latest`.

    Names are sought under `out`, then under `runs`.

    Raises:
        StoreError: there is no such run.
    """
    folders = tuple(dict.fromkeys((out, RUNS)))
    if not str(name):
        hint = "name a run directory, its name, or `latest`"
        raise StoreError("no run: its name is empty", place="RUN", hint=hint)
    if str(name) == "latest":
        return _latest(folders)
    for path in (Path(name), *(folder / name for folder in folders)):
        if (path / TRIALS).is_file():
            return path
    missing = "there is no such directory" if not Path(name).exists() else f"it holds no {TRIALS}"
    raise StoreError(
        f"no run: {missing}",
        place=str(name),
        hint=f"name a directory that `regrade run` made, or `latest` for the newest under {out}",
    )


def _latest(folders: tuple[Path, ...]) -> Path:
    for folder in folders:
        found = {path.parent for name in (MANIFEST, TRIALS) for path in folder.glob(f"*/{name}")}
        shown = [run for run in found if not run.name.startswith(".")]
        if shown:
            return _whole(max(shown, key=RunOrder(folder).of))
    raise StoreError(
        "there is no run yet", place=str(folders[0]), hint="make one with `regrade run SUITE`"
    )


def _whole(newest: Path) -> Path:
    if (newest / TRIALS).is_file():
        return newest
    raise StoreError(
        f"the newest run holds no {TRIALS}",
        place=str(newest),
        hint="name another run, or delete it",
    )
