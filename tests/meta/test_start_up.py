"""Start-up stays light; modules are counted, since a clock on a busy machine says little."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "aiohttp", "jinja2", "letta_client", "numpy", "openai", "pydantic", "rich", "scipy", "yaml",
}  # fmt: skip
REGRADE = Path(sys.executable).parent / "regrade"

START_UPS = {
    "import harness": ([sys.executable, "-X", "importtime", "-c", "import harness"], 40),
    "regrade --help": ([sys.executable, "-X", "importtime", str(REGRADE), "--help"], 130),
    "regrade --version": ([sys.executable, "-X", "importtime", str(REGRADE), "--version"], 190),
}
"""What is started, and how many modules it may load beyond those of a bare Python."""


def loaded(command):
    ran = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr[-500:]
    lines = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines} - {"imported package"}


@pytest.fixture(scope="module")
def bare():
    return loaded([sys.executable, "-X", "importtime", "-c", "pass"])


@pytest.mark.parametrize("what", START_UPS)
def test_starting_loads_no_heavy_package(what):
    command, _ = START_UPS[what]
    assert {name.partition(".")[0] for name in loaded(command)} & HEAVY == set()


@pytest.mark.parametrize("what", START_UPS)
def test_starting_loads_few_modules(what, bare):
    command, most = START_UPS[what]
    extra = loaded(command) - bare
    assert len(extra) <= most, sorted(extra)
