"""Signals from the start of the command to its exit code, which they find at its edges."""

import signal
import subprocess
import sys

import pytest

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


def started(folder, *words, options=()):
    command = [sys.executable, *options, "-m", "harness.cli", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, encoding="utf-8")


def end(process):
    """Wait for the end; give the exit code and what was not read of both streams."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@SIGNALS
@pytest.mark.parametrize("module", ["click", "harness.commands.run_lookup", "msgspec"])
def test_a_signal_while_the_command_is_loaded_ends_it_quietly(tmp_path, number, module):
    assert end(started(tmp_path, "init", "."))[0] == 0
    process = started(tmp_path, "run", "suite.yaml", options=("-X", "importtime"))
    for line in process.stderr:
        if line.rpartition("|")[2].strip() == module:
            process.send_signal(number)
            break
    code, _, err = end(process)
    told = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert (code, told[1:]) == (130, [])


@SIGNALS
def test_a_signal_after_the_end_of_a_run_leaves_its_exit_code(tmp_path, number):
    assert end(started(tmp_path, "init", "."))[0] == 0
    process = started(tmp_path, "run", "suite.yaml", "--quiet")
    for line in process.stdout:
        if "Stored in" in line:
            process.send_signal(number)
            break
    code, _, err = end(process)
    assert code == 0
    assert "Traceback" not in err
