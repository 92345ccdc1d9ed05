"""Where the agents of a trial come from on a real Letta server, and that they go again."""

import json
import shutil

import pytest
from fakes.letta_runs import (
    DATA,
    TRAIN,
    clean,
    events,
    history,
    only_trial,
    run_suite,
    tagged,
    write_own_tools,
    write_suite,
)

import harness
from harness.types.errors import SuiteError, TargetError

PLAIN = "openai-proxy/scripted/plain"
INLINE = {
    "system": "You look up release trains.",
    "memory_blocks": [{"label": "human", "value": "Works on cart-api."}],
    "tools": "server_tools.py",
    "include_base_tools": False,
}


def scripted(letta_url, model="lookup", **more):
    target = {"base_url": letta_url, "script": "scripted.yaml", "agent": INLINE, **more}
    return {**target, "models": [f"scripted/{model}"]}


def left_of(letta, run):
    """Give what the run has left on the server: agents, blocks, tools, archives of its agents."""
    tags = ["regrade", f"regrade-run:{run.folder.name}"]
    blocks = letta.blocks.list(tags=tags, match_all_tags=True, order="asc", limit=100)
    tools = letta.tools.list(order="asc", limit=100)
    return [
        *(agent.name for agent in tagged(letta, run)),
        *(block.label for block in blocks),
        *(tool.name for tool in tools if tags[1] in (tool.tags or [])),
    ]


@pytest.fixture
def somebodys_agent(letta):
    """Give an agent of the user's, with memory, a tagged passage and a history."""
    agent = letta.agents.create(
        name="somebody's",
        model=PLAIN,
        include_base_tools=False,
        memory_blocks=[{"label": "human", "value": "Bo"}],
        tags=["precious"],
    )
    letta.agents.passages.create(agent.id, text="The gate code is 4711.", tags=["codes"])
    for number in range(3):
        letta.agents.passages.create(agent.id, text=f"Passage {number}.")
    letta.agents.messages.create(agent.id, messages=[{"role": "user", "content": "Hello."}])
    archives = letta.archives.list(agent_id=agent.id).items
    yield agent
    letta.agents.delete(agent.id)
    for archive in archives:
        letta.archives.delete(archive.id)


@pytest.fixture
def agent_file(letta, somebodys_agent, tmp_path):
    """Give the agent as an agent file in the suite's folder."""
    exported = letta.agents.export_file(somebodys_agent.id)
    text = exported if isinstance(exported, str) else json.dumps(exported)
    path = tmp_path / "agent.af"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_trial_has_an_agent_of_its_own_that_is_deleted_with_all_it_had(
    letta, letta_url, tmp_path
):
    run = run_suite(tmp_path, scripted(letta_url), ["About cart-api?", "About login-portal?"])
    states = [trial.snapshots["agent_state"] for trial in run.trials()]
    assert run.passed
    assert len({state["id"] for state in states}) == 2
    assert all(f"regrade-run:{run.folder.name}" in state["tags"] for state in states)
    tools = ["go_bang", "owner_of", "roll_out", "train_of"]
    assert [sorted(state["tools"]) for state in states] == [tools, tools]
    assert left_of(letta, run) == []


def test_agents_are_kept_on_request_until_they_are_cleaned(letta, letta_url, tmp_path):
    write_own_tools(tmp_path)
    run = run_suite(tmp_path, scripted(letta_url, keep_agents=True))
    [agent] = tagged(letta, run)
    [kept] = [warning for warning in run.summary.warnings if "keep_agents" in warning]
    assert f"`regrade clean {run.folder.name}` deletes them" in kept
    assert agent.id == only_trial(run).snapshots["agent_state"]["id"]
    other = run_suite(tmp_path, scripted(letta_url, keep_agents=True))
    deleted = clean(tmp_path, run)
    assert any(agent.id in line for line in deleted)
    assert left_of(letta, run) == []
    assert len(tagged(letta, other)) == 1
    clean(tmp_path, other)
    assert left_of(letta, other) == []


def test_the_final_state_is_short_or_whole(letta_url, tmp_path):
    short = only_trial(run_suite(tmp_path, scripted(letta_url))).snapshots["agent_state"]
    assert sorted(short) == ["blocks", "id", "model", "name", "tags", "tools"]
    assert short["model"] == "scripted/lookup"
    target = scripted(letta_url, keep_agent_state=True, secrets={"FOO": "s3cret-value"})
    whole = only_trial(run_suite(tmp_path, target)).snapshots["agent_state"]
    assert whole["system"] == INLINE["system"]
    assert "s3cret-value" not in json.dumps(whole)


def test_the_memory_block_extractor_reads_the_blocks_at_the_end(letta_url, tmp_path):
    graders = {
        "knows": {
            "kind": "tool",
            "function": "contains",
            "extractor": "memory_block",
            "extractor_config": {"block_label": "human"},
        }
    }
    agent = {**INLINE, "server_tools": ["memory_insert"]}
    row = {"id": "a", "input": "Remember the code is 4711.", "ground_truth": "the code is 4711"}
    run = run_suite(tmp_path, scripted(letta_url, "memory", agent=agent), [row], graders=graders)
    assert run.passed


def test_between_sessions_the_agent_forgets_the_conversation_and_keeps_its_memory(
    letta_url, tmp_path
):
    agent = {**INLINE, "server_tools": ["memory_insert"]}
    sessions = [["Remember the code is 4711."], ["What did I say first?"]]
    row = {"id": "a", "sessions": sessions}
    trial = only_trial(run_suite(tmp_path, scripted(letta_url, "memory", agent=agent), [row]))
    assert events(trial)[-1].text == "I only know my memory."
    [block] = trial.snapshots["agent_state"]["blocks"]
    assert "the code is 4711" in block["value"]


def test_trials_on_somebodys_agent_run_on_clones_with_its_passages(
    letta, letta_url, somebodys_agent, tmp_path
):
    before = [message.id for message in history(letta, somebodys_agent.id)]
    target = {"base_url": letta_url, "agent_id": somebodys_agent.id, "keep_agents": True}
    run = run_suite(tmp_path, target, ["One.", "Two."])
    clones = tagged(letta, run)
    try:
        assert len(clones) == 2
        for clone in clones:
            passages = letta.agents.passages.list(clone.id, limit=10)
            assert sorted(p.text for p in passages) == [
                "Passage 0.",
                "Passage 1.",
                "Passage 2.",
                "The gate code is 4711.",
            ]
            assert [p.tags for p in passages if "gate" in p.text] == [["codes"]]
            said = [m.content for m in history(letta, clone.id) if m.message_type == "user_message"]
            assert said[0] == "Hello."
            assert "precious" not in letta.agents.retrieve(clone.id, include=["agent.tags"]).tags
    finally:
        clean(tmp_path, run)
    assert left_of(letta, run) == []
    assert [message.id for message in history(letta, somebodys_agent.id)] == before
    archives = letta.archives.list(name="somebody's's Archive", limit=100).items
    assert [one.id for one in archives] == [
        one.id for one in letta.archives.list(agent_id=somebodys_agent.id).items
    ]


def test_an_agent_itself_is_used_on_request_by_one_trial_at_a_time_and_never_deleted(
    letta, letta_url, somebodys_agent, tmp_path
):
    target = {
        "base_url": letta_url,
        "agent_id": somebodys_agent.id,
        "in_place": True,
        "script": "scripted.yaml",
        "models": ["scripted/unhurried"],
    }
    inputs = [f"Question {number}." for number in range(3)]
    run = run_suite(tmp_path, target, inputs, limits={"concurrency": 3, "turn_seconds": 5})
    assert run.passed
    assert any("itself" in warning for warning in run.summary.warnings)
    kinds = [message.message_type for message in history(letta, somebodys_agent.id)[-6:]]
    assert kinds == ["user_message", "assistant_message"] * 3
    state = letta.agents.retrieve(somebodys_agent.id, include=["agent.tags"])
    assert state.tags == ["precious"]
    assert state.llm_config.handle == PLAIN


def test_an_agent_file_is_imported_for_each_trial(letta, letta_url, agent_file, tmp_path):
    target = {"base_url": letta_url, "agent_file": agent_file.name}
    run = run_suite(tmp_path, target, ["One.", "Two."])
    assert run.passed
    assert left_of(letta, run) == []
    assert {trial.snapshots["agent_state"]["name"] for trial in run.trials()} == {"somebody's"}


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda text: text[:-20], "malformed"),
        (lambda text: "[]", "no agent file"),
        (lambda text: '{"agents": 3}', "no agent file"),
        (lambda text: json.dumps({"agents": json.loads(text)["agents"] * 2}), "holds 2 agents"),
        (lambda text: '{"agents": []}', "holds 0 agents"),
    ],
)
def test_a_file_that_is_no_agent_file_of_one_agent_is_refused(
    letta_url, agent_file, tmp_path, spoil, problem
):
    agent_file.write_text(spoil(agent_file.read_text(encoding="utf-8")), encoding="utf-8")
    target = {"base_url": letta_url, "agent_file": agent_file.name}
    with pytest.raises(SuiteError) as raised:
        run_suite(tmp_path, target)
    [fault] = raised.value.faults
    assert problem in fault.problem or problem == "malformed"
    assert fault.file.endswith("agent.af")


def with_factory(letta_url, tmp_path, name, **more):
    shutil.copy(DATA / "factories.py", tmp_path)
    return {"base_url": letta_url, "agent_script": f"factories.py:{name}", **more}


def test_the_agents_of_a_factory_are_tagged_and_deleted(letta, letta_url, tmp_path):
    target = with_factory(letta_url, tmp_path, "make_two")
    rows = [{"id": one, "input": "Hello.", "agent_args": {"who": one}} for one in ("a", "b")]
    run = run_suite(tmp_path, target, rows)
    states = {trial.sample_id: trial.snapshots["agent_state"] for trial in run.trials()}
    assert run.passed
    assert states["b"]["name"] == "made for b"
    assert states["b"]["blocks"][0]["value"] == "b"
    assert {"of-the-suite", "regrade"} <= set(states["b"]["tags"])
    assert left_of(letta, run) == []
    assert list(letta.agents.list(name="helper", limit=10).items) == []


def test_an_agent_that_a_factory_did_not_make_is_left_alone(
    letta, letta_url, somebodys_agent, tmp_path
):
    target = with_factory(letta_url, tmp_path, "give_existing")
    row = {"id": "a", "input": "Hello.", "agent_args": {"id": somebodys_agent.id}}
    run = run_suite(tmp_path, target, [row])
    assert run.passed
    assert any("did not make" in warning for warning in run.summary.warnings)
    assert letta.agents.retrieve(somebodys_agent.id, include=["agent.tags"]).tags == ["precious"]


@pytest.mark.parametrize("model", ["scripted/unhurried", "scripted/down"])
def test_an_agent_that_a_factory_did_not_make_has_its_model_back_after_the_run(
    letta, letta_url, somebodys_agent, tmp_path, model
):
    target = with_factory(letta_url, tmp_path, "give_existing")
    target |= {"script": "scripted.yaml", "models": [model]}
    arguments = {"agent_args": {"id": somebodys_agent.id}}
    rows = [{"id": one, "input": "Hello.", **arguments} for one in ("a", "b")]
    run_suite(tmp_path, target, rows)
    state = letta.agents.retrieve(somebodys_agent.id)
    assert (state.model, state.llm_config.handle) == (PLAIN, PLAIN)
    assert state.llm_config.model_endpoint == somebodys_agent.llm_config.model_endpoint


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("break_down", ("agent_contract", "KeyError: 'who'")),
        ("return_nothing", ("agent_contract", "returned None")),
        ("ask_for_unknown_model", ("not_found", "openai-proxy/none")),
    ],
)
def test_a_factory_that_fails_is_an_error_and_leaves_no_agent(
    letta, letta_url, tmp_path, name, failed
):
    target = with_factory(letta_url, tmp_path, name)
    run = run_suite(tmp_path, target, ["Hello."])
    trial = only_trial(run)
    assert (trial.status, trial.error.code) == ("target_error", failed[0])
    assert failed[1] in trial.error.message
    assert left_of(letta, run) == []


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("set_up_plainly", ["plain"]),
        ("set_up_with_client", ["True"]),
        ("set_up_each_model", [PLAIN, "openai-proxy/scripted/lookup"]),
    ],
)
def test_the_setup_script_is_called_before_the_trials(letta_url, tmp_path, name, calls):
    target = with_factory(letta_url, tmp_path, "make_agent", setup_script=f"factories.py:{name}")
    row = {"id": "a", "input": "Hello.", "agent_args": {"who": "a"}}
    target["models"] = [PLAIN, "openai-proxy/scripted/lookup"]
    run_suite(tmp_path, target, [row])
    assert (tmp_path / "calls.txt").read_text(encoding="utf-8").split("\n")[:-1] == calls


def test_a_setup_script_that_raises_ends_the_run_before_it_begins(letta_url, tmp_path):
    target = with_factory(letta_url, tmp_path, "make_agent")
    with pytest.raises(TargetError, match="set_up_badly raised RuntimeError: no database"):
        run_suite(tmp_path, {**target, "setup_script": "factories.py:set_up_badly"}, ["Hello."])
    assert not (tmp_path / "runs").exists()


def test_each_model_is_set_on_an_agent_of_its_own(letta_url, agent_file, tmp_path):
    models = [PLAIN, "scripted/unhurried", "openai-proxy/scripted/thinker"]
    target = {"base_url": letta_url, "agent_file": agent_file.name, "script": "scripted.yaml"}
    run = run_suite(tmp_path, {**target, "models": models}, ["Hello."])
    served = {trial.model: trial.trajectory.turns[0].steps[0].model for trial in run.trials()}
    assert served == {model: model for model in models}


def test_a_tool_of_another_source_is_not_overwritten(letta, letta_url, tmp_path):
    source = (
        "def nobodys_tool(x: str) -> str:\n"
        '    """Do.\n\n    Args:\n        x: It.\n    """\n'
        "    return x\n"
    )
    made = letta.tools.upsert(source_code=source)
    try:
        path = write_suite(tmp_path, scripted(letta_url))
        code = source.replace("return x", "return x * 2")
        (tmp_path / "server_tools.py").write_text(code, encoding="utf-8")
        with pytest.raises(TargetError, match="a tool nobodys_tool with another source"):
            harness.run(path, out=tmp_path / "runs")
        assert letta.tools.retrieve(made.id).source_code == source
    finally:
        letta.tools.delete(made.id)


def test_tools_of_the_server_have_what_they_use_of_their_file(letta_url, tmp_path):
    trial = only_trial(run_suite(tmp_path, scripted(letta_url)))
    [result] = events(trial, "ToolResult")
    assert TRAIN in result.output
    assert result.structured == {"stdout": ["looking up cart-api\n"], "stderr": []}


TELLING = """
import os


def tell_all() -> str:
    \"\"\"Tell the environment.\"\"\"
    return " ".join(os.environ.values())
"""
TALKER = """
models:
  talker:
    - when: {replies: 0}
      call: {tell_all: {}}
    - when: {results: {tell_all: '(?P<code>gate-[0-9]+)'}}
      say: "The code is {code}."
"""


def test_secrets_that_a_tool_tells_are_not_stored(letta_url, tmp_path):
    (tmp_path / "telling.py").write_text(TELLING, encoding="utf-8")
    (tmp_path / "talker.yaml").write_text(TALKER, encoding="utf-8")
    agent = {"tools": "telling.py", "include_base_tools": False}
    target = scripted(letta_url, "talker", agent=agent, secrets={"GATE_CODE": "gate-4711"})
    run = run_suite(tmp_path, {**target, "script": "talker.yaml"})
    trial = only_trial(run)
    assert trial.error is None
    [told] = events(trial, "ToolResult")
    assert "[redacted]" in told.output
    assert events(trial, "AssistantMessage")[-1].text == "The code is [redacted]."
    assert "gate-4711" not in (run.folder / "trials.jsonl").read_text("utf-8")
