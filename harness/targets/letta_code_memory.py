"""The memory of Letta Code's agents: files on the local backend, read as blocks.

Version 0.34.12 keeps it as Markdown files in a git repository below the home folder. Each is a
block whose label is its path without `.md`; the lines between two `---` at its beginning describe
it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.system.texts import one_line
from harness.types.errors import TargetError

_BLOCK_BYTES = 2**20
_MOST_BLOCKS = 1_000
_RULE = "---"
_SHOWN = 200


def local_memory(home: Path, agent_id: str) -> Path:
    """Return the memory folder of an agent of the local backend."""
    return home / ".letta" / "lc-local-backend" / "memfs" / agent_id / "memory"


def server_memory(home: Path, agent_id: str) -> Path:
    """Return the folder that the memory of a server's agent is checked out into."""
    return home / ".letta" / "agents" / agent_id / "memory"


def sample_memory(text: Any, folder: Path, named: str | None) -> Path:
    """Return the memory folder that a sample names, from the suite's `folder` on.

    A dataset is not trusted: it is a folder below the suite's, not hidden, or it is the one that
    the suite names itself, or below it.

    Raises:
        TargetError: `bad_request`, where it is none of these.
    """
    if not isinstance(text, str) or not text.isprintable():
        raise _no_memory("it must be a path")
    # Unlike Path.resolve, this raises nothing for links in a circle.
    path = Path(os.path.realpath(folder / text))
    own = (folder / named).resolve() if named else None
    if own is not None and path == own:
        return path
    for root in filter(None, (folder.resolve(), own)):
        inside = path.relative_to(root).parts if path.is_relative_to(root) else ()
        if inside and not any(part.startswith(".") for part in inside):
            return path
    raise _no_memory(f'"{one_line(text, _SHOWN)}" is no folder below the suite\'s, or is hidden')


def _no_memory(problem: str) -> TargetError:
    return TargetError(f"the memory folder of the sample: {problem}", code="bad_request")


def read_blocks(folder: Path) -> list[dict[str, str]]:
    """Return the blocks (`label`, `value`, `description`) of a memory folder, by label.

    Raises:
        ValueError: it holds more than a memory does.
    """
    paths = sorted(_files(folder))
    if len(paths) > _MOST_BLOCKS:
        raise ValueError(f"the agent's memory holds {len(paths):,} files")
    return [_block(path, folder) for path in paths]


def _files(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    for path in folder.rglob("*.md"):
        inside = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") for part in inside)
        if not is_hidden and path.is_file() and path.resolve().is_relative_to(root):
            yield path


def _block(path: Path, folder: Path) -> dict[str, str]:
    if path.stat().st_size > _BLOCK_BYTES:
        raise ValueError(f"{path.name} of the agent's memory is longer than 1 MiB")
    with path.open("rb") as file:
        head, value = _split(file.read(_BLOCK_BYTES).decode(errors="replace"))
    label = path.relative_to(folder).with_suffix("").as_posix()
    return {"label": label, "value": value, "description": _description(head)}


def _split(text: str) -> tuple[str, str]:
    """Return what describes the block, and its value."""
    first, _, rest = text.partition("\n")
    if first.strip() != _RULE:
        return "", text
    head, found, value = rest.partition(f"\n{_RULE}\n")
    return (head, value) if found else ("", text)


def _description(head: str) -> str:
    fields = (line.partition(":") for line in head.splitlines())
    return next((value.strip() for name, _, value in fields if name == "description"), "")
