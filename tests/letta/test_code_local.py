"""Letta Code on its local backend: what happens in a turn, over turns and sessions, and where."""

import json
import shutil
from pathlib import Path

import pytest
from fakes.letta_code_runs import letta_code, run_code_suite, shape

from harness.types.protocols import AGENT_STATE

BASH = {"description": "x"}


def bash(*commands):
    return [{"Bash": {"command": command, **BASH}} for command in commands]


def once(*commands, say):
    """Give the rules of a model that runs commands at once, and then says something."""
    return [{"when": {"replies": 0}, "call": bash(*commands)}, {"say": say}]


def test_text_and_tools_become_events_with_usage(tmp_path):
    trials = run_code_suite(
        tmp_path,
        {
            "plain": [{"say": "Good morning."}],
            "runner": once("echo REL-42", say="It is REL-42."),
            "parallel": once("echo one", "echo two >&2; exit 3", say="Both are done."),
            "unknown": [{"when": {"replies": 0}, "call": {"no_such": {}}}, {"say": "No tool."}],
        },
    )
    assert {name: shape(trial) for name, trial in trials.items() if name != "unknown"} == {
        "plain": [["user: Hello.", "agent: Good morning."]],
        "runner": [["user: Hello.", "call Bash", "ok Bash: REL-42", "agent: It is REL-42."]],
        "parallel": [
            [
                "user: Hello.",
                "call Bash",
                "call Bash",
                "ok Bash: one",
                "failed Bash: Exit code: 3\ntwo",
                "agent: Both are done.",
            ]
        ],
    }
    [unknown] = shape(trials["unknown"])
    assert unknown[2].startswith("failed no_such: Tool not found: no_such")
    steps = trials["runner"].trajectory.turns[0].steps
    assert [step.model for step in steps] == ["openai-compatible/scripted/runner"] * 2
    assert all(step.usage.input_tokens and step.usage.output_tokens for step in steps)
    assert trials["runner"].usage.input_tokens == sum(step.usage.input_tokens for step in steps)
    assert trials["plain"].snapshots[AGENT_STATE]["command"] == {
        "name": "letta",
        "version": "0.34.12",
    }


def test_turns_are_one_conversation_and_each_is_graded_by_itself(tmp_path):
    echo = [
        {"when": {"turn": 1, "earlier": r"(?s)(?P<first>blue|red)"}, "say": "It was {first}."},
        {"say": "I see."},
    ]
    trials = run_code_suite(
        tmp_path,
        {"echo": echo},
        samples=[
            {"id": "a", "input": ["It is blue.", "What is it?"], "ground_truth": ["see", "blue"]}
        ],
        graders={"right": {"kind": "tool", "function": "contains"}},
    )
    trial = trials["echo"]
    assert shape(trial) == [
        ["user: It is blue.", "agent: I see."],
        ["user: What is it?", "agent: It was blue."],
    ]
    assert (trial.passed, trial.score) == (True, 1.0)


def test_a_new_session_forgets_the_conversation_and_keeps_the_memory(tmp_path):
    note = "cd $MEMORY_DIR && echo 'Likes teal.' >> human.md && git add -A && git commit -qm note"
    keeper = [
        {"when": {"user": "Remember", "replies": 0}, "call": bash(note)},
        {"when": {"user": "Remember"}, "say": "I will."},
        {"when": {"replies": 0}, "call": bash("tail -n 1 $MEMORY_DIR/human.md")},
        {"when": {"turn": 0, "results": {"Bash": "(?P<known>Likes \\w+)"}}, "say": "{known}."},
        {"say": "This is not the first turn."},
    ]
    trials = run_code_suite(
        tmp_path,
        {"keeper": keeper},
        samples=[
            {
                "id": "a",
                "sessions": [["Remember teal."], ["What do I like?"]],
                "ground_truth": "teal",
            }
        ],
        graders={
            "told": {"kind": "tool", "function": "contains"},
            "kept": {
                "kind": "tool",
                "function": "contains",
                "extractor": "memory_block",
                "extractor_config": {"block_label": "human"},
            },
        },
    )
    trial = trials["keeper"]
    assert shape(trial)[1][-1] == "agent: Likes teal."
    assert [grade.passed for grade in trial.grades.values()] == [True, True]
    assert [block["label"] for block in trial.snapshots[AGENT_STATE]["blocks"]] == [
        "MEMORY",
        "human",
        "persona",
    ]


def test_every_trial_works_in_a_copy_of_the_files_and_what_it_made_is_stored(tmp_path):
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "a.txt").write_text("from the start\n", encoding="utf-8")
    work = "cat a.txt; echo more >> a.txt; mkdir sub; echo made > sub/b.txt; echo $GREETING-$EMPTY-"
    trials = run_code_suite(
        tmp_path,
        {"worker": once(work, say="Worked.")},
        {"files": "start", "collect": ["**/*.txt"], "sample_env": ["GREETING", "EMPTY"]},
        samples=[
            {"id": name, "input": "Work in {pwd}", "extra_vars": {"env": env}}
            for name, env in {"a": {"GREETING": 42, "EMPTY": None}, "b": {}}.items()
        ],
    )
    files = {"a.txt": "from the start\nmore\n", "sub/b.txt": "made\n"}
    assert [t.snapshots[AGENT_STATE]["files"] for t in trials.values()] == [files, files]
    assert shape(trials["worker a"])[0][-2] == "ok Bash: from the start\n42--"
    assert (tmp_path / "start" / "a.txt").read_text("utf-8") == "from the start\n"


def test_folders_in_place_are_those_of_the_suite(tmp_path):
    (tmp_path / "memory").mkdir()
    script = {"worker": once("pwd; echo kept > kept.txt", say="Worked.")}
    trials = {
        "by model": run_code_suite(tmp_path, script, {"working_dir": "place"}),
        "memory": run_code_suite(
            tmp_path, script, {"memory_workspace": True, "memory_dir": "memory"}
        ),
    }
    places = {name: shape(found["worker"])[0][2] for name, found in trials.items()}
    assert places == {
        "by model": f"ok Bash: {tmp_path / 'place' / 'worker'}",
        "memory": f"ok Bash: {tmp_path / 'memory'}",
    }
    assert (tmp_path / "place" / "worker" / "kept.txt").exists()


def test_an_agent_can_work_in_its_own_memory(tmp_path):
    script = {"worker": once('pwd; echo "$MEMORY_DIR"; ls', say="Worked.")}
    trials = run_code_suite(tmp_path, script, {"memory_workspace": True})
    first, second, *names = shape(trials["worker"])[0][2].removeprefix("ok Bash: ").splitlines()
    assert first == second
    assert "persona.md" in names
    assert trials["worker"].snapshots[AGENT_STATE]["agent_id"] in first


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ({"disallowed_tools": ["Bash"]}, "failed Bash: Error: request to call tool denied."),
        ({"permission_mode": "strict"}, "failed Bash: Error: request to call tool denied."),
        ({"permission_mode": "strict", "allowed_tools": ["Bash"]}, "ok Bash: ran"),
        ({"flags": "--tools Read"}, "failed Bash: Tool not found"),
    ],
)
def test_what_tools_may_do_is_the_suites_word(tmp_path, options, result):
    trials = run_code_suite(tmp_path, {"runner": once("echo ran", say="Done.")}, options)
    assert shape(trials["runner"])[0][2].startswith(result)


def test_a_long_prompt_goes_in_whole(tmp_path):
    long = "word " * 60_000 + "the end"
    counter = [{"when": {"user": r"(?P<last>the \w+)$"}, "say": "You closed with {last}."}]
    trials = run_code_suite(tmp_path, {"counter": counter}, samples=[long])
    assert shape(trials["counter"])[0][-1] == "agent: You closed with the end."
    assert letta_code().endswith("letta")


def test_an_endpoint_is_connected_with_its_key_which_is_stored_nowhere(
    tmp_path, monkeypatch, scripted
):
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("MY_KEY", key)
    look = 'grep -rl "sk-[0-9a-f]*" "$HOME/.letta/lc-local-backend/providers" | wc -l'
    url = scripted(json.dumps({"models": {"thief": once(look, say="Found.")}}))
    trials = run_code_suite(
        tmp_path,
        {},
        {
            "models": ["openai-compatible/scripted/thief"],
            "provider": {"base_url": url, "api_key_env": "MY_KEY"},
            "keep_files": True,
        },
    )
    [trial] = trials.values()
    assert shape(trial)[0][1:] == ["call Bash", "ok Bash: 1", "agent: Found."]
    kept = Path(trial.snapshots[AGENT_STATE]["folder"])
    try:
        for folder in (tmp_path / "runs", kept.parent):
            files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
            assert files
            assert not any(key.encode() in text for text in files)
    finally:
        shutil.rmtree(kept.parent)
