"""Baselines: a run as one portable file, and which run of a suite is the pinned one."""

import shutil
import zlib
from collections.abc import Mapping
from datetime import datetime
from lzma import LZMAError
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, is_zipfile

import msgspec

from harness.storing.counted_outcomes import CountedOutcomes
from harness.storing.manifests import read_manifest
from harness.storing.run_folders import MANIFEST, OUTCOMES, SUMMARY, TRIALS, UNPLANNED
from harness.system.files import whole_file, write_whole
from harness.system.shown_numbers import counted_of
from harness.types.errors import StoreError

PINS = "baselines.json"
EXPORTED = ".zip"
"""How the name of an exported run ends."""

UNPACKED = "baseline"
"""The folder that an exported run is unpacked into."""

_NEEDED = (MANIFEST, TRIALS)
_FILES = (*_NEEDED, OUTCOMES, SUMMARY, UNPLANNED)
# Damage shows in many ways: a flipped byte may ask for a packing that `zipfile` does not know.
_DAMAGE = (
    BadZipFile,
    EOFError,
    LZMAError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    zlib.error,
)
_AGAIN = "export it again: regrade baseline export RUN"


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a suite is held against."""

    run: str
    set_at: datetime


_pins = msgspec.json.Decoder(dict[str, Pin])


def export_baseline(folder: Path, path: Path) -> None:
    """Write a run as one file (a ZIP archive of its own files), which can be compared with.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        with whole_file(path) as draft, ZipFile(draft, "w", ZIP_DEFLATED) as archive:
            for name in _FILES:
                if (folder / name).is_file():
                    archive.write(folder / name, f"{folder.name}/{name}")
    except OSError as error:
        raise StoreError(f"cannot write: {error.strerror}", place=str(path)) from error


def is_baseline_file(path: Path) -> bool:
    """Say whether a file may be an exported run, even a damaged one."""
    return path.is_file() and (path.suffix == EXPORTED or is_zipfile(path))


def unpack_baseline(path: Path, into: Path) -> Path:
    """Unpack an exported run into a folder, and return its directory there.

    Only files that a run has are unpacked, whatever else the archive holds. What is wrong with them
    is said of the archive, for they lie there only while they are read.

    Raises:
        StoreError: it is damaged, or holds no run.
    """
    folder = into / UNPACKED
    try:
        folder.mkdir(parents=True)
        with ZipFile(path) as archive:
            for name in _FILES:
                _unpack(archive, name, folder)
    except _DAMAGE as error:
        raise StoreError(f"cannot be unpacked: {error}", place=str(path), hint=_AGAIN) from error
    if missing := [name for name in _NEEDED if not (folder / name).is_file()]:
        hint = "make one with `regrade baseline export RUN`"
        raise StoreError(f"no exported run: it holds no {missing[0]}", place=str(path), hint=hint)
    _check(folder, path)
    return folder


def _check(folder: Path, path: Path) -> None:
    """Refuse an unpacked run that cannot be read."""
    try:
        read_manifest(folder)
        CountedOutcomes(folder)
    except StoreError as error:
        name = Path(error.place).name
        problem = f"its {name} cannot be read: {error}"
        raise StoreError(problem, place=str(path), hint=_AGAIN) from error


def require_all_trials(folder: Path, path: Path) -> None:
    """Refuse an unpacked run that holds fewer trials than one that is exported has.

    Raises:
        StoreError: some are missing, said of the archive; or it cannot be read.
    """
    manifest, trials = read_manifest(folder), len(CountedOutcomes(folder))
    if trials < manifest.planned:
        lost = counted_of(manifest.planned - trials, manifest.planned, "planned trial")
        problem = f"{lost} did not end"
        raise StoreError(problem, place=str(path), hint=_AGAIN)


def _unpack(archive: ZipFile, name: str, folder: Path) -> None:
    found = [one for one in archive.namelist() if one.rpartition("/")[2] == name]
    if not found:
        return
    with archive.open(found[0]) as packed, (folder / name).open("wb") as file:
        shutil.copyfileobj(packed, file)


def read_pins(out: Path) -> Mapping[str, Pin]:
    """Return the pinned runs of the suites that are run into a folder, by the suite's name.

    Raises:
        StoreError: the file is damaged.
    """
    path = out / PINS
    if not path.is_file():
        return {}
    try:
        return _pins.decode(path.read_bytes())
    except OSError as error:
        raise StoreError(f"cannot read: {error.strerror}", place=str(path)) from error
    except msgspec.MsgspecError as error:
        raise StoreError(f"no {PINS} of Regrade: {error}", place=str(path)) from error


def pin_baseline(out: Path, suite: str, pin: Pin) -> None:
    """Pin a run as the baseline of its suite, in place of the one before.

    Raises:
        StoreError: it cannot be written.
    """
    pins = {**read_pins(out), suite: pin}
    text = msgspec.json.format(msgspec.json.encode(pins, order="sorted"), indent=2).decode()
    try:
        write_whole(out / PINS, f"{text}\n")
    except OSError as error:
        raise StoreError(f"cannot write: {error.strerror}", place=str(out / PINS)) from error
