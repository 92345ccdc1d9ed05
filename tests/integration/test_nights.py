"""Nights as a user has them: runs in a folder, their history, quarantine, and plans."""

import json

import pytest
from fakes.ran_commands import regrade

AGENT = """
from pathlib import Path

async def agent(sample):
    night = int(Path("night").read_text(encoding="utf-8"))
    wrong = {"flaky": night % 2 == 0, "broken": night >= 5}
    return "no" if wrong.get(sample.id) else "yes"
"""
SUITE = """
name: nightly
dataset: samples.jsonl
target: {kind: python, agent: "agent.py:agent"}
graders:
  right: {kind: tool, function: contains}
epochs: 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give seven nights of a suite whose sample `broken` breaks on the fifth."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    ids = ["flaky", "broken", *(f"s{n}" for n in range(18))]
    rows = [{"id": one, "input": "?", "ground_truth": "yes"} for one in ids]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "samples.jsonl").write_text(text, encoding="utf-8")
    for night in range(1, 8):
        (folder / "night").write_text(str(night), encoding="utf-8")
        code, _, err = regrade(folder, "run", "suite.yaml", "--out", "nights", "--quiet")
        assert code == 0, err
    return folder


def history(folder, *words):
    code, out, err = regrade(folder, "history", "nights", "--json", "history.json", *words)
    assert "wrote history.json" in out, err
    (model,) = json.loads((folder / "history.json").read_text(encoding="utf-8"))["models"]
    states = {one["standing"]["sample_id"]: one["standing"]["state"] for one in model["samples"]}
    return code, out, model, states


def test_a_history_names_what_broke_since_when_and_what_is_flaky(folder):
    code, out, model, states = history(folder, "--alarm")
    assert code == 1
    assert states == {"broken": "regressed", "flaky": "flaky"}
    assert [(turn["night"], turn["fell"]) for turn in model["turns"]] == [(5, True)]
    assert "worse since night 5" in out
    assert "nightly on default: 7 nights" in out
    assert regrade(folder, "history", "nights")[0] == 0


def test_a_pinned_baseline_judges_the_last_night(folder):
    first = min(path.name for path in (folder / "nights").iterdir() if path.is_dir())
    code, _, err = regrade(folder, "baseline", "set", first, "--out", "nights")
    assert code == 0, err
    _, out, model, _ = history(folder, "--margin", "0.2")
    assert model["baseline"] == first
    assert model["verdict"]["verdict"] == "regressed"
    assert "REGRESSED (suspected) against the baseline" in out
    (folder / "nights" / "baselines.json").unlink()


def test_a_flaky_sample_is_quarantined_beside_the_suite_and_released(folder):
    code, out, err = regrade(folder, "history", "nights", "--quarantine", "flaky", "--reason", "x")
    assert code == 0, err
    assert "quarantined, ends in 14 nights" in out
    assert "sample: flaky" in (folder / "quarantine.yaml").read_text(encoding="utf-8")
    code, out, err = regrade(folder, "history", "nights", "--quarantine", "s1")
    assert (code, out) == (2, "")
    assert "'s1' have all passed" in err
    assert regrade(folder, "history", "nights", "--release", "flaky")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["history", "nowhere"], "no such folder"),
        (["history", "nights", "--suite", "other"], "no night of the suite 'other'"),
        (["history", "nights", "--baseline", "suite.yaml"], "suite.yaml"),
        (["history", "nights", "--reason", "x"], "--reason is for --quarantine"),
        (["history", "nights", "--quarantine", "broken"], "'broken' has regressed: "),
        (["plan", "nowhere.yaml"], "nowhere.yaml"),
        (["plan", "suite.yaml", "--from", "nothing"], "no run"),
        (["plan", "suite.yaml", "--detect", "0"], "--detect"),
    ],
)
def test_a_mistake_is_one_line(folder, words, said):
    code, _, err = regrade(folder, *words)
    assert code == 2
    assert said in err


def test_a_plan_learns_from_the_nights(folder):
    nights = sorted(path.name for path in (folder / "nights").iterdir() if path.is_dir())
    sources = [word for one in nights[:4] for word in ("--from", f"nights/{one}")]
    code, out, err = regrade(folder, "plan", "suite.yaml", *sources, "--json", "plan.json")
    assert code == 0, err
    assert "nightly: 20 samples x 1 model x 3 epochs = 60 trials" in out
    (model,) = json.loads((folder / "plan.json").read_text(encoding="utf-8"))["models"]
    assert model["spending"]["of"] == 240
    (found,) = model["sights"]
    # Of 20 samples one passes every other night: 6 of its 12 trials.
    assert found["churn"] == pytest.approx(2 * 6 * 6 / (12 * 11) / 20)
    assert found["source"] == "measured"


def test_a_regression_is_suspected_until_fresh_runs_of_both_confirm_it(folder):
    for name, night in (("before", 1), ("after", 5)):
        (folder / "night").write_text(str(night), encoding="utf-8")
        out = ["--out", f"confirm/{name}", "--quiet"]
        assert regrade(folder, "run", "suite.yaml", "--epochs", "6", *out)[0] == 0
    runs = [
        str(min((folder / "confirm" / name).glob("*-nightly-*"))) for name in ("before", "after")
    ]
    assert "REGRESSED (suspected)" in regrade(folder, "compare", *runs)[1]
    code, out, err = regrade(folder, "compare", *runs, "--confirmed")
    assert code == 1, err
    assert "REGRESSED (confirmed)" in out
