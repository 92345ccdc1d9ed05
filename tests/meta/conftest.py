"""What the rules are read from: the parsed source, and every file of the repository."""

import ast
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOREIGN = {".git", ".venv", "runs", "build", "dist", "__pycache__"}


@dataclass(frozen=True)
class Source:
    """A module of harness or graders: its path inside the repository, its text, its tree."""

    path: str
    text: str
    tree: ast.Module


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def sources() -> tuple[Source, ...]:
    found = sorted(file for top in ("harness", "graders") for file in (ROOT / top).rglob("*.py"))
    return tuple(map(_parse, found))


@pytest.fixture(scope="session")
def repository_files() -> tuple[Path, ...]:
    """Give the files that are, or would be, committed; in a copy without git, all but the made."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        names = listing.stdout.decode("utf-8").split("\0")
        return tuple(ROOT / name for name in names if name and (ROOT / name).is_file())
    return tuple(
        file
        for file in ROOT.rglob("*")
        if file.is_file() and FOREIGN.isdisjoint(file.relative_to(ROOT).parts)
    )


def _parse(file: Path) -> Source:
    text = file.read_text(encoding="utf-8")
    return Source(file.relative_to(ROOT).as_posix(), text, ast.parse(text))
