"""Slices and gates on them, on tries, ends of intervals and time: the command and its summary."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REGRADE = Path(sys.executable).parent / "regrade"
SUITE = """\
name: sliced
samples:
  - {id: a, input: x, language: de, level: 1}
  - {id: b, input: y, language: en, level: 2, tags: [hard]}
  - {id: c, input: z, language: de, tags: [hard, long]}
target: {kind: python, agent: "agent.py:answer"}
graders: {said: {type: output-contains, config: {substring: "yes"}}}
epochs: 2
slices: [language, level, tags]
gates:
  - {metric: trial, slice: {language: de}, aggregation: pass_rate, op: gte, value: LEAST}
  - {metric: trial, aggregation: pass^k, k: 2, interval: low, op: gte, value: 0}
  - {metric: seconds, aggregation: p90, op: lte, value: 60}
  - {metric: tool_calls, aggregation: sum, op: eq, value: 0}
"""
AGENT = """\
def answer(sample):
    return "no" if sample.id == "c" else "yes"
"""


@pytest.mark.parametrize(("least", "code"), [("0.5", 0), ("0.6", 1)])
def test_a_slice_decides_the_exit_code_and_stands_in_the_summary(tmp_path, least, code):
    (tmp_path / "suite.yaml").write_text(SUITE.replace("LEAST", least), encoding="utf-8")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    command = [str(REGRADE), "run", "suite.yaml", "--quiet", "--out", "runs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    word = "met" if code == 0 else "missed"
    assert f"gate {word}: pass rate of trial of default (language: de) >= {least} (is 0.5)" in (
        done.stdout
    )
    assert "pass^2 66.7 % (2 of 2 epochs, 3 samples)" in done.stdout
    (path,) = (tmp_path / "runs").glob("*/summary.json")
    model = json.loads(path.read_bytes())["models"]["default"]
    rates = {
        (name, value): part["pass_rate"]["value"]
        for name, values in model["slices"].items()
        for value, part in values.items()
    }
    assert rates == {
        ("language", "de"): 0.5,
        ("language", "en"): 1.0,
        ("level", "1"): 1.0,
        ("level", "2"): 1.0,
        ("tags", "hard"): 0.5,
        ("tags", "long"): 0.0,
    }
    assert model["per_trial"]["seconds"]["trials"] == 6
    page = (path.parent / "summary.md").read_text("utf-8")
    lowest = "`tags: long` 0 of 2 (0.0 %), `language: de` 2 of 4 (50.0 %), `tags: hard`"
    assert f"; lowest slices: {lowest}" in page
