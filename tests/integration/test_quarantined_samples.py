"""A sample in quarantine: it runs and is shown, and neither a gate nor a comparison is about it."""

import json

from fakes.ran_commands import regrade

AGENT = """
from pathlib import Path

async def agent(sample):
    night = int(Path("night").read_text(encoding="utf-8"))
    return "no" if sample.id == "flaky" and night % 2 == 0 else "yes"
"""
SUITE = """
name: nightly
dataset: samples.jsonl
target: {kind: python, agent: "agent.py:agent"}
graders:
  right: {kind: tool, function: contains}
gates:
  - {metric: trial, op: gte, value: 1}
"""


def run_night(folder, number):
    (folder / "night").write_text(str(number), encoding="utf-8")
    return regrade(folder, "run", "suite.yaml", "--quiet")


def test_a_quarantined_sample_decides_nothing_until_it_is_released(tmp_path):
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    ids = ["flaky", *(f"s{n}" for n in range(19))]
    rows = [{"id": one, "input": "?", "ground_truth": "yes"} for one in ids]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "samples.jsonl").write_text(text, encoding="utf-8")
    assert [run_night(tmp_path, number)[0] for number in (1, 2)] == [0, 1]
    assert regrade(tmp_path, "history", "--quarantine", "flaky")[0] == 0

    code, out, err = run_night(tmp_path, 4)
    assert code == 0, out + err
    assert "in quarantine, and in no gate on default: flaky" in out
    assert "19/20" in out

    first = min(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir())
    code, out, err = regrade(tmp_path, "compare", first, "latest", "--margin", "0.2")
    assert code == 0, err
    assert "left out, quarantined: flaky" in out

    assert regrade(tmp_path, "history", "--release", "flaky")[0] == 0
    assert run_night(tmp_path, 6)[0] == 1

    (tmp_path / "quarantine.yaml").write_text("quarantine: [{sample: a}]", encoding="utf-8")
    code, out, _ = regrade(tmp_path, "validate", "suite.yaml")
    assert code == 2
    assert 'quarantine.yaml:1:14: quarantine[0]: "since" is missing' in out
