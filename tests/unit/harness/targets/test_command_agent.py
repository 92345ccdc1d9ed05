import json

import pytest
from fakes.command_agents import command_suite
from hypothesis import given
from hypothesis import strategies as st

from harness.loading.validation import find_faults
from harness.targets.command_agent import CommandAgent
from harness.targets.command_answers import MOST_EVENTS, MOST_TEXT, CommandAnswers
from harness.targets.command_programs import filled, secrets_of, words_of
from harness.targets.command_session import seed_of
from harness.types.code import SuitePath
from harness.types.errors import SuiteError, TargetError
from harness.types.events import AssistantMessage, ErrorEvent, SystemEvent
from harness.types.suites import Suite


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("agent --fast 'two words'", ["agent", "--fast", "two words"]),
        (("agent", "two words", "$HOME;"), ["agent", "two words", "$HOME;"]),
        ("agent $HOME `x` | y", ["agent", "$HOME", "`x`", "|", "y"]),
    ],
)
def test_a_command_is_split_and_no_shell_reads_it(command, words):
    assert words_of(command) == words


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "names no program"),
        ("  ", "names no program"),
        ((), "names no program"),
        (("", "x"), "names no program"),
        ("agent 'x", "cannot be split"),
        (("agent", "a\0b"), "null character"),
    ],
)
def test_a_command_that_cannot_be_one_is_told(command, problem):
    [(option, found)] = CommandAgent(command=command).lint()
    assert option == "command"
    assert problem in found


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"copy": True}, ("copy", "cwd says which folder is copied")),
        ({"env": ("A-B",)}, ("env", "'A-B' cannot be the name of a variable")),
        (
            {"env": {"REGRADE_RUN": "x"}},
            ("env", "names that begin with REGRADE_ are Regrade's own"),
        ),
        ({"env": {"A": "x\0"}}, ("env", "the value of A holds a null character")),
    ],
)
def test_options_that_cannot_work_are_told(options, problem):
    [(option, found)] = CommandAgent(command="x", **options).lint()
    assert (option, problem[1] in found) == (problem[0], True)


def test_a_folder_to_work_in_is_a_folder(tmp_path):
    (tmp_path / "file").touch()
    cwd = SuitePath(text="file", path=tmp_path / "file")
    assert list(CommandAgent(command="x", cwd=cwd).lint()) == [("cwd", "this is no folder")]


def test_what_is_filled_in_is_not_looked_at_again(tmp_path):
    words = filled(["{model}", "{suite}/x", "{other}", "a{model}b"], tmp_path, "{suite}")
    assert words == ["{suite}", f"{tmp_path}/x", "{other}", "a{suite}b"]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-program-4711 x", 'there is no program "no-such-program-4711" in PATH'),
        ("./agent.sh", 'there is no program "./agent.sh" in the suite\'s folder'),
        ("./agent.py", 'the program "./agent.py" is not executable'),
    ],
)
def test_a_program_that_is_not_there_is_a_fault_with_its_place(tmp_path, command, problem):
    path = command_suite(tmp_path, "", {"command": command})
    [fault] = find_faults(path)
    assert fault.path == "target.command"
    assert problem in fault.problem
    # The suite as such can be used, to grade what is stored.
    assert Suite.from_yaml(path).warnings == ()


def test_a_variable_that_is_not_set_is_a_fault(tmp_path):
    [fault] = find_faults(command_suite(tmp_path, "", {"env": ["NO_SUCH_NAME_4711"]}))
    assert fault.path == "target.env"
    assert "NO_SUCH_NAME_4711 is not set" in fault.problem


def test_a_sample_of_several_turns_is_a_fault_for_plain_text(tmp_path):
    samples = ["one", ["one", "two"]]
    [fault] = find_faults(command_suite(tmp_path, "", {"protocol": "text"}, samples))
    assert "answer one turn" in fault.problem
    assert find_faults(command_suite(tmp_path, "", {}, samples)) == ()


@pytest.mark.parametrize("target", [{"command": {"a": "b"}}, {"env": 3}, {"env": {"A": ["b"]}}])
def test_options_of_another_type_are_refused(tmp_path, target):
    with pytest.raises(SuiteError):
        Suite.from_yaml(command_suite(tmp_path, "", target))


def fingerprint(folder, source="x = 1", target=None):
    return Suite.from_yaml(command_suite(folder, source, target)).target.fingerprint


CHANGES = {
    "another program": {"source": "x = 2"},
    "another argument": {"target": {"command": ["{python}", "-S", "agent.py", "-v"]}},
    "another protocol": {"target": {"protocol": "text"}},
    "a variable": {"target": {"env": {"MODE": "a"}}},
    "another value": {"target": {"env": {"MODE": "b"}}},
    "a variable that is passed on": {"target": {"env": ["MODE"]}},
}
SAME = {
    "more output": {"target": {"max_output_mb": 99}},
    "nothing": {},
}


@pytest.mark.parametrize("what", [*CHANGES, *SAME])
def test_what_drives_the_agent_otherwise_changes_the_fingerprint(tmp_path, what):
    before = fingerprint(tmp_path)
    assert (fingerprint(tmp_path, **{**CHANGES, **SAME}[what]) != before) == (what in CHANGES)


def test_another_key_is_no_other_agent(tmp_path):
    one, two = (fingerprint(tmp_path, target={"env": {"API_KEY": key}}) for key in "ab")
    assert one == two


def test_values_called_like_secrets_are_secrets_wherever_they_come_from(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "from-outside")
    passed = CommandAgent(command="x", env=("MY_TOKEN",))
    given_ = CommandAgent(command="x", env={"API_KEY": "from-suite", "MODE": "fast"})
    assert (secrets_of(passed), passed.secrets) == (("from-outside",), ())
    assert (secrets_of(given_), given_.secrets) == (("from-suite",), ("from-suite",))


def test_a_seed_is_that_of_the_trial():
    seeds = {seed_of(s, m, e) for s in ("a", "b") for m in ("a", "b") for e in (0, 1)}
    assert len(seeds) == 8
    assert seed_of("a", "m", 0) == seed_of("a", "m", 0)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seed_of("\ud800", "m", 0) >= 0


def read(lines, protocol="auto", rest=b""):
    recorded = []
    answers = CommandAnswers(protocol)
    answers.begin(recorded.append)
    for line in lines:
        answers.take(line)
    answers.finish(rest)
    return answers, recorded


def line(kind, **fields):
    return json.dumps({"type": kind, **fields}).encode()


def test_of_a_long_plain_text_the_beginning_is_kept_and_the_rest_counted():
    _, events = read([b"x" * 1000] * 2000)
    assert [type(event) for event in events] == [AssistantMessage, SystemEvent]
    assert len(events[0].text) == MOST_TEXT
    assert events[1].text == f"{2000 * 1001 - MOST_TEXT:,} more bytes of the answer"


def test_notices_beyond_a_hundred_are_counted():
    _, events = read([b"note"] * 150 + [line("assistant_message", text="x")])
    notices = [event for event in events if isinstance(event, SystemEvent)]
    assert len(notices) == 101
    assert notices[-1].text == "50 more lines that are no events"


def test_a_half_line_of_a_program_that_was_cut_is_no_event():
    answers, events = read([line("reasoning", text="x")], rest=line("assistant_message", text="y"))
    assert not answers.has_spoken
    assert isinstance(events[-1], SystemEvent)
    assert read([], rest=b"half")[1][0].text == "half"


def test_events_without_end_are_the_failure_of_the_agent():
    with pytest.raises(TargetError, match="more than 100,000 events"):
        read([line("reasoning", text="x")] * (MOST_EVENTS + 1))


@given(st.lists(st.binary(max_size=60).filter(lambda b: b"\n" not in b), max_size=20), st.binary())
def test_no_output_breaks_the_reader(lines, rest):
    answers, events = read(lines, rest=rest)
    assert answers.failure is None
    assert not any(isinstance(event, ErrorEvent) for event in events) or answers.problem


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_no_field_breaks_the_reader(value):
    for kind in ("assistant_message", "tool_call", "tool_result", "error", "step", "state"):
        for field in ("text", "name", "output", "arguments", "message", "usage", "data", "at"):
            found = json.dumps({"type": kind, field: value}).encode()
            answers, _ = read([found], protocol="jsonl")
            assert answers.failure is None
