import hashlib
import subprocess
import sys
import types

import pytest

from harness.targets.letta_server_tools import server_tool_faults, server_tools
from harness.targets.letta_sources import SourceError, standalone_source
from harness.types.code import CodeFile

FILE = '''"""A file of tools."""

from __future__ import annotations

import json
import math as maths
from dataclasses import dataclass

from harness import fixture

UNIT: str = "t"
TABLE = {"a": maths.pi}
FIRST, SECOND = 1, 2
if SECOND > FIRST:
    ORDER = "rising"
else:
    ORDER = "falling"


@dataclass
class Weight:
    value: float


def _helper(weight: Weight) -> str:
    return json.dumps({"weight": weight.value, "unit": UNIT})


def weigh(name: str) -> str:
    """Weigh something.

    Args:
        name: What.
    """
    return _helper(Weight(TABLE[name] * SECOND))


def order() -> str:
    """Tell the order."""
    return ORDER


def alone(text: str) -> str:
    """Need nothing.

    Args:
        text: Some.
    """
    return text.upper()


@fixture
def database():
    yield 1


def with_fixture(name: str, database: int) -> str:
    """Use a fixture.

    Args:
        name: Some.
    """
    return name
'''


def load(tmp_path, text):
    path = tmp_path / "tools.py"
    path.write_text(text, encoding="utf-8")
    module = types.ModuleType("suite_tools")
    sys.modules["suite_tools"] = module
    exec(compile(text, path, "exec"), vars(module))
    return CodeFile(
        text="tools.py", path=path, module=module, sha256=hashlib.sha256(text.encode()).hexdigest()
    )


def run_alone(source, call):
    """Run a source where nothing of the suite exists."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"{source}\nprint({call})"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("name", "call", "output"),
    [
        ("weigh", "weigh('a')[:16]", '{"weight": 6.283'),
        ("order", "order()", "rising"),
        ("alone", "alone('x')", "X"),
    ],
)
def test_the_source_of_a_tool_stands_alone(tmp_path, name, call, output):
    code = load(tmp_path, FILE)
    source = standalone_source(code, getattr(code.module, name))
    assert run_alone(source, call) == output
    assert "from harness" not in source


def test_the_source_holds_nothing_that_the_tool_does_not_need(tmp_path):
    code = load(tmp_path, FILE)
    source = standalone_source(code, code.module.alone)
    assert "json" not in source
    assert source.startswith("from __future__ import annotations")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("import harness", "needs `harness`"),
        ("from harness.types import errors as used", "needs `harness.types`"),
        ("import neighbour as used", "needs `neighbour`"),
        ("from neighbour import used", "needs `neighbour`"),
        ("from package.inner import used", "needs `package.inner`"),
    ],
)
def test_a_tool_cannot_need_what_only_exists_here(tmp_path, statement, problem):
    (tmp_path / "neighbour.py").write_text("used = 1", encoding="utf-8")
    (tmp_path / "package").mkdir()
    used = "harness" if statement == "import harness" else "used"
    code = load(tmp_path, f"used = 0\n\n\ndef tool():\n    return {used}\n")
    code.path.write_text(f"{statement}\n\n\ndef tool():\n    return {used}\n", encoding="utf-8")
    with pytest.raises(SourceError, match=problem):
        standalone_source(code, code.module.tool)


def test_a_function_under_another_name_has_no_source(tmp_path):
    code = load(tmp_path, "def one():\n    return 1\n\n\ntwo = one\ndel one\n")
    with pytest.raises(SourceError, match="under its own name"):
        standalone_source(code, code.module.two)


def test_a_tool_with_a_fixture_is_a_fault_at_its_line(tmp_path):
    faults = list(server_tool_faults(load(tmp_path, FILE), frozenset({"database"})))
    [fault] = [fault for fault in faults if "with_fixture" in fault.problem]
    assert (
        fault.line
        == FILE.split("\n").index("def with_fixture(name: str, database: int) -> str:") + 1
    )
    assert "client_tools" in fault.allowed


def test_a_tool_has_the_schema_of_its_signature_and_docstring(tmp_path):
    text = FILE[: FILE.index("@fixture\n")]
    tools = {tool.name: tool for tool in server_tools(load(tmp_path, text))}
    assert list(tools) == ["weigh", "order", "alone"]
    body = tools["weigh"].body
    assert body["description"] == "Weigh something."
    assert body["json_schema"]["parameters"]["properties"]["name"]["description"] == "What."
