"""Run directories: how one is named, made and found again."""

import re
import secrets
from datetime import datetime
from pathlib import Path

from harness.types.errors import StoreError

MANIFEST, TRIALS, OUTCOMES, SUMMARY = (
    "manifest.json",
    "trials.jsonl",
    "outcomes.jsonl",
    "summary.json",
)


def make_run_folder(out: Path, suite: str, started: datetime) -> Path:
    """Make the directory of a new run under `out`: `<UTC time>-<suite>-<6 hex>`.

    Raises:
        StoreError: the directory cannot be made.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", suite.lower()).strip("-")[:40].strip("-") or "suite"
    path = out / f"{_stamp(started)}-{slug}-{secrets.token_hex(3)}"
    try:
        path.mkdir(parents=True)
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


def find_run(name: str | Path, out: Path) -> Path:
    """Find a run directory by its path, its name under `out`, or the word `latest`.

    Raises:
        StoreError: there is no such run.
    """
    if str(name) == "latest":
        return _latest(out)
    for path in (Path(name), out / name):
        if (path / TRIALS).is_file():
            return path
    raise StoreError(
        f"no run directory: it holds no {TRIALS}",
        place=str(name),
        hint=f"name a directory that `regrade run` made, or `latest` for the newest under {out}",
    )


def _latest(out: Path) -> Path:
    runs = sorted(path.parent for path in out.glob(f"*/{TRIALS}"))
    if not runs:
        raise StoreError(
            "there is no run yet", place=str(out), hint="make one with `regrade run SUITE`"
        )
    # Names begin with the time in UTC, so the last by name is the newest.
    return runs[-1]
