"""Run directories of our own among the records of a folder: which files count, and of what made."""

from pathlib import Path
from typing import Any

from harness.system.json_values import load_json

TRIAL_LOG = "trials.jsonl"
_MANIFEST = "manifest.json"


def is_run_directory(folder: Path) -> bool:
    """Say whether a folder is a run directory of ours: of its files only the trials are records."""
    if not (folder / TRIAL_LOG).is_file() or not (folder / _MANIFEST).is_file():
        return False
    manifest = _manifest(folder)
    return isinstance(manifest, dict) and {"run_id", "suite_sha256"} <= manifest.keys()


def was_graded_from(run: Path, source: Path) -> bool:
    """Say whether a run was made by grading the records of a folder that it lies in.

    Its manifest names them as the user did: from the folder of then, which is the present one, or
    that around the folder of runs.
    """
    origin = _manifest(run).get("graded_from")
    named = origin.get("source") if isinstance(origin, dict) else None
    if not isinstance(named, str) or "\0" in named:
        return False
    whole = source.resolve()
    around = run.resolve().parents[1:2]
    return any((base / named).resolve() == whole for base in (Path.cwd(), *around))


def _manifest(run: Path) -> Any:
    try:
        return load_json((run / _MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None
