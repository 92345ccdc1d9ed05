"""Programs as agents: processes that answer, crash, hang, print without end and leave others."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fakes.command_agents import command_suite, events, only_trial, run_command_suite, working_in

import harness
from harness.system.clock import monotonic
from harness.system.scratch_folders import make_scratch
from harness.types.events import AssistantMessage
from harness.types.trajectories import Usage

PAGE = Path(__file__).parents[2] / "docs" / "targets.md"
linux = sys.platform == "linux"


def test_events_of_several_turns_become_a_trajectory(tmp_path):
    source = """
for told in turns():
    tell("reasoning", text="hm")
    tell("tool_call", name="look", call_id="a", arguments={"n": told["turn"]})
    tell("tool_result", call_id="a", output={"n": told["turn"]})
    say("seen " + told["text"])
    tell("step", model="m-1", usage={"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5})
    tell("turn_end")
"""
    trial = only_trial(tmp_path, source, prompt=["one", "two"])
    assert trial.status == "completed"
    assert events(trial) == [
        ["hm", "call look {'n': 0}", 'ok look {"n":0}', "seen one"],
        ["hm", "call look {'n': 1}", 'ok look {"n":1}', "seen two"],
    ]
    assert trial.usage == Usage(input_tokens=6, output_tokens=8, cost_usd=1.0)
    assert trial.trajectory.turns[0].steps[0].model == "m-1"
    assert all(event.at for event in trial.trajectory.events())


def test_the_first_line_tells_the_trial_and_no_line_the_truth(tmp_path):
    source = 'say(json.dumps([next(turns()), len(list(turns()))])); tell("turn_end")'
    row = {
        "id": "q/1",
        "input": "Hi.",
        "ground_truth": "hidden",
        "history": [{"role": "user", "content": "Before."}],
        "agent_args": {"depth": 2},
        "extra_vars": {"x": 1},
    }
    trials = run_command_suite(tmp_path, source, {"models": ["m"]}, [row], epochs=2)
    first, second = (trial.trajectory.turns[-1].events[-1].text for trial in trials)
    assert '"sample_id": "q/1", "model": "m", "epoch": 0, "attempt": 0, "seed": ' in first
    assert '"history": [{"role": "user", "content": "Before."}]' in first
    assert '"agent_args": {"depth": 2}, "extra_vars": {"x": 1}}, 0]' in first
    assert "hidden" not in first + second
    assert first.partition('"seed"')[2] != second.partition('"seed"')[2]


@pytest.mark.parametrize(
    ("target", "source", "said"),
    [
        ({}, "print('It is 3.'); print('Really.')", "It is 3.\nReally."),
        ({}, "print('no line end', end='')", "no line end"),
        ({}, "os.write(1, b'bad \\xff and \\0 nul\\n')", "bad \ufffd and \0 nul"),
        ({}, "print(json.dumps({'answer': 3}))", '{"answer": 3}'),
        ({}, "print(json.dumps({'type': 'object'}))", '{"type": "object"}'),
        ({}, "print(json.dumps({'type': 'object'}, indent=1))", '{\n "type": "object"\n}'),
        ({}, """print('{"type": "object",')""", '{"type": "object",'),
        ({}, """print('{"set of": 3, …')""", '{"set of": 3, …'),
        ({"protocol": "text"}, "print('Said: ' + sys.stdin.read())", "Said: Hello."),
        ({"protocol": "text"}, "tell('turn_end')", '{"type": "turn_end"}'),
    ],
)
def test_plain_text_is_the_answer(tmp_path, target, source, said):
    trial = only_trial(tmp_path, source, target)
    assert trial.status == "completed"
    assert events(trial) == [[said]]


def test_what_libraries_print_among_events_is_kept_apart(tmp_path):
    source = """
print("Loading...")
say("done")
print("bye")
print(json.dumps({"level": "info"}))
"""
    trial = only_trial(tmp_path, source)
    assert events(trial) == [["stdout: Loading...", "done", "stdout: bye", "stdout: "]]
    assert trial.status == "completed"


def test_what_is_said_on_stderr_is_kept_with_its_turn(tmp_path):
    source = """
for told in turns():
    print("log", told["turn"], file=sys.stderr, flush=True)
    time.sleep(0.2)
    say("ok")
    tell("turn_end")
"""
    trial = only_trial(tmp_path, source, prompt=["one", "two"])
    assert events(trial) == [["ok", "stderr: log 0"], ["ok", "stderr: log 1"]]


CRASHES = {
    "an exit code": ("say('half'); sys.exit(3)", "exit code 3"),
    "what it says last": ("sys.exit('no such table')", "exit code 1): no such table"),
    "a traceback": ("{}['missing']", "KeyError: 'missing'"),
    "a signal": ("os.kill(os.getpid(), 11)", "signal SIGSEGV"),
    "nothing said": ("pass", "without an answer (exit code 0)"),
    "calls and no answer": ("tell('tool_call', name='look')", "without an answer"),
    "output without end": ("while True: print('x' * 1000)", "more than 1 MiB"),
    "one line without end": ("while True: sys.stdout.write('x' * 1000)", "more than 1 MiB"),
    "events without end": ("while True: tell('reasoning', text='x')", "more than"),
}


@pytest.mark.parametrize("what", CRASHES)
def test_a_program_that_fails_is_the_failure_of_the_agent(tmp_path, what):
    source, message = CRASHES[what]
    trial = only_trial(tmp_path, source, {"max_output_mb": 1})
    assert (trial.status, trial.error.code) == ("agent_failure", "agent_crash")
    assert message in trial.error.message
    assert (trial.passed, trial.score) == (False, 0)


def test_a_program_that_ends_between_turns_is_the_failure_of_the_agent(tmp_path):
    trial = only_trial(tmp_path, "say('one'); tell('turn_end')", prompt=["one", "two"])
    assert (trial.status, trial.error.code) == ("agent_failure", "agent_crash")
    assert "in turn 2 of 2" in trial.error.message
    assert events(trial) == [["one"], []]


CONTRACT = {
    "a torn line": ("print('{\"type\": \"assistant_mess'); say('x')", "no whole JSON object"),
    "an unknown type": ("say('x'); tell('tool_resutl')", 'did you mean "tool_result"?'),
    "an unknown field": ("tell('tool_call', name='a', id='1')", 'unknown field "id"'),
    "a missing field": ("tell('assistant_message')", "`text`"),
    "a field of another type": ("tell('assistant_message', text=3)", "Expected `str`, got `int`"),
    "a time without a zone": ("tell('reasoning', text='x', at='2026-01-01T00:00:00')", "$.at"),
    "an unknown code": ("tell('error', code='oops', message='x')", 'unknown code "oops"'),
    "usage of another kind": ("tell('step', usage={'tokens': 3})", '"usage.tokens"'),
}


@pytest.mark.parametrize("what", CONTRACT)
def test_a_line_that_cannot_be_read_is_an_error_and_hides_no_other(tmp_path, what):
    source, message = CONTRACT[what]
    trial = only_trial(tmp_path, f"say('before'); {source}; say('after')")
    assert (trial.status, trial.error.code) == ("target_error", "agent_contract")
    assert message in trial.error.message
    assert trial.passed is None
    assert {"before", "after"} <= set(events(trial)[0])


BROKEN_FIRST = {
    "a torn event": """print('{"type":"tool_call","call_id":"c1","name":"refu')""",
    "one torn inside its type": """print('{"type":"tool_cal')""",
    "one torn inside its first name": """print('{"ty')""",
    "one whose type comes later": """print('{"call_id":"c1","type":"tool_call","na')""",
    "one with a space": """print('{ "type": "tool_call", "name": "refu')""",
    "another type": """print('{"type":"tool_cal","name":"refund"}')""",
    "a type of its own": """print('{"type":"refund"}')""",
    "no number": """print('{"type":"tool_call","name":"refund","arguments":{"n":NaN}}')""",
    "Python's way": """print("{'type': 'tool_call', 'name': 'refund'}")""",
    "an error without its message": """print('{"type":"error"}')""",
}


@pytest.mark.parametrize("what", BROKEN_FIRST)
def test_a_first_line_that_is_no_whole_event_is_an_error_that_names_it(tmp_path, what):
    source = f"print('Loading'); {BROKEN_FIRST[what]}; say('after'); tell('turn_end')"
    trial = only_trial(tmp_path, source)
    assert (trial.status, trial.error.code) == ("target_error", "agent_contract")
    assert "line 2 of the output" in trial.error.message
    [[notice, problem, said]] = events(trial)
    assert (notice, said) == ("stdout: Loading", "after")
    assert problem.startswith("error unread_line: ")


@pytest.mark.parametrize("what", sorted(set(BROKEN_FIRST) - {"a type of its own"}))
@pytest.mark.parametrize("end", ["", "; sys.stdout.flush(); time.sleep(600)"])
def test_the_only_line_is_no_answer_where_it_is_a_broken_event(tmp_path, what, end):
    source = BROKEN_FIRST[what].removesuffix(")") + ", end='')" + end
    trial = only_trial(tmp_path, source, limits={"max_error_rate": 1, "turn_seconds": 1})
    assert trial.error.code == ("turn_timeout" if end else "agent_contract")
    assert [e for e in trial.trajectory.events() if isinstance(e, AssistantMessage)] == []


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ({"command": "no-such-program-at-all"}, "target.command: there is no program"),
        ({"command": ["./agent.txt"]}, "target.command: there is no program"),
        ({"env": ["SOME_UNSET_VALUE"]}, "target.env: the environment variable SOME_UNSET_VALUE"),
    ],
)
def test_what_a_run_lacks_is_a_fault_of_the_suite_before_anything_is_stored(
    tmp_path, target, fault
):
    path = command_suite(tmp_path, "say('ok')", target)
    words = [sys.executable, "-m", "harness.cli"]
    for command in (["validate", path], ["run", path, "--out", tmp_path / "runs"]):
        done = subprocess.run([*words, *command], capture_output=True, timeout=60, check=False)
        said = " ".join((done.stdout + done.stderr).decode().split())
        assert (done.returncode, fault in said) == (2, True), said
    assert not (tmp_path / "runs").exists()


def test_two_events_on_one_line_are_two(tmp_path):
    source = """
lines = [{"type": "assistant_message", "text": "a"}, {"type": "turn_end"}]
print("".join(map(json.dumps, lines)), flush=True)
time.sleep(600)
"""
    trial = only_trial(tmp_path, source)
    assert (trial.status, events(trial)) == ("completed", [["a"]])


def test_plain_text_in_one_of_several_turns_is_an_error_that_says_so(tmp_path):
    trial = only_trial(tmp_path, "print('Hi.')", prompt=["one", "two"])
    assert (trial.status, trial.error.code) == ("target_error", "agent_contract")
    assert "plain text in turn 1 of 2" in trial.error.message


def test_an_outage_that_the_agent_tells_is_tried_again_from_a_clean_agent(tmp_path):
    source = """
told = next(turns())
if told["attempt"] == 0:
    tell("error", code="rate_limited", message="429 from the provider", retry_after=0.01)
    time.sleep(600)
say(f"attempt {told['attempt']}")
"""
    trial = only_trial(tmp_path, source, retries={"attempts": 2})
    assert trial.status == "completed"
    assert [attempt.error and attempt.error.code for attempt in trial.attempts] == [
        "rate_limited",
        None,
    ]
    assert events(trial) == [["attempt 1"]]


def test_a_wait_that_is_too_long_is_an_error_that_says_when_it_would_end(tmp_path):
    source = 'tell("error", code="rate_limited", message="429", retry_after=7200)'
    trial = only_trial(tmp_path, source, retries={"attempts": 3, "max_wait_seconds": 60})
    assert (len(trial.attempts), trial.error.code) == (1, "rate_limited")
    assert re.fullmatch(
        r"429; waiting for the endpoint would take 7,200 s \(until .* UTC\) more, after 0 s; "
        r"retries.max_wait_seconds is 60",
        trial.error.message,
    )


def test_the_state_that_an_agent_tells_is_stored(tmp_path):
    source = 'tell("state", data={"n": 1}); tell("state", data={"n": 2}); say("ok")'
    assert only_trial(tmp_path, source).snapshots == {"agent_state": {"n": 2}}
    assert only_trial(tmp_path, 'say("ok")').snapshots == {}


HANGS = {
    "sleeps": "time.sleep(600)",
    "does not read": "say('working'); time.sleep(600)",
    "ignores SIGTERM": "signal.signal(15, signal.SIG_IGN); say('deaf'); time.sleep(600)",
    "is stopped": "say('x'); os.kill(os.getpid(), 19)",
    "leaves a child": "start(DEAF); signal.signal(15, signal.SIG_IGN); time.sleep(600)",
    "leaves a child in a session": (
        "start(DEAF, start_new_session=True); signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    ),
    "leaves a child without variables": (
        "start(DEAF, 'env', '-i', 'setsid'); signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    ),
    "prints slowly without end": "while True: print('x', flush=True); time.sleep(0.01)",
}


@pytest.mark.parametrize("what", HANGS)
def test_a_time_limit_ends_a_program_with_all_that_it_has_started(tmp_path, what):
    started = monotonic()
    trial = only_trial(tmp_path, HANGS[what], limits={"trial_seconds": 2, "max_error_rate": 1})
    assert (trial.status, trial.error.code) == ("agent_failure", "trial_timeout")
    # Far less than what it would sleep, and far more than a busy machine needs.
    assert monotonic() - started < 60
    assert not linux or working_in(tmp_path) == []


LEAVES = {
    "nothing": "",
    "a child that holds the output": "start(SLEEP)",
    "a child that prints for ever": "start('while True: print(1)')",
    "a child in a session of its own": "start(SLEEP, start_new_session=True)",
    "children of children": "start('import os; os.fork(); os.setsid(); os.fork();' + SLEEP)",
}


@pytest.mark.parametrize("end", ["tell('turn_end')", "sys.exit()", "time.sleep(600)"])
@pytest.mark.parametrize("what", LEAVES)
def test_nothing_is_left_of_a_trial_that_went_well(tmp_path, what, end):
    if end == "time.sleep(600)":
        end = f"tell('turn_end'); {end}"
    trial = only_trial(tmp_path, f"say('done'); {LEAVES[what]}; {end}".replace("; ;", ";"))
    assert trial.status == "completed"
    assert events(trial)[0][0] == "done"
    assert not linux or working_in(tmp_path) == []


def test_a_huge_prompt_that_is_not_read_holds_nothing_up(tmp_path):
    trial = only_trial(tmp_path, "say('done'); tell('turn_end')", prompt="word " * 500_000)
    assert trial.status == "completed"


def test_an_agent_may_write_down_what_it_learnt_after_its_last_turn(tmp_path):
    source = """
for told in turns():
    say("ok")
    tell("turn_end")
open("learnt.txt", "w").write("all")
"""
    assert only_trial(tmp_path, source).status == "completed"
    assert (tmp_path / "learnt.txt").read_text(encoding="utf-8") == "all"


def test_a_program_sees_little_of_our_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_SECRET_KEY", "canary-4711-x")
    monkeypatch.setenv("PLAIN", "seen")
    source = "say(' '.join(sorted(os.environ)) + ' ' + os.environ.get('PLAIN', '-'))"
    bare = events(only_trial(tmp_path / "bare", source))[0][0]
    assert {"PATH", "HOME", "REGRADE_TRIAL"} <= set(bare.split())
    assert {"OUR_SECRET_KEY", "PLAIN"}.isdisjoint(bare.split())
    named = events(only_trial(tmp_path / "named", source, {"env": ["PLAIN"]}))[0][0]
    assert named.endswith(" seen")
    given = events(only_trial(tmp_path / "given", source, {"env": {"PLAIN": "x${PLAIN}"}}))[0][0]
    assert given.endswith(" xseen")


def test_the_value_of_a_secret_that_was_passed_on_is_stored_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("THEIR_VALUE", "canary-4711-y")
    source = """
key = os.environ["AGENT_API_KEY"]
tell("tool_result", output={"env": key})
tell("state", data={"key": key})
print(key, file=sys.stderr, flush=True)
tell("step", model=key)
say("key is " + key)
sys.exit("failed with " + key)
"""
    only_trial(tmp_path, source, {"env": {"AGENT_API_KEY": "${THEIR_VALUE}"}})
    stored = [path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert stored
    assert [one for one in stored if b"canary-4711-y" in one] == []


def test_every_trial_has_a_copy_of_its_folder_which_goes(tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "notes.txt").write_text("a", encoding="utf-8")
    source = """
notes = open("notes.txt").read()
open("notes.txt", "a").write("b")
say(os.getcwd() + " " + notes)
"""
    command = ["{python}", "-S", "{suite}/agent.py"]
    target = {"command": command, "cwd": "repo", "copy": True}
    trials = run_command_suite(tmp_path, source, target, ["one", "two"])
    said = [events(trial)[0][0].split() for trial in trials]
    assert [notes for _, notes in said] == ["a", "a"]
    folders = {folder for folder, _ in said}
    assert len(folders) == 2
    assert [folder for folder in folders if Path(folder).exists()] == []
    assert (tmp_path / "repo" / "notes.txt").read_text(encoding="utf-8") == "a"


def test_a_model_is_an_argument(tmp_path):
    command = ["{python}", "-S", "agent.py", "--model={model}"]
    source = "say(sys.argv[1])"
    trials = run_command_suite(tmp_path, source, {"command": command, "models": ["a/b", "{suite}"]})
    assert sorted(events(trial)[0][0] for trial in trials) == ["--model=a/b", "--model={suite}"]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_program_that_the_page_shows_is_an_agent(tmp_path, monkeypatch):
    monkeypatch.setenv("SEARCH_URL", "http://127.0.0.1")
    text = PAGE.read_text(encoding="utf-8")
    [program] = [
        block for block in blocks(text, "python") if block.startswith("# agent_program.py")
    ]
    (tmp_path / "agent_program.py").write_text(program, encoding="utf-8")
    [document] = [
        yaml.safe_load(block) for block in blocks(text, "yaml") if "kind: command" in block
    ]
    suite = {
        "name": "page",
        "samples": [{"id": "s", "input": ["one", "two"]}],
        "graders": {"spoke": {"kind": "tool", "function": "ascii_printable_only"}},
        **document,
    }
    run = harness.run(harness.Suite.from_mapping(suite, tmp_path), out=tmp_path / "runs")
    assert run.passed, run.summary
    for trial in run.trials():
        assert events(trial) == [
            ["call search {'query': '" + said + "'}", 'ok search {"hits":2}', "There are 2 hits."]
            for said in ("one", "two")
        ]


def test_what_a_killed_run_has_left_is_found_by_its_id(tmp_path):
    source = "start(SLEEP, start_new_session=True); say('x'); tell('turn_end')"
    path = command_suite(tmp_path, source)
    suite = harness.Suite.from_yaml(path)
    run_id = "20260101T000000000Z-left-abcdef"
    sleeper = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(600)"],
        env={"REGRADE_RUN": run_id},
        start_new_session=True,
    )
    scratch = make_scratch("regrade-command", run_id)
    gone = asyncio.run(suite.target.target.clean(run_id))
    assert gone == [*(["a process of the agent"] if linux else []), f"folder {scratch}"]
    assert not scratch.exists()
    sleeper.kill()
    sleeper.wait()
    assert asyncio.run(suite.target.target.clean(run_id)) == []
