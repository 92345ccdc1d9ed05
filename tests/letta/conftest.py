"""A real Letta server for every test of this folder, and scripted models behind it.

`scripts/test` starts the server and says in REGRADE_TEST_LETTA which state folder it has; all
workers share it, with its models from models.yaml, known to Letta as openai-proxy/scripted/NAME. A
test that kills its server, or asks it for a key, has one of its own by `start_letta`.
"""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from letta_client import Letta

from harness.serving.model_server import scripted_server
from harness.serving.script import parse_script

ROOT = Path(__file__).parents[2]
COMMAND = ROOT / "scripts" / "letta-server"
MODELS = Path(__file__).with_name("models.yaml")
SHARED = "REGRADE_TEST_LETTA"
LONG = 300
OF_THE_USER = ("LETTA_BASE_URL", "LETTA_API_KEY", "LETTA_PROJECT_ID")


@dataclass(frozen=True)
class LettaServer:
    """A server by its state folder."""

    state: Path

    def command(self, verb, *options):
        """Run scripts/letta-server, and give what it said."""
        return subprocess.run(
            [COMMAND, verb, *options, "--state", self.state],
            capture_output=True,
            check=False,
            encoding="utf-8",
            timeout=LONG,
        )

    def start(self, *options):
        """Start what does not run, and wait until it is healthy."""
        self._succeed("start", *options)

    def kill(self):
        """End Letta by SIGKILL, and leave it dead until the next `start` or `restart`."""
        os.kill(self.status()["parts"]["letta"]["pid"], 9)

    def restart(self, part="letta", *, kill=False):
        """End one part, by SIGKILL if wanted, and start it again on the same port."""
        self._succeed("restart", part, *(["--kill"] if kill else []))

    def status(self):
        """Give what runs: `url`, and of each of `parts` whether it is `up`, `pid` and `url`."""
        return json.loads(self.command("status", "--json").stdout)

    @property
    def url(self):
        """The address that clients are given; the same after every restart."""
        return self.status()["url"]

    def _succeed(self, *arguments):
        done = self.command(*arguments)
        if done.returncode:
            pytest.fail(done.stderr.strip(), pytrace=False)


@pytest.fixture(autouse=True)
def _no_server_of_the_user(monkeypatch):
    for name in OF_THE_USER:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def letta_server():
    """Give the server that all tests share; waits where it is still being started."""
    if not os.environ.get(SHARED):
        pytest.fail(
            "these tests need a Letta server: run them by scripts/test tests/letta", pytrace=False
        )
    server = LettaServer(Path(os.environ[SHARED]))
    server.start("--script", MODELS)
    return server


@pytest.fixture(scope="session")
def letta_url(letta_server):
    """Give the address of the shared server, as LETTA_BASE_URL would hold it."""
    return letta_server.url


@pytest.fixture(scope="session")
def letta(letta_url):
    """Give a client of the shared server that never asks twice."""
    with Letta(base_url=letta_url, api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture(scope="session")
def start_letta():
    """Give a context manager that starts a server of its own, by options of `start`.

    It takes some ten seconds: `with start_letta("--password", "secret") as server:` in a fixture of
    the module, if several tests can share it. It is erased at the end.
    """

    @contextmanager
    def start(*options):
        # PostgreSQL, which is no root, could not enter pytest's own folders. Inside the shared
        # one, scripts/test finds the server even where pytest was killed.
        shared = os.environ.get(SHARED)
        server = LettaServer(Path(tempfile.mkdtemp(prefix="own-", dir=shared)))
        try:
            server.start("--script", MODELS, *options)
            yield server
        finally:
            server.command("stop", "--erase")
            shutil.rmtree(server.state, ignore_errors=True)

    return start


@pytest.fixture
def scripted():
    """Give a function that serves a script's YAML text, and gives the base URL (ends in /v1).

    Each answer closes its connection, as Letta needs it. No provider is needed to point an agent
    at it: create the agent with `llm_config` in place of `model`, such as

        llm_config={"model": "scripted/NAME", "model_endpoint_type": "openai",
                    "model_endpoint": scripted(text), "context_window": 30000}

    Put `alike: prompts` into the script where it has `times` or `chance`.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    servers = AsyncExitStack()

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(30)

    def serve(text):
        script = parse_script(text, "models.yaml")
        return run(servers.enter_async_context(scripted_server(script, close=True)))

    yield serve
    run(servers.aclose())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
