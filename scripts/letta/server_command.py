"""`scripts/letta-server`: a real Letta server on this machine, with scripted models behind it."""

import argparse
import fcntl
import json
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from server_install import ensure_installed
from server_parts import HANDLES, PARTS, Server, Settings
from server_places import Places, Trouble, find_places, make_folder, note

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "suites" / "letta-quickstart" / "models.yaml"
SCRIPTED = "scripted/"
NOT_RUNNING = 3
EPILOG = """\
start is safe to repeat: what runs is left alone, what was killed is started again on its old port,
and an edited script is served anew. Everything listens on loopback only.

environment:
  REGRADE_LETTA_CACHE  where Letta and PostgreSQL are installed, 800 MB
  REGRADE_LETTA_STATE  where one server keeps its agents, logs and ports (as --state)
  PYTHON               the Python 3.11 or 3.12 to install Letta for
"""


def main(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code; trouble is told in one line."""
    signal.signal(signal.SIGTERM, _leave)
    asked = _parser().parse_args(arguments)
    try:
        places = find_places(asked.state)
        return int(asked.command(Server(places), asked))
    except Trouble as trouble:
        note(str(trouble))
        return NOT_RUNNING
    except KeyboardInterrupt:
        note("interrupted")
        return 130


def _leave(*_: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/letta-server",
        description="A real Letta server on this machine, with scripted models behind it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="start|stop|status|restart")
    start = commands.add_parser("start", help="install what is missing, start what does not run")
    start.add_argument("--script", type=Path, help=f"what the models say ({SCRIPT.name})")
    start.add_argument("--password", help="ask clients for this key; an empty text for none")
    start.add_argument(
        "--redis", action=argparse.BooleanOptionalAction, help="with Redis, which Letta Code needs"
    )
    stop = commands.add_parser("stop", help="end what was started; agents are kept")
    stop.add_argument("--erase", action="store_true", help="also remove agents and logs")
    status = commands.add_parser("status", help="say what runs; exit code 3 where a part does not")
    status.add_argument("--json", action="store_true", help="for programs")
    again = commands.add_parser("restart", help="end one part and start it again on its port")
    again.add_argument("part", nargs="?", choices=PARTS, default="letta", help="letta without it")
    again.add_argument("--kill", action="store_true", help="end it by SIGKILL")
    for name, command in (("start", _start), ("stop", _stop), ("status", _status)):
        commands.choices[name].set_defaults(command=command)
    again.set_defaults(command=_restart)
    for parser_of_one in commands.choices.values():
        parser_of_one.add_argument(
            "--state", type=Path, help="the server's folder; one server each"
        )
    return parser


def _start(server: Server, asked: argparse.Namespace) -> int:
    with _alone(server.places):
        return _run(server, _settings(server, asked))


def _restart(server: Server, asked: argparse.Namespace) -> int:
    settings = server.settings()
    if settings is None:
        raise Trouble(f"nothing was started in {server.places.state}")
    with _alone(server.places):
        server.end(asked.part, kill=asked.kill)
        return _run(server, settings)


def _run(server: Server, settings: Settings) -> int:
    """Start what does not run, or nothing of it; tell where the server is."""
    began = time.monotonic()
    running = [part for part in PARTS if server.is_up(part)]
    try:
        _bring_up(server, settings)
    except BaseException:
        for part in PARTS:
            if part not in running:
                server.end(part)
        raise
    names = ", ".join(handle.removeprefix(f"{HANDLES}{SCRIPTED}") for handle in server.models())
    note(f"ready after {time.monotonic() - began:.1f} s; models {HANDLES}{SCRIPTED}...: {names}")
    sys.stdout.write(f"export LETTA_BASE_URL={server.url('letta')}\n")
    if settings.password:
        sys.stdout.write(f"export LETTA_API_KEY={shlex.quote(settings.password)}\n")
    return 0


def _bring_up(server: Server, settings: Settings) -> None:
    server.start_models(settings)
    ensure_installed(server.places)
    # Letta would go on with connections that are gone.
    anew = server.start_postgres()
    if settings.redis:
        anew = server.start_redis() or anew
    else:
        server.end("redis")
    if anew:
        server.end("letta")
    server.start_letta(settings)
    if server.missing_models(settings):
        server.end("letta")
        server.start_letta(settings)
    if missing := server.missing_models(settings):
        log = server.places.log("letta")
        raise Trouble(f"Letta does not list the model {missing[0]}; its log: {log}")
    server.keep(settings)


def _stop(server: Server, asked: argparse.Namespace) -> int:
    state = server.places.state
    if not state.exists():
        note(f"nothing runs: there is no {state}")
        return 0
    with _alone(server.places):
        ended = [part for part in PARTS if server.end(part)]
        if asked.erase:
            _erase(state)
    note(f"ended {', '.join(ended)}" if ended else "nothing ran")
    return 0


def _erase(state: Path) -> None:
    """Remove what is ours in a folder that the user may have chosen, and the folder if empty."""
    for name in ("postgres", "postgres.half", "logs", "home", "tools", "openapi_letta.json"):
        path = state / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for name in ("settings", *PARTS):
        (state / f"{name}.json").unlink(missing_ok=True)
    (state / "lock").unlink()
    with suppress(OSError):
        state.rmdir()


def _status(server: Server, asked: argparse.Namespace) -> int:
    settings = server.settings()
    wanted = [part for part in PARTS if part != "redis" or (settings and settings.redis)]
    parts = {part: _part_status(server, part) for part in wanted}
    if asked.json:
        state = {"state": str(server.places.state), "url": server.url("letta"), "parts": parts}
        sys.stdout.write(json.dumps(state, indent=1) + "\n")
    else:
        for part, found in parts.items():
            up = "up  " if found["up"] else "down"
            where = f"pid {found['pid']:<8} {found['url']}" if found["up"] else ""
            sys.stdout.write(f"{part:<9} {up}  {where}".rstrip() + "\n")
        script = settings.script if settings else "none yet"
        logs = server.places.log("*")
        sys.stdout.write(f"script    {script}\nlogs      {logs}\n")
    return 0 if all(found["up"] for found in parts.values()) else NOT_RUNNING


def _part_status(server: Server, part: str) -> dict[str, Any]:
    record = server.record(part)
    up = server.is_up(part) and (part != "letta" or server.is_healthy())
    return {"up": up, "pid": record.pid if record else None, "url": server.url(part)}


def _settings(server: Server, asked: argparse.Namespace) -> Settings:
    """Give what was asked for now, and where nothing was, what was asked for last."""
    settings = server.settings() or Settings(script=str(SCRIPT))
    if asked.script is not None:
        settings = replace(settings, script=str(asked.script.absolute()))
    if asked.password is not None:
        settings = replace(settings, password=asked.password or None)
    if asked.redis is not None:
        settings = replace(settings, redis=asked.redis)
    return settings


@contextmanager
def _alone(places: Places) -> Iterator[None]:
    """Let one command at a time change a server; another one waits for its end."""
    while True:
        make_folder(places.state, "--state")
        with (places.state / "lock").open("wb") as lock:
            _wait_for(lock)
            # `stop --erase` may have removed the file that was waited for, and another command
            # made a new one.
            if _is_at(lock, places.state / "lock"):
                (places.state / "logs").mkdir(exist_ok=True)
                yield
                return


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Say whether an open file is the one that has this path now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _wait_for(lock: BinaryIO) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note("waiting for another scripts/letta-server that works on the same server")
        fcntl.flock(lock, fcntl.LOCK_EX)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
