import asyncio
import os
import sys
from pathlib import Path

import pytest

from harness.system import child_commands
from harness.system.child_commands import (
    ChildCommand,
    TooLongLineError,
    TooMuchOutputError,
    run_command,
)
from harness.system.clock import monotonic
from harness.system.processes import kill_marked

MARK = "REGRADE_TEST_MARK"


def argv(source):
    return [sys.executable, "-S", "-c", f"import os, subprocess, sys, time\n{source}"]


async def start(source, text="", **environment):
    environment = {"PATH": os.environ["PATH"], **environment}
    return await ChildCommand.start(
        argv(source), cwd=Path.cwd(), environment=environment, text=text
    )


async def lines_of(source, **options):
    command = await start(source, **options)
    try:
        return [line async for line in command.lines()]
    finally:
        await command.end()


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("pass", []),
        ("print('a'); print('b')", [b"a", b"b"]),
        ("print('a'); print('b', end='')", [b"a", b"b"]),
        ("print(); print('b')", [b"", b"b"]),
        ("sys.stdout.buffer.write(b'\\xff\\n{')", [b"\xff", b"{"]),
        ("[print(n, flush=True) or time.sleep(0.01) for n in range(3)]", [b"0", b"1", b"2"]),
        ("os.close(1)", []),
        ("os.close(1); os.close(2); time.sleep(0.2)", []),
    ],
)
async def test_lines_come_without_their_ends(source, lines):
    assert await lines_of(source) == lines


@pytest.mark.parametrize(
    "source",
    [
        "time.sleep(0.1)",  # never reads
        "print('x' * 300_000); print(len(sys.stdin.read()))",
        "os.close(0); time.sleep(0.1)",
    ],
)
async def test_a_command_need_not_read_what_it_is_told(source):
    await asyncio.wait_for(lines_of(source, text="word " * 200_000), 20)


async def test_a_command_reads_all_that_it_is_told():
    found = await lines_of("print(len(sys.stdin.read()))", text="ö" * 100_000 + "\ud800")
    assert found == [b"100001"]


async def test_what_is_said_on_stderr_is_kept_from_its_end():
    source = "print('x' * 1_000_000, file=sys.stderr); print('the end', file=sys.stderr)"
    done = await run_command(argv(source), cwd=Path.cwd(), environment=dict(os.environ))
    assert done.errors.endswith("the end\n")
    assert len(done.errors) <= 2**14


@pytest.mark.parametrize(
    ("source", "code"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", -9), ("pass", 0)]
)
async def test_the_exit_code_is_that_of_the_command(source, code):
    done = await run_command(argv(source), cwd=Path.cwd(), environment=dict(os.environ))
    assert done.exit_code == code


async def test_a_child_that_holds_the_output_is_not_waited_for():
    child = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    started = monotonic()
    assert await lines_of(f"print('a', flush=True); {child}") == [b"a"]
    assert monotonic() - started < 60


async def test_a_child_that_prints_for_ever_is_not_waited_for():
    loop = "while True: print('b', flush=True)"
    child = f"subprocess.Popen([sys.executable, '-c', {loop!r}])"
    started = monotonic()
    assert (await lines_of(f"print('a', flush=True); {child}"))[0] == b"a"
    assert monotonic() - started < 60


async def test_a_command_that_prints_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr(child_commands, "OUTPUT_BYTES", 100_000)
    with pytest.raises(TooMuchOutputError, match="more than"):
        await lines_of("while True: print('x' * 1000)")


@pytest.mark.parametrize("end", ["", "\\n"])
async def test_a_line_that_is_too_long_is_an_error(monkeypatch, end):
    monkeypatch.setattr(child_commands, "LINE_BYTES", 100)
    assert await lines_of(f"print('x' * 100, end='{end}')") == [b"x" * 100]
    with pytest.raises(TooLongLineError, match="a line of more than"):
        await lines_of(f"print('x' * 101, end='{end}')")


async def test_a_slow_reader_holds_the_command_up_but_not_the_memory():
    command = await start("[print('x' * 10_000_000) for _ in range(5)]")
    await asyncio.sleep(0.5)
    assert command._listener.waiting < 2**22
    assert [len(line) async for line in command.lines()] == [10_000_000] * 5
    await command.end()


@pytest.mark.parametrize(
    "source",
    [
        "time.sleep(600)",
        "import signal; signal.signal(15, signal.SIG_IGN); print('a', flush=True); time.sleep(600)",
        "os.kill(os.getpid(), 19)",  # stopped
    ],
)
async def test_a_command_ends_whatever_it_does(source, monkeypatch):
    monkeypatch.setattr(child_commands, "_GRACE_SECONDS", 0.3)
    command = await start(source)
    command.ask_to_end()
    await command.end()
    assert command.exit_code is not None
    with pytest.raises(ProcessLookupError):
        os.kill(command.pid, 0)


async def test_a_cancelled_run_of_a_command_ends_it(monkeypatch):
    monkeypatch.setattr(child_commands, "_GRACE_SECONDS", 0.3)
    mark = os.urandom(8).hex()
    environment = {**os.environ, MARK: mark}
    work = run_command(argv("time.sleep(600)"), cwd=Path.cwd(), environment=environment)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(work, 0.5)
    assert kill_marked(MARK, mark) == 0


async def test_processes_that_left_the_group_are_found_by_their_mark():
    mark = os.urandom(8).hex()
    leave = "subprocess.Popen(['sleep', '600'], start_new_session=True)"
    assert await lines_of(f"{leave}; {leave}; print('a')", **{MARK: mark}) == [b"a"]
    assert kill_marked(MARK, "another") == 0
    assert kill_marked(MARK, mark) == 2
    assert kill_marked(MARK, mark) == 0


async def test_a_program_that_is_not_there_is_an_error_of_the_system():
    with pytest.raises(FileNotFoundError):
        await ChildCommand.start(["/no/such/program"], cwd=Path.cwd(), environment={})
