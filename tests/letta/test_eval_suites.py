"""Suites of letta-evals of every time, as their authors write them, from the command to the grades.

The agents live on a real Letta server or are the real Letta Code; scripted models answer behind
both, and as the judges. Nothing of letta-evals is installed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.letta_code_runs import letta_code
from fakes.letta_runs import command, history

DATA = Path(__file__).parents[1] / "data" / "letta_evals_runs"


@pytest.fixture(scope="module")
def judges():
    """Give the address of scripted judges, served by the command as a user does."""
    words = [sys.executable, "-m", "harness.cli", "serve-model", str(DATA / "judges.yaml")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8") as serving:
        try:
            assert serving.stdout is not None
            lines = iter(serving.stdout.readline, "")
            yield next(line for line in lines if "OPENAI_BASE_URL=" in line).partition("=")[2]
        finally:
            serving.kill()


class Suite:
    """A copy of a suite's folder; `env` is what its author has exported."""

    def __init__(self, folder, env):
        self.folder, self.env = folder, env

    def fill_in(self, name, **values):
        """Put what is known only here, such as an agent's id, in the place of words of a file."""
        path = self.folder / name
        text = path.read_text("utf-8")
        for word, value in values.items():
            assert word in text
            text = text.replace(word, value)
        path.write_text(text, encoding="utf-8")

    def validate(self, name="suite.yaml"):
        """Give the notes of a suite without a fault."""
        done = command("validate", self.folder / name, env=self.env)
        assert done.returncode == 0, done.stdout + done.stderr
        return [line for line in done.stdout.splitlines() if line.startswith("note:")]

    def run(self, name="suite.yaml", *options):
        """Run a suite; give its exit code, summary, and trials by sample and epoch."""
        out = self.folder / "runs" / name
        done = command("run", self.folder / name, "--out", out, *options, env=self.env)
        assert done.returncode in {0, 1}, done.stdout + done.stderr
        [folder] = out.glob("[!.]*")
        lines = (folder / "trials.jsonl").read_text("utf-8").splitlines()
        trials = {(t["sample_id"], t["epoch"]): t for t in map(json.loads, lines)}
        summary = json.loads((folder / "summary.json").read_text("utf-8"))
        assert [trial["error"] for trial in trials.values()] == [None] * len(trials)
        return done.returncode, summary, trials


@pytest.fixture
def suite(tmp_path, judges):
    """Give a function that copies a suite and says where its judges are."""

    def copy(name, **env):
        folder = tmp_path / name
        shutil.copytree(DATA / name, folder)
        env = {"OPENAI_BASE_URL": judges.strip(), "OPENAI_API_KEY": "none", **env}
        return Suite(folder, {"REGRADE_CACHE": str(tmp_path / "cache"), **env})

    return copy


@pytest.fixture
def code_path():
    """Give a PATH on which the command of Letta Code is found."""
    return os.pathsep.join([str(Path(letta_code()).parent), os.environ["PATH"]])


@pytest.fixture
def courier(letta):
    """Give an agent of the user's on the server."""
    agent = letta.agents.create(
        name="courier",
        model="openai-proxy/scripted/plain",
        include_base_tools=False,
        memory_blocks=[{"label": "human", "value": "Likes parcels."}],
    )
    yield agent
    letta.agents.delete(agent.id)


def scores(trials, grader):
    return {key: trial["grades"][grader]["score"] for key, trial in sorted(trials.items())}


def agents_of(letta, trials):
    """Give the agents of some trials that are still on the server."""
    used = {trial["snapshots"]["agent_state"]["id"] for trial in trials.values()}
    return used & {agent.id for agent in letta.agents.list(order="asc", limit=500)}


def test_an_agent_file_with_a_flat_gate_and_a_rubric(suite, letta, letta_url, courier):
    parcels = suite("flat", LETTA_BASE_URL=letta_url)
    exported = letta.agents.export_file(courier.id)
    text = exported if isinstance(exported, str) else json.dumps(exported)
    (parcels.folder / "courier.af").write_text(text, encoding="utf-8")
    assert parcels.validate() == []
    code, summary, trials = parcels.run()
    assert code == 0
    both = {(str(row), epoch): score for row, score in enumerate((1, 1, 0)) for epoch in (0, 1)}
    assert scores(trials, "place") == both
    assert {trial["grades"]["tone"]["score"] for trial in trials.values()} == {1.0, 0.25}
    turns = trials["1", 0]["grades"]["place"]["details"]["turns"]
    assert [turn["submission"] for turn in turns] == [
        "You said: Parcel 8 is in Bergen.",
        "You said: And 9 is in 0047.",
    ]
    assert trials["0", 0]["snapshots"]["agent_state"]["blocks"][0]["value"] == "Likes parcels."
    [gate] = summary["gates"]
    assert (round(gate["value"], 3), gate["passed"]) == (0.667, True)
    assert agents_of(letta, trials) == set()


def test_a_factory_with_a_setup_and_functions_that_read_messages_and_state(suite, letta, letta_url):
    couriers = suite("factory", LETTA_BASE_URL=letta_url)
    [note] = couriers.validate()
    assert "accuracy 0.5 is taken as a share" in note
    code, summary, trials = couriers.run()
    assert code == 0
    assert scores(trials, "remembers") == {("0", 0): 1, ("1", 0): 0}
    assert scores(trials, "told") == {("0", 0): 1, ("1", 0): 1}
    told = trials["1", 0]["grades"]["told"]
    assert told["evidence"] == "looked for parcel 8"
    assert told["details"]["id"] == 1
    instructed = trials["1", 0]["grades"]["instructed"]["submission"]
    assert instructed == "You are the courier Bo; Oslo is far. | scripted/memory | human"
    assert [gate["value"] for gate in summary["gates"]] == [0.5]
    notes = (couriers.folder / "notes.txt").read_text("utf-8")
    assert notes == "openai-proxy/scripted/memory: True\n"
    assert agents_of(letta, trials) == set()


def test_rubrics_of_the_rows_and_a_gate_on_the_lowest(suite, letta_url):
    places = suite("kinds", LETTA_BASE_URL=letta_url)
    assert places.validate("simple.yaml") == []
    code, summary, trials = places.run("simple.yaml")
    assert code == 0
    about = {key: t["grades"]["about"] for (key, _), t in trials.items()}
    assert {key: (grade["score"], grade["evidence"]) for key, grade in about.items()} == {
        "101": (1.0, "about Tromso"),
        "bergen": (0.8, "about Bergen"),
        "oslo": (1.0, "calm, and about Oslo"),
    }
    assert all(grade["usage"]["output_tokens"] for grade in about.values())
    assert [gate["value"] for gate in summary["gates"]] == [0.8]
    assert (places.folder / "notes.txt").read_text("utf-8") == "nothing"


def test_turns_are_graded_by_themselves_on_a_clone_of_an_agent(suite, letta, letta_url, courier):
    turns = suite("kinds", LETTA_BASE_URL=letta_url)
    turns.fill_in("weighted.yaml", **{"agent-of-the-user": courier.id})
    assert turns.validate("weighted.yaml") == []
    before = len(history(letta, courier.id))
    code, summary, trials = turns.run("weighted.yaml")
    [trial] = trials.values()
    assert [turn["score"] for turn in trial["grades"]["each"]["details"]["turns"]] == [1, 0, 1]
    assert (code, trial["passed"], trial["score"]) == (0, True, 0.75)
    assert [gate["value"] for gate in summary["gates"]] == [0.75]
    assert len(history(letta, courier.id)) == before
    assert (turns.folder / "notes.txt").read_text("utf-8") == "True"


def test_a_gate_of_conditions_that_is_missed_is_exit_code_1(suite, letta_url):
    conditions = suite("kinds", LETTA_BASE_URL=letta_url)
    [note] = conditions.validate("logical.yaml")
    assert "accuracy 50 is taken as a percentage" in note
    code, summary, trials = conditions.run("logical.yaml", "--limit", "2")
    assert (code, summary["passed"]) == (1, False)
    assert scores(trials, "place") == {("101", 0): 1, ("bergen", 0): 1}
    [gate] = summary["gates"]
    first, second = gate["parts"]
    assert (first["passed"], first["value"], second["passed"]) == (False, 0, True)


def test_letta_code_without_a_kind_is_graded_turn_by_turn(suite, code_path):
    colours = suite("code", PATH=code_path)
    assert ["in the suite's folder" in note for note in colours.validate("turns.yaml")] == [True]
    code, summary, trials = colours.run("turns.yaml")
    assert scores(trials, "correctness") == {("0", 0): 1, ("1", 0): 0.5}
    turns = trials["1", 0]["grades"]["correctness"]["details"]["turns"]
    assert [turn["score"] for turn in turns] == [0, 1]
    assert "ice" in turns[0]["submission"]
    assert (code, summary["complete"], summary["gates"]) == (0, True, [])


def test_what_letta_code_wrote_is_read_by_graders_and_composed_to_a_reward(suite, code_path):
    ledger = suite("code", PATH=code_path)
    ledger.validate("ledger.yaml")
    code, _, trials = ledger.run("ledger.yaml")
    assert (ledger.folder / "entry 1.txt").read_text("utf-8") == "entry 1 of Ada\n"
    assert scores(trials, "written") == {("0", 0): 1, ("1", 0): 0}
    assert scores(trials, "reward") == {("0", 0): 1, ("1", 0): 0.4}
    assert [trials[key]["passed"] for key in sorted(trials)] == [True, False]
    reward = trials["1", 0]["grades"]["reward"]["details"]
    assert reward == {
        "model": "scripted/clerk",
        "has_agent": True,
        "last": "Written as the ledger says says.",
    }
    known = trials["0", 0]["grades"]["known"]["submission"]
    assert known == "Written as the ledger says 1 ['MEMORY', 'human', 'persona']"
    asked = trials["0", 0]["trajectory"]["turns"][0]["events"][0]["text"]
    assert code == 0
    assert "entry 1" in asked
