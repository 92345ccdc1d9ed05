"""What a target meets whose options name files otherwise than as paths of the suite."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol


class FileNaming(Protocol):
    """A target whose options name files in texts, such as a command line; optional."""

    def lint_files(self, folder: Path, /) -> Iterable[tuple[str, str]]:
        """Return (option, problem) for what this machine lacks, such as the program.

        `folder` is the suite's. `validate` and `run` report them as faults; grading goes without.
        """
        ...

    def keyed_parts(self, folder: Path, /) -> Mapping[str, Any]:
        """Return JSON values that tell two targets apart beside their options: hashes of files."""
        ...
