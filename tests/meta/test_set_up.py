"""The scripts say in one line what a machine lacks; machines are played by a PATH of their own."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
TOOLS = (
    "basename", "cat", "cksum", "dirname", "env", "grep", "mkdir", "rm", "sed", "sh", "tail",
)  # fmt: skip

OLD = """case "$*" in *version_info*) printf 'old 3.8.18' ;; *) exit 1 ;; esac"""
ABSENT = "exit 127"
WITHOUT_VENV = """case "$*" in *version_info*) printf 'bare 3.12.1' ;; *) exit 1 ;; esac"""
DEBIAN = """\
case "$*" in
*version_info*) printf 'fits 3.12.1' ;;
*) echo 'The virtual environment was not created successfully because ensurepip is not'
   echo 'available.  On Debian/Ubuntu systems, you need to install the python3-venv'
   exit 1 ;;
esac
"""
FULL_DISK = """\
case "$*" in
*version_info*) printf 'fits 3.12.1' ;;
*) echo 'Error: [Errno 28] No space left on device' ; exit 1 ;;
esac
"""
WITHOUT_NETWORK = """\
case "$*" in
*version_info*) printf 'fits 3.12.1' ;;
*"-m venv"*) mkdir -p "$3/bin" ; cp "$0" "$3/bin/python" ;;
*"-m pip"*) echo 'WARNING: Retrying after connection broken by NewConnectionError' ;
            echo 'ERROR: No matching distribution found for hatchling' ; exit 1 ;;
esac
"""
WORKING = """\
case "$*" in
*"import ensurepip"*) printf 'fits 3.12.1' ;;
*"-m venv"*) mkdir -p "$3/bin" ; cp "$0" "$3/bin/python" ; echo "$3" >"$3/bin/activate" ;;
*"-m pytest"*) echo testing ;;
esac
"""
MACHINES = {
    "no python": ({}, "needs Python 3.11 or newer, found none on the PATH"),
    "an old python": ({"python3": OLD}, "found python3 (3.8.18)"),
    "a python that does not run": (
        {"python3": OLD, "python3.12": ABSENT},
        "found python3 (3.8.18), python3.12 (does not run)",
    ),
    "no ensurepip": (
        {"python3": WITHOUT_VENV},
        "Python 3.12.1 lacks its modules venv and ensurepip",
    ),
    "a venv module that fails": ({"python3": DEBIAN}, "apt-get install python3-venv"),
    "a full disk": ({"python3": FULL_DISK}, "the disk is full"),
    "no network": (
        {"python3": WITHOUT_NETWORK},
        "the package index cannot be reached (network, proxy or certificate); all of its output: ",
    ),
}


@pytest.fixture
def project(tmp_path):
    """Give a copy of the scripts in a folder whose path has blanks."""
    folder = tmp_path / "a project"
    shutil.copytree(SCRIPTS, folder / "scripts")
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    return folder


@pytest.fixture
def machine(tmp_path):
    """Give a function that makes a folder of commands: the usual tools, and the given pythons."""

    def make(pythons):
        folder = tmp_path / "bin"
        folder.mkdir()
        for tool in (*TOOLS, "cp"):
            (folder / tool).symlink_to(shutil.which(tool))
        for name, script in pythons.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (folder / name).chmod(0o755)
        return folder

    return make


def start(project, name, **environment):
    return subprocess.run(
        [project / "scripts" / name],
        env=environment,
        cwd="/",
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


@pytest.mark.parametrize("what", MACHINES)
@pytest.mark.parametrize("script", ["quickstart", "test"])
def test_what_a_machine_lacks_is_said_in_one_line(project, machine, script, what):
    pythons, expected = MACHINES[what]
    ran = start(project, script, PATH=str(machine(pythons)))
    complaints = [line for line in ran.stderr.splitlines() if "setting up" not in line]
    assert len(complaints) == 1
    assert complaints[0].startswith(f"scripts/{script}: ")
    assert expected in complaints[0]
    assert ran.returncode == 3


def test_what_failed_is_kept_to_be_read(project, machine):
    start(project, "test", PATH=str(machine({"python3": WITHOUT_NETWORK})))
    log = (project / ".venv" / "set_up.log").read_text(encoding="utf-8")
    assert "No matching distribution found for hatchling" in log


def test_the_interpreter_that_was_asked_for_is_the_only_one_tried(project, machine):
    ran = start(project, "test", PATH=str(machine({"python3": FULL_DISK})), PYTHON="/no/python")
    assert "found nothing at PYTHON=/no/python" in ran.stderr


def test_a_newer_python_is_taken_where_the_first_is_old(project, machine):
    pythons = {"python3": OLD, "python3.12": FULL_DISK}
    ran = start(project, "test", PATH=str(machine(pythons)))
    assert "setting up .venv with Python 3.12.1" in ran.stderr


def test_a_venv_is_used_again_brought_up_to_date_and_made_anew_where_it_was_moved(project, machine):
    path = str(machine({"python3": WORKING}))
    notes = []
    for change in (None, None, "pyproject.toml", "place"):
        if change == "pyproject.toml":
            (project / change).write_text("# changed", encoding="utf-8")
        if change == "place":
            project = project.rename(project.with_name("elsewhere"))
        ran = start(project, "test", PATH=path)
        assert (ran.returncode, ran.stdout) == (0, "testing\n")
        notes.append(ran.stderr.removeprefix("scripts/test: ").partition(" (")[0].strip())
    assert notes == [
        "setting up .venv with Python 3.12.1",
        "",
        "installing what pyproject.toml asks for into .venv",
        "setting up .venv with Python 3.12.1",
    ]
