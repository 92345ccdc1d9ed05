"""Where a Letta server is installed, where its state lies, and whom its database runs as."""

import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

PINS = "letta 0.16.8, first edition"
"""What is installed; an installation with other pins is another folder."""


class Trouble(Exception):  # noqa: N818  (what is told to the user, in one line)
    """Something is in the way; the text says what, and where to read more."""


def note(text: str) -> None:
    """Tell the user what is going on; what is to be exported alone goes to the standard output."""
    sys.stderr.write(f"scripts/letta-server: {text}\n")
    sys.stderr.flush()


@dataclass(frozen=True, kw_only=True)
class Places:
    """The folders of one server: `cache` is shared by all of this user, `state` is its own.

    `usual` says that the state lies where nobody chose another place: the user's one server.
    """

    cache: Path
    state: Path
    usual: bool = False

    @property
    def install(self) -> Path:
        """The folder of this version inside the cache."""
        return self.cache / "letta-0.16.8-1"

    @property
    def python(self) -> Path:
        """The interpreter that Letta is installed for."""
        return self.install / "venv" / "bin" / "python"

    def log(self, part: str) -> Path:
        """Where a part writes what it says."""
        return self.state / "logs" / f"{part}.log"


def find_places(state: Path | None) -> Places:
    """Give the folders, by the option, the environment, or the user's custom.

    Root's own folders are closed to everyone, while PostgreSQL refuses to run as root: there, the
    system's folders are taken.
    """
    cache = _folder("REGRADE_LETTA_CACHE", "XDG_CACHE_HOME", ".cache", "/var/cache")
    home = _folder("REGRADE_LETTA_STATE", "XDG_STATE_HOME", ".local/state", "/var/lib")
    usual = state is None and not os.environ.get("REGRADE_LETTA_STATE")
    return Places(cache=cache, state=(state or home).absolute(), usual=usual)


def _folder(own: str, custom: str, inside_home: str, of_system: str) -> Path:
    if os.environ.get(own):
        return Path(os.environ[own]).absolute()
    base = Path(os.environ.get(custom) or Path.home() / inside_home).absolute()
    if os.geteuid() == 0 and closed_folder(base):
        base = Path(of_system)
    return base / "regrade" / "letta-server"


def closed_folder(path: Path) -> Path | None:
    """Give the folder on the way to a path that other users may not enter, None without one."""
    for folder in (path, *path.parents):
        try:
            if not folder.stat().st_mode & 0o001:
                return folder
        except FileNotFoundError:
            continue
        except PermissionError:
            return folder.parent
    return None


def database_account(data: Path) -> pwd.struct_passwd | None:
    """Give the account that PostgreSQL runs as; None is this one.

    Root gives way to the owner of the data, or else to `postgres` or `nobody`.

    Raises:
        Trouble: this is root, and the account could not reach the files.
    """
    if os.geteuid() != 0:
        return None
    if data.exists() and data.stat().st_uid != 0:
        return pwd.getpwuid(data.stat().st_uid)
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Trouble("PostgreSQL does not run as root, and there is no user postgres or nobody")


def make_folder(path: Path, option: str) -> None:
    """Make a folder of ours, which the database's account can enter where that is another.

    A folder that holds other things is not opened to others.

    Raises:
        Trouble: it cannot be made, or others cannot enter it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0 and ((path / "lock").exists() or not any(path.iterdir())):
            path.chmod(path.stat().st_mode | 0o011)
    except OSError as error:
        raise Trouble(
            f"cannot write in {path} ({error.strerror}); {option} names another"
        ) from None
    closed = closed_folder(path) if os.geteuid() == 0 else None
    if closed:
        raise Trouble(
            f"PostgreSQL does not run as root, and no other user may enter {closed}; "
            f"{option} names another folder"
        )
