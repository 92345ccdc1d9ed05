"""`--env-file`: read where it is named, and nowhere else."""

import pytest
from fakes.ran_commands import regrade

SUITE = """
name: little
samples: [{id: s, input: hi, ground_truth: canary-from-file}]
target: {kind: python, agent: "agent.py:answer"}
graders:
  right: {kind: tool, function: contains}
"""
AGENT = """
import os

def answer(sample):
    return os.environ.get("GREETING", "nothing")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / ".env").write_text("GREETING=canary-from-file\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "environment", "passed"),
    [
        ((), {}, "0/1"),
        (("--env-file", ".env"), {}, "1/1"),
        (("--env-file", ".env"), {"GREETING": "mine"}, "0/1"),
    ],
)
def test_a_file_of_variables_is_read_only_where_it_is_named(folder, words, environment, passed):
    code, out, err = regrade(folder, "run", "suite.yaml", *words, **environment)
    assert code == 0, err
    assert passed in out


@pytest.mark.parametrize("command", ["run", "grade", "validate"])
def test_a_mistake_in_the_file_is_one_line_and_nothing_is_run(folder, command):
    (folder / ".env").write_text("A=1\nthis is none\n", encoding="utf-8")
    code, out, err = regrade(folder, command, "suite.yaml", "--env-file", ".env")
    assert (code, out) == (2, "")
    assert err == ".env:2: no variable; NAME=value\n"
    assert not (folder / "runs").exists()
