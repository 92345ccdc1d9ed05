"""The hash of a source: what was graded can be told apart from what lies there later."""

import hashlib

from harness.importers.source_files import SourceFile, SourceFolder, readable_name
from harness.system.hashing import sha256_of
from harness.types.errors import Fault, InputError


def source_sha256(source: SourceFile | SourceFolder) -> str:
    """Hash a file by its bytes, and a folder by the names and hashes of all files read in it.

    Raises:
        InputError: a file cannot be read.
    """
    if isinstance(source, SourceFile):
        return _file_sha256(source)
    # A folder of which nothing is read, such as that of runs, changes nothing.
    entries = filter(_holds_files, source.entries())
    return sha256_of(*([readable_name(entry.path.name), source_sha256(entry)] for entry in entries))


def _holds_files(source: SourceFile | SourceFolder) -> bool:
    return isinstance(source, SourceFile) or any(map(_holds_files, source.entries()))


def _file_sha256(source: SourceFile) -> str:
    try:
        with source.path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, hashlib.sha256).hexdigest()}"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or type(error).__name__}"
        raise InputError([Fault(file=source.shown, problem=problem)]) from error
