"""Run directories: how one is named, made and found again."""

import re
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

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
    return f"{_stamp(started)}-{slug}-{secrets.token_hex(3)}"


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
        draft.rename(path)
        sync_folders([out])
    except OSError as error:
        raise StoreError(
            f"cannot make the run directory: {error.strerror}",
            place=str(path),
            hint="choose another place with --out",
        ) from error
    return path


def _stamp(started: datetime) -> str:
    # To the millisecond: runs are sorted by their names.
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
        # Names begin with the time in UTC, so the last by name is the newest.
        runs = (path.parent for path in folder.glob(f"*/{TRIALS}"))
        if shown := sorted(run for run in runs if not run.name.startswith(".")):
            return shown[-1]
    raise StoreError(
        "there is no run yet", place=str(folders[0]), hint="make one with `regrade run SUITE`"
    )
