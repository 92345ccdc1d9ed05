"""The processes of one server: scripted models, PostgreSQL, Redis where asked for, and Letta.

Each leaves a record in the state folder: its number, the moment it began, its port.
"""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server_database import Database
from server_install import ensure_redis
from server_places import Places, Trouble, database_account, note
from server_ports import HOST, USUAL_PORT, free_port, get_json
from server_processes import MARK, end, last_line, moment_of, spawn, wait_until

if TYPE_CHECKING:
    import subprocess

PARTS = ("letta", "models", "postgres", "redis")
"""In the order in which they are ended."""

HANDLES = "openai-proxy/"
"""What Letta puts before the names of our models."""

_GENTLY = {"postgres": signal.SIGINT}
_SECONDS = {"letta": 10.0, "models": 2.0, "postgres": 20.0, "redis": 5.0}
_MODELS_SECONDS, _LETTA_SECONDS = 30, 180
_KEPT = (
    "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Record:
    """A part as it was started last; `made_of` is the hash of what it was given."""

    pid: int
    moment: str
    port: int
    made_of: str = ""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a server was asked for; kept, so that a restart gives the same one."""

    script: str
    password: str | None = None
    redis: bool = False


class Server:
    """The parts of one server, started and ended one by one."""

    def __init__(self, places: Places) -> None:
        self.places = places

    def settings(self) -> Settings | None:
        """Give what this server was asked for last; None before its first start."""
        found = self._read("settings")
        return Settings(**found) if found else None

    def keep(self, settings: Settings) -> None:
        """Store what this server is asked for."""
        self._write("settings", asdict(settings))

    def record(self, part: str) -> Record | None:
        """Give a part as it was started last."""
        found = self._read(part)
        return Record(**found) if found else None

    def is_up(self, part: str) -> bool:
        """Say whether the process that we started is alive."""
        record = self.record(part)
        return record is not None and moment_of(record.pid) == record.moment

    def url(self, part: str) -> str:
        """Give the address of a part that was started."""
        record = self.record(part)
        scheme = part if part in {"postgres", "redis"} else "http"
        return f"{scheme}://{HOST}:{record.port}" if record else ""

    def end(self, part: str, *, kill: bool = False) -> bool:
        """End a part, and give False where it was not up; its record stays, for its port."""
        record = self.record(part)
        if record is None:
            return False
        gently = signal.SIGKILL if kill else _GENTLY.get(part, signal.SIGTERM)
        mark = str(self.places.state)
        seconds = _SECONDS[part]
        return end(record.pid, record.moment, gently=gently, seconds=seconds, mark=mark)

    def start_models(self, settings: Settings) -> None:
        """Serve the script where it is not served yet, or has changed.

        Raises:
            Trouble: the script has faults.
        """
        made_of = _hash(settings.script, _read_script(settings.script))
        if self._is_up_with("models", made_of):
            return
        self.end("models")
        port = self._port("models")
        command = [sys.executable, "-m", "harness.cli", "serve-model", settings.script, "--close"]
        process = self._spawn("models", [*command, "--port", str(port)], dict(os.environ))
        self._started("models", process, port, made_of)
        self._await("models", process, lambda: bool(self.models()), _MODELS_SECONDS)

    def models(self) -> list[str]:
        """Give the handles under which Letta is to know the scripted models."""
        served = get_json(f"{self.url('models')}/v1/models") or {"data": []}
        return [HANDLES + model["id"] for model in served["data"]]

    def start_postgres(self) -> bool:
        """Start the database; the first time from the empty template. False where it runs."""
        if self.is_up("postgres"):
            return False
        self.end("postgres")
        database = self._database()
        if not database.data.exists():
            database.copy_from(self.places.install / "template")
        port = self._port("postgres")
        log = self.places.log("postgres")
        process = database.launch(port, log)
        self._started("postgres", process, port)
        database.await_ready(process, port, log)
        return True

    def start_redis(self) -> bool:
        """Start Redis. False where it runs.

        Raises:
            Trouble: there is no redis-server, or it does not start.
        """
        if self.is_up("redis"):
            return False
        self.end("redis")
        program = ensure_redis(self.places)
        port = self._port("redis")
        folder = str(self.places.state)
        options = ["--bind", HOST, "--save", "", "--appendonly", "no", "--dir", folder]
        process = self._spawn(
            "redis", [str(program), "--port", str(port), *options], _environment()
        )
        self._started("redis", process, port)
        ready = "Ready to accept connections"
        log = self.places.log("redis")
        self._await("redis", process, lambda: ready in log.read_text(encoding="utf-8"), 10)
        return True

    def start_letta(self, settings: Settings) -> None:
        """Start Letta where it does not run, and wait until it is healthy.

        Raises:
            Trouble: it ends, or is not healthy in time.
        """
        environment = self._letta_environment(settings)
        made_of = _hash(json.dumps(environment, sort_keys=True))
        if self._is_up_with("letta", made_of) and self.is_healthy():
            return
        self.end("letta")
        self._point_at_models()
        port = self._port("letta")
        run = Path(__file__).with_name("run_letta.py")
        command = [str(self.places.python), str(run), "server", "--host", HOST, "--port", str(port)]
        process = self._spawn("letta", command, environment)
        self._started("letta", process, port, made_of)
        self._await("letta", process, self.is_healthy, _LETTA_SECONDS)

    def is_healthy(self) -> bool:
        """Say whether Letta says that it is well."""
        answer = get_json(f"{self.url('letta')}/v1/health/")
        return isinstance(answer, dict) and answer.get("status") == "ok"

    def missing_models(self, settings: Settings) -> list[str]:
        """Give the scripted models that Letta does not list; it asks for them when it starts."""
        listed = get_json(f"{self.url('letta')}/v1/models/", settings.password) or []
        known = {model.get("handle") for model in listed}
        return [name for name in self.models() if name not in known]

    def _database(self) -> Database:
        data = self.places.state / "postgres"
        return Database(self.places, data, database_account(data))

    def _point_at_models(self) -> None:
        """Tell Letta's tables where the models are: Letta keeps the first address it was told.

        Models that the script no longer had are forgotten: Letta marks them as deleted, and then
        cannot add them again.
        """
        record = self.record("postgres")
        url = f"{self.url('models')}/v1"
        queries = (
            f"update providers set base_url = '{url}' where name = 'openai'",  # noqa: S608  (ours)
            "delete from provider_models where is_deleted",
        )
        log = self.places.log("queries")
        for query in queries:
            self._database().query(query, record.port if record else 0, log)

    def _letta_environment(self, settings: Settings) -> dict[str, str]:
        """Give the whole environment: keys of the user must not reach Letta or its tools."""
        state = self.places.state
        (state / "home").mkdir(exist_ok=True)
        tools = state / "tools"
        tools.mkdir(exist_ok=True)
        # Without Letta in it, a tool starts in 0.2 s and not in 4.
        slim = self.places.install / "tools" / "slim"
        if not (tools / "slim").exists():
            (tools / "slim").unlink(missing_ok=True)
            (tools / "slim").symlink_to(slim)
        record = self.record("postgres")
        address = self._database().url(record.port if record else 0)
        environment = {
            **_environment(),
            MARK: str(state),
            "HOME": str(state / "home"),
            "LETTA_DIR": str(state / "home" / ".letta"),
            "LETTA_PG_URI": f"{address}?sslmode=disable",
            # Without a pool every message opens some fifty connections.
            "LETTA_DISABLE_SQLALCHEMY_POOLING": "false",
            "OPENAI_BASE_URL": f"{self.url('models')}/v1",
            "OPENAI_API_KEY": "unused",
            "TOOL_EXEC_DIR": str(tools),
            "TOOL_EXEC_VENV_NAME": "slim",
            "TOOL_EXEC_AUTORELOAD_VENV": "false",
            "NO_PROXY": f"{HOST},localhost",
            "PYTHONUNBUFFERED": "1",
            "DO_NOT_TRACK": "1",
        }
        if settings.password:
            environment |= {
                "LETTA_SERVER_SECURE": "true",
                "LETTA_SERVER_PASSWORD": settings.password,
            }
        redis = self.record("redis") if settings.redis else None
        if redis:
            environment |= {"LETTA_REDIS_HOST": HOST, "LETTA_REDIS_PORT": str(redis.port)}
        return environment

    def _spawn(
        self, part: str, command: Sequence[str | Path], environment: dict[str, str]
    ) -> "subprocess.Popen[bytes]":
        marked = {**environment, MARK: str(self.places.state)}
        return spawn(command, log=self.places.log(part), environment=marked)

    def _await(
        self,
        part: str,
        process: "subprocess.Popen[bytes]",
        holds: Callable[[], bool],
        seconds: float,
    ) -> None:
        wait_until(lambda: process.poll() is not None or holds(), seconds)
        if process.poll() is None and holds():
            return
        process.kill()
        process.wait()
        log = self.places.log(part)
        raise Trouble(f"{part} does not start: {last_line(log)}; its log: {log}")

    def _port(self, part: str) -> int:
        record = self.record(part)
        usual = USUAL_PORT if part == "letta" and self.places.usual else None
        port = free_port(record.port if record else usual)
        if record and port != record.port:
            note(f"somebody else has port {record.port} now, so {part} has {port}")
        return port

    def _is_up_with(self, part: str, made_of: str) -> bool:
        record = self.record(part)
        return record is not None and record.made_of == made_of and self.is_up(part)

    def _started(
        self, part: str, process: "subprocess.Popen[bytes]", port: int, made_of: str = ""
    ) -> None:
        moment = moment_of(process.pid) or ""
        record = Record(pid=process.pid, moment=moment, port=port, made_of=made_of)
        self._write(part, asdict(record))

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self.places.state / f"{name}.json").read_text("utf-8")))
        except FileNotFoundError:
            return {}

    def _write(self, name: str, value: dict[str, Any]) -> None:
        file = self.places.state / f"{name}.json"
        new = file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(json.dumps(value), encoding="utf-8")
        new.replace(file)


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


def _read_script(script: str) -> str:
    try:
        return Path(script).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Trouble(f"{script}: the script cannot be read: {error.strerror}") from None


def _hash(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
