"""What trials make on a real Letta server beside their agents, and that it goes with them."""

import asyncio
import json
import shutil
from uuid import uuid4

import pytest
from fakes.letta_runs import DATA, clean, events, only_trial, run_suite, tagged

from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_connection import LettaConnection
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext
from harness.types.samples import Sample

PLAIN = "openai-proxy/scripted/plain"
MEMORY = """
alike: prompts
models:
  noting:
    - when: {replies: 0}
      call:
        memory:
          command: create
          path: /memories/notes
          description: What was noted.
          file_text: The gate is shut.
    - say: Noted.
"""
TELLING = '''"""A tool that tells what it was given."""

import os


def tell_all() -> str:
    """Tell everything."""
    return os.environ["GATE_CODE"]
'''
TELLER = """
alike: prompts
models:
  teller:
    - when: {replies: 0}
      call: {tell_all_of_it: {}}
    - say: There you are.
"""


def labelled(letta, label):
    """Give the ids of the blocks of a label; other tests make blocks at the same time."""
    return {block.id for block in letta.blocks.list(label=label, limit=100).items}


def with_factory(letta_url, tmp_path, name, **more):
    shutil.copy(DATA / "factories.py", tmp_path)
    return {"base_url": letta_url, "agent_script": f"factories.py:{name}", **more}


@pytest.fixture
def shared_block(letta):
    """Give a memory block of the user's, which no agent has yet."""
    block = letta.blocks.create(label="shared", value="Everybody's.")
    yield block
    letta.blocks.delete(block.id)


@pytest.fixture
def agent_file(letta, tmp_path):
    """Give an agent file of an agent that is no more."""
    agent = letta.agents.create(
        name="exported",
        model=PLAIN,
        include_base_tools=False,
        memory_blocks=[{"label": "of_the_file", "value": "Bo"}],
    )
    exported = letta.agents.export_file(agent.id)
    letta.agents.delete(agent.id)
    path = tmp_path / "agent.af"
    text = exported if isinstance(exported, str) else json.dumps(exported)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_helper_that_a_factory_deletes_again_is_not_missed(letta, letta_url, tmp_path):
    target = with_factory(letta_url, tmp_path, "make_and_delete_one")
    run = run_suite(tmp_path, target, [{"id": "a", "input": "Hello.", "agent_args": {"who": "a"}}])
    assert only_trial(run).error is None
    assert tagged(letta, run) == []


def test_what_a_factory_imports_goes_and_what_it_attaches_stays(
    letta, letta_url, agent_file, shared_block, tmp_path
):
    target = with_factory(letta_url, tmp_path, "import_one")
    arguments = {"file": str(agent_file), "block": shared_block.id}
    before = labelled(letta, "of_the_file")
    run = run_suite(tmp_path, target, [{"id": "a", "input": "Hello.", "agent_args": arguments}])
    trial = only_trial(run)
    labels = {block["label"] for block in trial.snapshots["agent_state"]["blocks"]}
    assert (trial.error, labels) == (None, {"of_the_file", "shared"})
    assert tagged(letta, run) == []
    assert shared_block.id in labelled(letta, "shared")
    assert labelled(letta, "of_the_file") == before


@pytest.mark.parametrize("keep_agents", [False, True])
def test_a_memory_block_that_the_agent_makes_goes_with_it(
    letta, letta_url, shared_block, tmp_path, keep_agents
):
    (tmp_path / "noting.yaml").write_text(MEMORY, encoding="utf-8")
    agent = {"server_tools": ["memory"], "block_ids": [shared_block.id]}
    target = {"base_url": letta_url, "script": "noting.yaml", "models": ["scripted/noting"]}
    before = labelled(letta, "notes")
    run = run_suite(tmp_path, {**target, "agent": agent, "keep_agents": keep_agents})
    trial = only_trial(run)
    labels = {block["label"] for block in trial.snapshots["agent_state"]["blocks"]}
    assert (trial.error, labels) == (None, {"notes", "shared"})
    if keep_agents:
        clean(tmp_path, run)
    assert tagged(letta, run) == []
    assert shared_block.id in labelled(letta, "shared")
    assert labelled(letta, "notes") == before


@pytest.fixture
def telling_agent(letta):
    """Give an agent of the user's whose tool tells its secret."""
    source = TELLING.replace("tell_all", "tell_all_of_it")
    tool = letta.tools.upsert(source_code=source)
    agent = letta.agents.create(
        name="telling",
        model=PLAIN,
        include_base_tools=False,
        tool_ids=[tool.id],
        secrets={"GATE_CODE": "gate-4711"},
    )
    yield agent
    letta.agents.delete(agent.id)
    letta.tools.delete(tool.id)


@pytest.mark.parametrize("way", ["clone", "in_place", "factory"])
def test_secrets_that_an_agent_has_of_its_own_are_not_stored(
    letta_url, telling_agent, tmp_path, way
):
    (tmp_path / "teller.yaml").write_text(TELLER, encoding="utf-8")
    target = {"base_url": letta_url, "agent_id": telling_agent.id, "in_place": way == "in_place"}
    if way == "factory":
        target = with_factory(letta_url, tmp_path, "give_existing")
    target |= {"script": "teller.yaml", "models": ["scripted/teller"]}
    row = {"id": "a", "input": "Tell me.", "agent_args": {"id": telling_agent.id}}
    run = run_suite(tmp_path, target, [row])
    trial = only_trial(run)
    assert trial.error is None
    [told] = events(trial, "ToolResult")
    assert "[redacted]" in told.output
    assert "gate-4711" not in (run.folder / "trials.jsonl").read_text("utf-8")


SOURCE = '''"""A tool."""


def {name}(number: int) -> int:
    """Give a number.

    Args:
        number: Any number.
    """
    return number + {more}
'''


@pytest.fixture
def tool_suite(letta, letta_url, tmp_path):
    """Give the name of a tool that no other test has, and what runs a suite with it."""
    name = f"tool_{uuid4().hex[:8]}"

    def run(more=1, **target):
        source = SOURCE.format(name=name, more=more)
        (tmp_path / "own_tools.py").write_text(source, encoding="utf-8")
        agent = {"model": PLAIN, "tools": "own_tools.py", "include_base_tools": False}
        return run_suite(tmp_path, {"base_url": letta_url, "agent": agent, **target})

    yield name, run
    for tool in letta.tools.list(name=name, limit=10).items:
        letta.tools.delete(tool.id)


def tags_of(letta, name):
    return [tool.tags for tool in letta.tools.list(name=name, limit=10).items]


def leave_tool(letta, name, tags, more=1):
    """Leave a tool on the server as a run would that was killed."""
    made = letta.tools.upsert(source_code=SOURCE.format(name=name, more=more))
    letta.tools.update(made.id, tags=tags)


@pytest.mark.parametrize("tags", [["regrade", "regrade-run:dead-1"], ["regrade"]])
def test_an_edited_tool_takes_the_place_of_one_that_only_dead_runs_have_used(
    letta, tool_suite, tags
):
    name, run = tool_suite
    leave_tool(letta, name, tags, more=7)
    assert run(more=2).passed
    assert tags_of(letta, name) == []


def test_an_edited_tool_does_not_replace_that_of_a_run_with_agents(letta, tool_suite, tmp_path):
    name, run = tool_suite
    kept = run(more=1, keep_agents=True)
    with pytest.raises(TargetError, match="another source") as raised:
        run(more=2)
    assert f"`regrade clean {kept.folder.name}`" in raised.value.hint
    assert len(tags_of(letta, name)) == 1
    clean(tmp_path, kept)
    assert tags_of(letta, name) == []


def test_the_tag_of_a_run_that_is_over_keeps_no_tool(letta, tool_suite, tmp_path):
    name, run = tool_suite
    first = run(keep_agents=True)
    [tool] = letta.tools.list(name=name, limit=10).items
    letta.tools.update(tool.id, tags=[*tool.tags, "regrade-run:dead-1", "regrade-run:dead-2"])
    clean(tmp_path, first)
    assert tags_of(letta, name) == []


def test_a_tool_that_another_runs_agents_have_stays_until_they_go(letta, tool_suite, tmp_path):
    name, run = tool_suite
    first, second = run(keep_agents=True), run(keep_agents=True)
    [tool] = letta.tools.list(name=name, limit=10).items
    # As if both had changed the tags at once.
    letta.tools.update(tool.id, tags=["regrade", f"regrade-run:{first.folder.name}"])
    clean(tmp_path, first)
    assert tags_of(letta, name) == [["regrade", f"regrade-run:{second.folder.name}"]]
    clean(tmp_path, second)
    assert tags_of(letta, name) == []


@pytest.fixture
def users_agent(letta):
    """Give an agent of the user's."""
    agent = letta.agents.create(
        name="user's", model=PLAIN, include_base_tools=False, tags=["mine"], metadata={"a": 1}
    )
    yield agent
    letta.agents.delete(agent.id)


def state_of(letta, agent):
    state = letta.agents.retrieve(agent.id, include=["agent.tags"])
    return state.llm_config.handle, state.tags, state.metadata


OWN = (PLAIN, ["mine"], {"a": 1})


def in_place_suite(letta_url, agent):
    models = ["openai-proxy/scripted/thinker"]
    return {"base_url": letta_url, "agent_id": agent.id, "in_place": True, "models": models}


async def killed(target, run_id):
    """Begin a run in place, as one does that is killed then; it gives nothing back."""
    context = RunContext(
        scripted_url=None,
        fixture_names=frozenset(),
        concurrency=1,
        models=tuple(target["models"]),
        run_id=run_id,
    )
    options = {key: one for key, one in target.items() if key != "models"}
    connection = LettaConnection(LettaAgent(**options), context)
    await connection.begin()
    sample = Sample(id="s", input="")
    await connection.open(
        AttemptContext(
            sample=sample, model=target["models"][0], epoch=0, attempt=0, fixtures={}, wait=None
        )
    )
    await connection._server.close()


def test_an_agent_is_as_it_was_after_a_run_in_place(letta, letta_url, users_agent, tmp_path):
    run = run_suite(tmp_path, in_place_suite(letta_url, users_agent), ["One.", "Two."])
    assert run.passed
    assert state_of(letta, users_agent) == OWN


def test_the_model_that_a_killed_run_has_changed_is_given_back_by_clean(
    letta, letta_url, users_agent, tmp_path
):
    target = in_place_suite(letta_url, users_agent)
    asyncio.run(killed(target, "dead-run-1"))
    assert state_of(letta, users_agent)[0] != PLAIN
    with pytest.raises(TargetError, match="in use by the run dead-run-1") as raised:
        run_suite(tmp_path, target)
    assert "`regrade clean dead-run-1`" in raised.value.hint
    assert state_of(letta, users_agent)[0] != PLAIN
    lent = LettaAgent(base_url=letta_url, agent_id=users_agent.id, in_place=True)
    [line] = asyncio.run(lent.clean("dead-run-1"))
    assert users_agent.id in line
    assert state_of(letta, users_agent) == OWN
    assert asyncio.run(lent.clean("dead-run-1")) == []
