"""The manifest of a run: what was run, on what, by which versions; never a secret."""

import platform
import subprocess
from contextlib import suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from harness.storing.run_folders import MANIFEST, SUMMARY
from harness.system.files import write_whole
from harness.system.json_values import scrub_json
from harness.types.errors import StoreError
from harness.types.suites import Suite
from harness.types.summaries import Summary

_T = TypeVar("_T")
_PACKAGES = (
    "regrade",
    "openai",
    "msgspec",
    "pydantic",
    "regex",
    "pyyaml",
    "scipy",
    "genai-prices",  # its version is that of the prices
)


class ForeignOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Where records of another tool were read: a file or folder, its hash, and their format.

    `format` names several where the files of a folder differ; `records` counts the conversations.
    """

    source: str
    format: str
    sha256: str
    records: int


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A time that a run was gone on with: what had changed since, and how much there was to do.

    Counted are trials that were kept, graded again, and driven.
    """

    at: datetime
    command: tuple[str, ...]
    host: str
    changes: tuple[str, ...]
    kept: int
    graded: int
    driven: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is made of.

    `graded_from` names the run whose trajectories were graded, or says where records of another
    tool were read, where nothing was driven.
    `suite_file` and `dataset_file` are paths as the suite names them, `dataset_provenance` says
    where a dataset was fetched from, down to its commit; `keys` hold the hash of the target and,
    by name, of each grader; `git_commit` is that of the suite's folder, with `git_changed` for
    files that were not committed. `target_file` and `parameters` are what `--target` and `--param`
    gave. `resumed` tells of every time that the run was gone on with; all else, the time of its
    beginning and its command aside, is as it was the last time. `judging` says by what rule a trial
    passes: the role, weight and threshold of each grader, and the suite's scoring; `comparison`
    what the suite says of comparing its runs. `narrowed` is what options left of the suite's
    samples and models, empty for a run of the whole suite; None where an older Regrade did not say.
    `compared_with` is what the run is compared with as it ends (`baseline`, `metrics`, `margins`
    and whether a baseline is `required`), None where it is not.
    """

    v: int = 1
    run_id: str
    graded_from: str | ForeignOrigin | None = None
    suite: str
    suite_file: str | None
    suite_text: str
    suite_sha256: str
    dataset_file: str | None
    dataset_sha256: str
    dataset_provenance: dict[str, str | None] | None = None
    samples: int
    planned: int
    models: tuple[str, ...]
    epochs: int
    drive_key: str | None
    grader_keys: dict[str, str]
    selection: dict[str, Any]
    narrowed: dict[str, Any] | None = None
    limits: dict[str, Any]
    errors: Literal["fail", "exclude"] = "fail"
    started_at: datetime
    command: tuple[str, ...]
    host: str
    python: str
    platform: str
    versions: dict[str, str]
    git_commit: str | None
    git_changed: bool | None
    target_file: str | None = None
    parameters: tuple[str, ...] = ()
    resumed: tuple[Resumption, ...] = ()
    judging: dict[str, Any] | None = None
    comparison: dict[str, Any] | None = None
    compared_with: dict[str, Any] | None = None


def environment_of(suite: Suite) -> dict[str, Any]:
    """Return the fields of a manifest that say where and by which versions a suite is run."""
    folder = suite.source.parent if suite.source else Path.cwd()
    commit = _git(folder, "rev-parse", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    return {
        "host": platform.node(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": _versions(),
        "git_commit": commit,
        "git_changed": None if changed is None else bool(changed),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *words: str) -> str | None:
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(  # noqa: S603  (fixed words, no shell)
            command, capture_output=True, timeout=5, check=True, encoding="utf-8", errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest.json`."""
    _write(folder / MANIFEST, manifest)


def read_manifest(folder: Path) -> Manifest:
    """Read `manifest.json`."""
    return _read(folder / MANIFEST, Manifest)


def write_summary(folder: Path, summary: Summary) -> None:
    """Write `summary.json`."""
    _write(folder / SUMMARY, summary)


def read_summary(folder: Path) -> Summary:
    """Read `summary.json`."""
    return _read(folder / SUMMARY, Summary)


def _write(path: Path, record: msgspec.Struct) -> None:
    text = msgspec.json.format(_encoded(record), indent=2).decode()
    try:
        write_whole(path, text + "\n")
    except OSError as error:
        raise StoreError(f"cannot write: {error.strerror}", place=str(path)) from error


def _encoded(record: msgspec.Struct) -> bytes:
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        # A path, or a word of the command, has bytes that are not UTF-8.
        return msgspec.json.encode(scrub_json(msgspec.to_builtins(record)))


def require_known_summary(folder: Path) -> None:
    """Refuse a `summary.json` of a later version; one that is missing or damaged is made again.

    Raises:
        StoreError: it is of one.
    """
    with suppress(OSError, msgspec.MsgspecError):
        _require_known((folder / SUMMARY).read_bytes(), folder / SUMMARY)


class _Version(msgspec.Struct):
    v: int = 1


_VERSION = 1
"""The version of manifests and summaries that this Regrade writes; one without `v` is of 1."""


def _require_known(content: bytes, path: Path) -> None:
    """Refuse what a later version may have changed: it could not be read, nor be written again."""
    found = msgspec.json.decode(content, type=_Version).v
    if found > _VERSION:
        problem = f"it is of version {found}; this Regrade reads up to {_VERSION}"
        raise StoreError(problem, place=str(path), hint="install a newer Regrade")


def _read(path: Path, kind: type[_T]) -> _T:
    try:
        content = path.read_bytes()
        _require_known(content, path)
        return msgspec.json.decode(content, type=kind)
    except OSError as error:
        raise StoreError(f"cannot read: {error.strerror}", place=str(path)) from error
    except msgspec.MsgspecError as error:
        raise StoreError(f"no {path.name} of Regrade: {error}", place=str(path)) from error
