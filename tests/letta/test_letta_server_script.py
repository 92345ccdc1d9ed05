"""scripts/letta-server: servers side by side, killed parts, machines that lack something."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from letta_client import AuthenticationError, Letta

ROOT = Path(__file__).parents[2]
COMMAND = ROOT / "scripts" / "letta-server"
PARTS = {"letta", "models", "postgres"}
KEY = "it's a secret"
TOOLS = (
    "basename", "cat", "cksum", "dirname", "env", "grep", "mkdir", "rm", "sed", "sh", "tail", "cp",
)  # fmt: skip
SCRIPT = "models: {plain: [{say: hello}]}"
NEWER = "#!/bin/sh\necho 3.13\n"
NO_INDEX = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "1",
    "PIP_NO_CACHE_DIR": "1",
}


@pytest.fixture(scope="module")
def own(start_letta):
    """Give a server of these tests, in secure mode and with Redis."""
    with start_letta("--password", KEY, "--redis") as server:
        yield server


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "models.yaml"
    file.write_text(SCRIPT, encoding="utf-8")
    return file


@pytest.fixture
def modules(monkeypatch):
    """Give a function that imports a module of the script."""
    monkeypatch.syspath_prepend(ROOT / "scripts" / "letta")
    return import_module


@pytest.fixture
def bare_machine(tmp_path):
    """Give the environment of a machine that has the usual tools, and only Python 3.13."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))
    for name in ("python3", "python3.11"):
        (folder / name).write_text(NEWER if name == "python3" else "#!/bin/sh\nexit 127\n", "utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder), "REGRADE_LETTA_CACHE": "/var/tmp/regrade-no-such-cache"}


@pytest.fixture
def open_folder():
    """Give a folder that other users may enter, as a server's state and cache need to be."""
    folder = Path("/var/tmp") / f"regrade-letta-test-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def run(*arguments, **environment):
    return subprocess.run(
        [COMMAND, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=120,
    )


def complaints(ran):
    """Give what was said, but for the note that .venv is brought up to date."""
    return [line for line in ran.stderr.splitlines() if "into .venv" not in line]


def pids(server):
    return {part: found["pid"] for part, found in server.status()["parts"].items()}


def is_running(pid):
    """Say whether a process is there, and not only its name on the list of the dead."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def await_gone(wanted, seconds=10):
    until = time.monotonic() + seconds
    while any(map(is_running, wanted)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(is_running, wanted))


def test_two_servers_stand_side_by_side(own, letta_server):
    mine, shared = own.status()["parts"], letta_server.status()["parts"]
    assert mine.keys() >= PARTS
    assert shared.keys() >= PARTS
    assert all(part["up"] for part in (*mine.values(), *shared.values()))
    addresses = [part["url"] for part in (*mine.values(), *shared.values())]
    assert len(set(addresses)) == len(addresses)
    assert {urlsplit(address).hostname for address in addresses} == {"127.0.0.1"}


def test_starting_again_leaves_alone_what_runs_and_says_what_to_export(own):
    before = pids(own)
    again = own.command("start")
    assert again.returncode == 0
    assert pids(own) == before
    told = subprocess.run(
        ["sh", "-c", f'{again.stdout}printf "%s %s" "$LETTA_BASE_URL" "$LETTA_API_KEY"'],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert told.stdout == f"{own.url} {KEY}"


def test_a_server_with_a_key_refuses_others(own):
    with Letta(base_url=own.url, api_key=KEY, max_retries=0) as client:
        handles = [model.handle for model in client.models.list()]
    assert "openai-proxy/scripted/plain" in handles
    with (
        Letta(base_url=own.url, api_key="another", max_retries=0) as client,
        pytest.raises(AuthenticationError),
    ):
        client.models.list()


def test_what_was_killed_comes_back_on_its_port_with_the_agents_it_had(own):
    before = own.status()["parts"]
    with Letta(base_url=own.url, api_key=KEY, max_retries=0) as client:
        agent = client.agents.create(model="openai-proxy/scripted/plain", memory_blocks=[])
    killed = [found["pid"] for found in before.values()]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert await_gone(killed)
    down = own.command("status")
    assert down.returncode == 3
    assert [line.split()[1] for line in down.stdout.splitlines()[: len(before)]] == ["down"] * 4
    own.start()
    after = own.status()["parts"]
    assert {part: found["url"] for part, found in after.items()} == {
        part: found["url"] for part, found in before.items()
    }
    with Letta(base_url=own.url, api_key=KEY, max_retries=0) as client:
        said = client.agents.messages.create(agent.id, input="hello")
    assert [message.content for message in said.messages] == ["You said: hello"]


def test_letta_alone_is_killed_and_brought_back(own):
    before = pids(own)
    own.restart(kill=True)
    after = pids(own)
    assert {part for part in before if after[part] != before[part]} == {"letta"}


def test_an_edited_script_is_served_by_the_next_start_and_nothing_outlives_the_stop(
    start_letta, script
):
    with start_letta("--script", script) as server:
        before = pids(server)
        for name in ("another", "plain"):
            script.write_text(SCRIPT.replace("plain", name), encoding="utf-8")
            server.start()
            with Letta(base_url=server.url, api_key="unused", max_retries=0) as client:
                handle = f"openai-proxy/scripted/{name}"
                agent = client.agents.create(model=handle, memory_blocks=[])
                said = client.agents.messages.create(agent.id, input="x")
            assert said.messages[0].content == "hello"
        running, url = pids(server), urlsplit(server.url)
        assert running["postgres"] == before["postgres"]
        stopped = server.command("stop", "--erase")
        assert stopped.stderr == "scripts/letta-server: ended letta, models, postgres\n"
        assert not any(map(is_running, running.values()))
        assert not server.state.exists()
        with socket.socket() as probe:
            assert probe.connect_ex((url.hostname, url.port)) != 0


def test_a_process_that_has_the_number_of_a_dead_part_is_left_alone(open_folder):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        record = {"pid": innocent.pid, "moment": "long ago", "port": 1, "made_of": ""}
        for part in PARTS:
            (open_folder / f"{part}.json").write_text(json.dumps(record), encoding="utf-8")
        status = run("status", "--json", "--state", open_folder)
        assert [part["up"] for part in json.loads(status.stdout)["parts"].values()] == [False] * 3
        stopped = run("stop", "--state", open_folder)
        assert (stopped.returncode, stopped.stderr) == (0, "scripts/letta-server: nothing ran\n")
        assert innocent.poll() is None
        innocent.communicate(b"\n")


def test_erasing_leaves_what_is_not_of_the_server(open_folder):
    (open_folder / "mine.txt").write_text("kept", encoding="utf-8")
    assert run("stop", "--erase", "--state", open_folder).returncode == 0
    assert [file.name for file in open_folder.iterdir()] == ["mine.txt"]


def test_what_was_never_started_has_nothing_to_stop_or_to_restart(open_folder):
    nowhere = open_folder / "nowhere"
    stopped = run("stop", "--state", nowhere)
    assert stopped.returncode == 0
    assert stopped.stderr.startswith("scripts/letta-server: nothing runs")
    restarted = run("restart", "--state", open_folder)
    assert restarted.returncode == 3
    assert restarted.stderr == f"scripts/letta-server: nothing was started in {open_folder}\n"


def test_a_machine_without_a_fitting_python_is_told_which_one_is_needed(
    bare_machine, open_folder, script
):
    state = open_folder / "state"
    cache = str(open_folder / "cache")
    environment = {**bare_machine, "REGRADE_LETTA_CACHE": cache}
    ran = run("start", "--state", state, "--script", script, **environment)
    (line,) = complaints(ran)
    assert "need Python 3.11 or 3.12, found python3 (3.13) on the PATH; install one" in line
    assert (ran.returncode, ran.stdout) == (3, "")


def test_half_an_installation_is_made_anew_and_not_taken_for_a_whole_one(open_folder, script):
    half = open_folder / "cache" / "letta-0.16.8-1"
    (half / "venv" / "bin").mkdir(parents=True)
    (half / "venv" / "bin" / "python").symlink_to(sys.executable)
    state = open_folder / "state"
    environment = {**NO_INDEX, "REGRADE_LETTA_CACHE": str(half.parent)}
    ran = run("start", "--state", state, "--script", script, **environment)
    first, line = complaints(ran)
    assert "installing Letta 0.16.8" in first
    assert "the package index cannot be reached (network, proxy or certificate)" in line
    assert line.endswith(f"all of its output: {half / 'install.log'}")
    assert ran.returncode == 3
    assert sorted(file.name for file in half.iterdir()) == ["install.log"]
    ended = run("status", "--json", "--state", state)
    assert not any(part["up"] for part in json.loads(ended.stdout)["parts"].values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "the script cannot be read: No such file or directory"),
        ("models: {plain: [{sya: hello}]}", 'unknown key "sya"'),
    ],
)
def test_a_script_that_cannot_be_served_is_told_in_one_line(open_folder, script, text, words):
    if text is None:
        script.unlink()
    else:
        script.write_text(text, encoding="utf-8")
    ran = run("start", "--state", open_folder / "state", "--script", script)
    (line,) = complaints(ran)
    assert words in line
    assert ran.returncode == 3


def test_folders_that_others_cannot_enter_are_found(modules, open_folder):
    closed_folder = modules("server_places").closed_folder
    inside = open_folder / "closed" / "inside"
    inside.mkdir(parents=True)
    assert closed_folder(inside) is None
    inside.parent.chmod(0o700)
    assert closed_folder(inside / "not" / "there") == inside.parent


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"REGRADE_LETTA_CACHE": "/c", "REGRADE_LETTA_STATE": "/s"}, ("/c", "/s")),
        (
            {"XDG_CACHE_HOME": "/usr/c", "XDG_STATE_HOME": "/usr/s"},
            ("/usr/c/regrade/letta-server", "/usr/s/regrade/letta-server"),
        ),
    ],
)
def test_the_environment_says_where_things_lie(modules, monkeypatch, environment, expected):
    monkeypatch.delenv("REGRADE_LETTA_CACHE", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    places = modules("server_places").find_places(None)
    assert (str(places.cache), str(places.state)) == expected


def test_the_users_one_server_is_where_clients_look_for_it(modules, monkeypatch, tmp_path):
    places = modules("server_places")
    monkeypatch.delenv("REGRADE_LETTA_STATE", raising=False)
    assert places.find_places(None).usual
    assert not places.find_places(tmp_path).usual
    monkeypatch.setenv("REGRADE_LETTA_STATE", str(tmp_path))
    assert not places.find_places(None).usual
    assert modules("server_ports").USUAL_PORT == 8283


@pytest.mark.parametrize(
    ("pip", "environment", "expected"),
    [
        ({}, {}, {}),
        ({"index-url": "http://a"}, {}, {"UV_DEFAULT_INDEX": "http://a"}),
        (
            {"extra-index-url": "http://a\nhttp://b", "find-links": "/x /y"},
            {},
            {"UV_INDEX": "http://a http://b", "UV_FIND_LINKS": "/x,/y"},
        ),
        ({"index-url": "http://a"}, {"UV_INDEX_URL": "http://b"}, None),
    ],
)
def test_uv_asks_the_indexes_that_pip_asks(modules, pip, environment, expected):
    told = modules("server_install").index_settings(pip, environment)
    strategy = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    assert told == ({} if expected is None else strategy | expected)
