"""Paths of a suite, from text: relative to its folder, with either separator, never unclear."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PureWindowsPath
from urllib.parse import unquote

from harness.documents.findings import BadReference
from harness.loading.environment import expand
from harness.system.suggestions import find_close
from harness.types.code import SuitePath

_SPACE = 0x20
_FILE_URL = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The folder of a suite: `shown` is how the caller named it, `path` is absolute."""

    path: Path
    shown: str = ""

    def show(self, path: Path) -> str:
        """Return a path as a fault shows it: as the caller would write it, with `/` between."""
        try:
            inside = path.relative_to(self.path).as_posix()
        except ValueError:
            return path.as_posix()
        return inside if self.shown in {"", "."} else f"{self.shown.rstrip('/')}/{inside}"


def close_file(name: str, names: Iterable[str]) -> str | None:
    """Return the file that was most likely meant: of the same kind, or else of the same name.

    The kind of a file is what its name ends in. None where no file is close.
    """
    wanted, files = PurePath(name), [PurePath(one) for one in sorted(names)]
    if not wanted.suffix:
        return find_close(name, map(str, files))
    same = [str(one) for one in files if one.suffix.lower() == wanted.suffix.lower()]
    if close := find_close(name, same):
        return close
    stem = wanted.stem.lower()
    return next((str(one) for one in files if one.suffix and one.stem.lower() == stem), None)


def resolve_path(text: str, folder: Folder, environ: Mapping[str, str] | None) -> SuitePath:
    """Return the path that a text of the suite names; `environ` None leaves `${NAME}` alone.

    Raises:
        BadReference: no file is there, or the text cannot be a path.
    """
    written = expand(text, environ) if environ is not None else text
    plain = _without_scheme(written)
    _refuse_control_characters(plain)
    relative = plain if _is_absolute(plain) else plain.replace("\\", "/")
    path = folder.path / relative
    if not _exists(path):
        raise BadReference(*_missing(path, relative))
    return SuitePath(text=relative, path=Path(os.path.normpath(path)))


def _without_scheme(text: str) -> str:
    if not text.lower().startswith(_FILE_URL):
        return text
    plain = unquote(text[len(_FILE_URL) :])
    # file:///C:/evals is the path C:/evals, and file:///evals is /evals.
    return plain[1:] if plain.startswith("/") and PureWindowsPath(plain[1:]).drive else plain


def _is_absolute(text: str) -> bool:
    return Path(text).is_absolute() or bool(PureWindowsPath(text).drive)


def _refuse_control_characters(text: str) -> None:
    if not text:
        raise BadReference("the path is empty")
    found = next((character for character in text if ord(character) < _SPACE), None)
    if found:
        raise BadReference(
            f"the path holds the control character {found!r}",
            "in double quotes a backslash escapes; use single quotes, or `/` between folders",
        )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _missing(path: Path, text: str) -> tuple[str, str]:
    problem = f'there is no file "{text}"'
    if any(character in text for character in "*?"):
        return problem, "a path names one file; patterns are not read"
    try:
        if path.is_symlink():
            return f'"{text}" is a link to a file that is not there', "a file, or a link to one"
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else None
    except OSError:
        names = None
    if names is None:
        return problem, f'nor the folder "{path.parent.as_posix()}"'
    close = close_file(path.name, names)
    return problem, f'did you mean "{close}"?' if close else "paths start at the suite's folder"
