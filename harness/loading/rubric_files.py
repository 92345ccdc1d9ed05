"""Rubrics that rows of a dataset name by their files.

A dataset is not trusted, and what a rubric file holds is sent to a judge: it names files below
the folders of the suite and of the dataset alone, no hidden ones, and through no link that leads
out of them.
"""

from collections.abc import Iterable
from pathlib import Path, PureWindowsPath

from harness.documents.encodings import decode_utf8
from harness.documents.findings import BadReference
from harness.system.texts import one_line
from harness.types.errors import Fault

MOST_BYTES = 1_000_000
_SHOWN = 200
_ALLOWED = "the path of a text file below the suite's folder, without `..`"


def read_rubric(text: str, folders: Iterable[Path]) -> str:
    """Return the rubric in a file, sought in each of the folders in turn.

    Raises:
        BadReference: no folder holds such a file, or it may not or cannot be read.
    """
    parts = text.replace("\\", "/").split("/")
    if not text or not text.isprintable() or PureWindowsPath(text).drive or parts[0] == "":
        raise BadReference(f'"{text}" is no relative path', _ALLOWED)
    if any(part.startswith(".") and part != "." for part in parts):
        raise BadReference(f'"{text}" leads to a hidden file, or out of the folder', _ALLOWED)
    for folder in folders:
        path = folder.joinpath(*parts)
        try:
            if path.is_file():
                return _read(path, folder, text)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BadReference(f'"{one_line(text, _SHOWN)}" cannot be read: {reason}') from error
    raise BadReference(f'there is no rubric file "{text}"', _ALLOWED)


def _read(path: Path, folder: Path, text: str) -> str:
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadReference(f'"{text}" is a link that leads out of the folder', _ALLOWED)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BadReference(f'"{text}" is too long for a rubric', f"at most {MOST_BYTES:,} bytes")
    rubric = decode_utf8(data, text)
    if isinstance(rubric, Fault):
        raise BadReference(f'"{text}": {rubric.problem}', rubric.allowed)
    return rubric
