"""PostgreSQL of the PyPI wheel: a template with Letta's empty tables, copies of it, a server."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from server_places import Places, Trouble
from server_ports import HOST, free_port
from server_processes import (
    MARK,
    Surroundings,
    end,
    last_line,
    moment_of,
    run_step,
    spawn,
    wait_until,
)

START_SECONDS = 60
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "200",
    # Agents of scripted models can be made again; a crash of the machine may lose them.
    "fsync": "off",
    "full_page_writes": "off",
}


class Database:
    """One folder of data, and the programs and the account that work on it."""

    def __init__(self, places: Places, data: Path, account: pwd.struct_passwd | None) -> None:
        (self._programs,) = places.install.glob(
            "venv/lib/python3*/site-packages/pgserver/pginstall/bin"
        )
        self.data = data
        self.account = account
        self._mark = str(places.state)
        self._password = places.install / "password"

    def url(self, port: int) -> str:
        """Give the address that Letta's migrations understand."""
        password = self._password.read_text(encoding="utf-8")
        return f"postgresql://letta:{password}@{HOST}:{port}/letta"

    def launch(self, port: int, log: Path) -> "subprocess.Popen[bytes]":
        """Start the server."""
        self._forget_dead_server()
        options = [part for item in SETTINGS.items() for part in ("-c", "=".join(item))]
        command: list[str | Path]
        command = [self._programs / "postgres", "-D", self.data, "-p", str(port), *options]
        environment = self._environment()
        return spawn(command, log=log, environment=environment, account=self.account)

    def await_ready(self, server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
        """Wait until the server takes connections.

        Raises:
            Trouble: it does not start.
        """
        wait_until(lambda: server.poll() is not None or self._is_ready(port), START_SECONDS)
        if server.poll() is not None or not self._is_ready(port):
            server.kill()
            raise Trouble(f"PostgreSQL does not start: {last_line(log)}; its log: {log}")

    def run(self, program: str, arguments: Sequence[str | Path], log: Path) -> None:
        """Run one of PostgreSQL's programs.

        Raises:
            Trouble: it fails.
        """
        command = [self._programs / program, *arguments]
        environment, account = self._environment(), self.account
        run_step(command, Surroundings(log=log, environment=environment, account=account))

    def query(self, text: str, port: int, log: Path, *, database: str = "letta") -> None:
        """Run SQL on the running server; raises as `run` does."""
        to = ("-h", HOST, "-p", str(port), "-U", "letta", "-d", database)
        self.run("psql", [*to, "-q", "-v", "ON_ERROR_STOP=1", "-c", text], log)

    def initialise(self, log: Path) -> None:
        """Make the data folder, owned by the account, with a password that is drawn for it."""
        self._password.touch(mode=0o600)
        self._password.write_text(secrets.token_hex(24), encoding="utf-8")
        self.data.mkdir(mode=0o700)
        told = self.data.with_name("password-for-initdb")
        shutil.copy(self._password, told)
        for path in (self.data, told):
            self._give_away(path)
        options = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
        self.run("initdb", ["-D", self.data, "-U", "letta", "--pwfile", told, *options], log)
        told.unlink()

    def copy_from(self, template: Path) -> None:
        """Make the data folder from another one; half a copy is never taken for a whole one."""
        half = self.data.with_name("postgres.half")
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(template, half)
        for path in (half, *half.rglob("*")):
            self._give_away(path)
        half.rename(self.data)

    def _give_away(self, path: Path) -> None:
        if self.account:
            os.chown(path, self.account.pw_uid, self.account.pw_gid)

    def _is_ready(self, port: int) -> bool:
        program = self._programs / "pg_isready"
        command = [str(program), "-q", "-h", HOST, "-p", str(port), "-U", "letta"]
        return subprocess.run(command, check=False).returncode == 0

    def _environment(self) -> dict[str, str]:
        password = self._password.read_text(encoding="utf-8")
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": path, "LC_ALL": "C", "PGPASSWORD": password, MARK: self._mark}

    def _forget_dead_server(self) -> None:
        """Remove the mark of a server that was killed.

        PostgreSQL takes it for alive where nobody has taken note of its death, or where its number
        has gone to somebody else.
        """
        mark = self.data / "postmaster.pid"
        if not mark.exists():
            return
        pid = int(mark.read_text(encoding="utf-8").split("\n", 1)[0])
        program = Path(f"/proc/{pid}/exe")
        if not moment_of(pid) or (program.exists() and program.resolve().name != "postgres"):
            mark.unlink()


def make_template(places: Places, account: pwd.struct_passwd | None, log: Path) -> None:
    """Make a data folder with Letta's tables, for every server to begin with a copy of.

    Raises:
        Trouble: it cannot be made.
    """
    database = Database(places, places.install / "template", account)
    database.initialise(log)
    port = free_port()
    server_log = places.install / "postgres.log"
    server = database.launch(port, server_log)
    try:
        database.await_ready(server, port, server_log)
        database.query("create database letta", port, log, database="postgres")
        database.query("create extension vector", port, log)
        _migrate(places, database.url(port), log)
    finally:
        moment = moment_of(server.pid) or ""
        end(server.pid, moment, gently=signal.SIGINT, seconds=30, mark=str(places.state))


def _migrate(places: Places, url: str, log: Path) -> None:
    home = places.install / "home"
    home.mkdir()
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LETTA_DIR": str(home / ".letta"),
        "LETTA_PG_URI": url,
    }
    command = [str(places.python), "-m", "alembic", "upgrade", "head"]
    source = places.install / "source"
    run_step(command, Surroundings(log=log, environment=environment, folder=source))
