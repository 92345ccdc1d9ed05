"""Letta Code with its agents on a Letta server: made, read, deleted there."""

import os
import shutil
from pathlib import Path

import pytest
from fakes.letta_code_runs import letta_code, run_code_suite, shape
from letta_client import Letta

import harness
from harness.types.protocols import AGENT_STATE

MODEL = "openai-proxy/scripted/plain"
FACTORY = """
async def factory(client, sample):
    made = await client.agents.create(
        name="by-a-factory",
        model="openai-proxy/scripted/plain",
        memory_blocks=[{"label": "human", "value": sample.agent_args["likes"]}],
    )
    return made.id


async def prepare(client, model_handle):
    await client.agents.create(name="set-up", model=model_handle)
"""


@pytest.fixture(scope="module")
def server(start_letta):
    """Give a server with Redis, without which it does not answer Letta Code."""
    with start_letta("--redis") as running, Letta(base_url=running.url, api_key="x") as client:
        yield running.url, client


def names(client):
    return sorted(agent.name for agent in client.agents.list(order="asc", limit=100))


def blocks(client):
    return sorted(block.id for block in client.blocks.list(order="asc", limit=100))


def test_agents_on_a_server_are_talked_to_and_are_gone_afterwards(server, tmp_path):
    url, client = server
    before = names(client), blocks(client)
    trials = run_code_suite(
        tmp_path,
        {},
        {"backend": None, "base_url": url, "models": [MODEL]},
        samples=[["One.", "Two."], {"id": "s", "sessions": [["Three."], ["Four."]]}],
    )
    told = {name: [turn[-1] for turn in shape(trial)] for name, trial in trials.items()}
    assert {name: len(texts) for name, texts in told.items()} == {
        f"{MODEL} s0": 2,
        f"{MODEL} s": 2,
    }
    for (_, texts), said in zip(
        sorted(told.items()), (("Three", "Four"), ("One", "Two")), strict=True
    ):
        assert all(word in text for text, word in zip(texts, said, strict=True)), texts
    assert [trial.error for trial in trials.values()] == [None, None]
    assert all(trial.snapshots[AGENT_STATE]["backend"] == "server" for trial in trials.values())
    assert (names(client), blocks(client)) == before


def test_agents_that_are_kept_keep_their_memory(server, tmp_path):
    url, client = server
    target = {"backend": None, "base_url": url, "models": [MODEL], "keep_agents": True}
    [trial] = run_code_suite(tmp_path, {}, target, samples=[["One."]]).values()
    kept = client.agents.retrieve(
        trial.snapshots[AGENT_STATE]["agent_id"], include=["agent.blocks"]
    )
    assert kept.blocks
    client.agents.delete(kept.id)
    for block in kept.blocks:
        client.blocks.delete(block.id)


def test_agents_of_a_factory_are_used_and_deleted_and_what_a_setup_makes_stays(server, tmp_path):
    url, client = server
    before = names(client)
    (tmp_path / "own.py").write_text(FACTORY, encoding="utf-8")
    trials = run_code_suite(
        tmp_path,
        {},
        {
            "backend": None,
            "base_url": url,
            "models": [MODEL],
            "agent_script": "own.py:factory",
            "setup_script": "own.py:prepare",
        },
        samples=[{"id": "s", "input": "One.", "agent_args": {"likes": "Likes teal."}}],
    )
    [trial] = trials.values()
    assert trial.error is None
    blocks = {b["label"]: b["value"] for b in trial.snapshots[AGENT_STATE]["blocks"]}
    assert blocks["human"] == "Likes teal."
    assert names(client) == sorted([*before, "set-up"])


SUITES = Path(__file__).parents[1] / "data" / "letta_evals_runs"


def test_a_suite_of_letta_evals_runs_unchanged(server, tmp_path, monkeypatch):
    url, client = server
    before = names(client)
    shutil.copytree(SUITES / "served", tmp_path, dirs_exist_ok=True)
    path = os.pathsep.join([str(Path(letta_code()).parent), os.environ["PATH"]])
    for name, value in {"LETTA_BASE_URL": url, "PATH": path}.items():
        monkeypatch.setenv(name, value)
    [trial] = harness.run(tmp_path / "suite.yaml", out=tmp_path / "runs").trials()
    assert trial.error is None
    assert {name: grade.score for name, grade in trial.grades.items()} == {
        "place": 1.0,
        "knows": 1.0,
        "reward": 0.75,
    }
    turns = trial.grades["knows"].details["turns"]
    assert [turn["submission"] for turn in turns] == ["human: Works with Ada."] * 2
    assert trial.grades["reward"].details == {"turns": 2, "tokens": True}
    assert (tmp_path / "notes.txt").read_text("utf-8") == MODEL
    assert names(client) == before
