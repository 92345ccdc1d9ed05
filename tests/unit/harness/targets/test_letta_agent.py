import pytest

from harness.loading.suite_files import build_suite
from harness.targets.letta_clients import tagged
from harness.targets.letta_inline import InlineAgent
from harness.targets.letta_makers import made_agent
from harness.targets.letta_model_choice import model_settings
from harness.targets.letta_tags import run_tags, runs_of
from harness.types.errors import SuiteError, TargetError

AGENT = {"agent": {"model": "openai/gpt-4.1"}}
TOOLS = 'def look(name: str) -> str:\n    """Look."""\n    return name\n'


def build(folder, target, **more):
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    return build_suite(
        {
            "name": "s",
            "samples": [{"id": "a", "input": "Hello."}],
            "target": {"kind": "letta", **target},
            "graders": {"g": {"kind": "tool", "function": "contains"}},
            **more,
        },
        folder,
    )


def faults_of(folder, target):
    with pytest.raises(SuiteError) as raised:
        build(folder, target)
    return [str(fault) for fault in raised.value.faults]


@pytest.mark.parametrize(
    "target",
    [
        AGENT,
        {"agent_id": "agent-1"},
        {"agent_id": "agent-1", "in_place": True},
        {"agent": {"tools": "tools.py", "memory_blocks": [{"label": "human", "value": "${X}"}]}},
        {**AGENT, "client_tools": "tools.py", "approvals": "deny", "stream": "tokens"},
    ],
)
def test_a_target_that_names_one_agent_is_accepted(tmp_path, target):
    assert build(tmp_path, target).target.kind == "letta"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ({}, "found none of agent_id, agent_file, agent_script, agent"),
        ({**AGENT, "agent_id": "agent-1"}, "found agent_id and agent"),
        ({**AGENT, "in_place": True}, "in_place needs agent_id"),
        ({**AGENT, "stream": "words"}, "target.stream"),
        ({**AGENT, "approvals": "ask"}, "target.approvals"),
        ({**AGENT, "max_steps": 0}, "target.max_steps"),
        ({**AGENT, "base_url": "localhost:8283"}, "target.base_url"),
        ({"agent": {"modle": "x"}}, 'unknown key "modle"'),
        ({"agent": {"tags": ["mine"]}}, 'unknown key "tags"'),
        ({"agent": {"tools": "gone.py"}}, "gone.py"),
        ({"agent_file": "gone.af"}, "gone.af"),
        ({"agent_script": "tools.py:gone"}, "gone"),
        ({**AGENT, "setup_script": "tools.py:gone"}, "gone"),
    ],
)
def test_options_that_cannot_work_are_faults(tmp_path, target, problem):
    assert any(problem in fault for fault in faults_of(tmp_path, target))


@pytest.mark.parametrize(
    ("target", "models", "problem"),
    [
        ({"agent": {}}, ("default",), ("agent", "no model is named")),
        ({"agent": {"model": "m"}}, ("default",), None),
        ({"agent": {}}, ("m",), None),
        ({"agent_id": "agent-1"}, ("default",), None),
    ],
)
def test_a_new_agent_needs_a_model_from_somewhere(tmp_path, target, models, problem):
    suite = build(tmp_path, {**target, **({} if models == ("default",) else {"model": "m"})})
    found = [(option, text[:17]) for option, text in suite.target.target.lint_models(models)]
    assert found == ([problem] if problem else [])
    assert any("no model is named" in str(fault) for fault in suite.warnings) == bool(problem)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ({**AGENT, "base_url": "http://127.0.0.1:8283/v1"}, "ends before /v1"),
        ({**AGENT, "base_url": "http://127.0.0.1:8283/v1/"}, "ends before /v1"),
        ({"agent": {"model": "m", "memory_blocks": [{"lable": "x"}]}}, 'did you mean "label"?'),
    ],
)
def test_what_the_server_would_refuse_is_told_beforehand(tmp_path, target, problem):
    assert any(problem in str(fault) for fault in build(tmp_path, target).warnings)


@pytest.mark.parametrize("agent", [{"tools": "tools.py"}, {"server_tools": ["look"]}])
def test_a_tool_runs_on_the_server_or_here_and_not_both(tmp_path, agent):
    target = {"agent": {"model": "m", **agent}, "client_tools": "tools.py"}
    [fault] = faults_of(tmp_path, target)
    assert fault.startswith(f"tools.py:1: tool look is one of agent.{next(iter(agent))} too")


def test_prompts_are_not_filled_in_from_the_environment(tmp_path):
    target = {"agent": {"system": "Say ${HOME}.", "model": "m"}}
    assert build(tmp_path, target).target.target.agent.body["system"] == "Say ${HOME}."


def test_a_server_tool_cannot_ask_for_a_fixture(tmp_path):
    text = (
        "from harness import fixture\n\n\n@fixture\ndef database():\n    yield 1\n\n\n"
        'def look(name: str, database: int) -> str:\n    """Look."""\n    return name\n'
    )
    (tmp_path / "with_fixture.py").write_text(text, encoding="utf-8")
    [fault] = faults_of(tmp_path, {"agent": {"tools": "with_fixture.py"}})
    assert fault.startswith("with_fixture.py:9: tool look asks for database")


def test_what_decides_nothing_about_the_agent_leaves_its_fingerprint(tmp_path):
    def key(**more):
        return build(tmp_path, {**AGENT, **more}).target.fingerprint

    assert key() == key(keep_agents=True, stream="off", api_key="x", warm_up=False)
    assert key() != key(max_steps=5)
    assert key() != build(tmp_path, {"agent": {"model": "other"}}).target.fingerprint


def test_trials_on_an_agent_itself_run_one_at_a_time(tmp_path):
    in_place = build(tmp_path, {"agent_id": "agent-1", "in_place": True})
    assert in_place.target.target.sessions_at_once == 1
    assert build(tmp_path, AGENT).target.target.sessions_at_once is None


def test_an_inline_agent_is_made_of_what_was_written():
    agent = InlineAgent(model="m", server_tools=["memory_insert"], include_base_tools=False)
    assert agent.body == {"model": "m", "tools": ["memory_insert"], "include_base_tools": False}


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("default", {}),
        ("openai/gpt-4.1", {"model": "openai/gpt-4.1"}),
        (
            "scripted/x",
            {
                "llm_config": {
                    "model": "scripted/x",
                    "model_endpoint_type": "openai",
                    "model_endpoint": "http://127.0.0.1:9/v1",
                    "context_window": 128_000,
                }
            },
        ),
    ],
)
def test_a_model_is_set_by_its_handle_or_its_endpoint(model, settings):
    assert model_settings(model, "http://127.0.0.1:9/v1") == settings


def test_a_scripted_model_needs_a_script():
    with pytest.raises(TargetError, match="not running"):
        model_settings("scripted/x", None)


def test_tags_say_which_runs_made_a_thing():
    assert runs_of([*run_tags("r1"), "mine", *run_tags("r2")]) == ["r1", "r2"]


def test_our_tags_stand_beside_those_of_the_user_once():
    body = {"tags": ["mine", "regrade"], "memory_blocks": [{"label": "human"}]}
    made = tagged(tagged(body, run_tags("r")), run_tags("r"))
    assert made["tags"] == ["mine", "regrade", "regrade-run:r"]
    assert made["memory_blocks"] == [{"label": "human", "tags": ["regrade", "regrade-run:r"]}]
    assert body == {"tags": ["mine", "regrade"], "memory_blocks": [{"label": "human"}]}


def test_blocks_that_were_there_before_do_not_go_with_the_agent():
    state = {"id": "a", "blocks": [{"id": "b1"}, {"id": "b2"}], "llm_config": {}}
    assert made_agent(state, shared_blocks=["b1"]).blocks == ("b2",)
    assert made_agent(state).parallel is None
    config = {"parallel_tool_calls": True}
    assert made_agent({**state, "llm_config": config}).parallel is True
