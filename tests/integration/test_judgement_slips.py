"""Conversations on which checks of tools have gone wrong elsewhere, graded from end to end."""

import json

import pytest

import harness
from harness.reports.trial_text import trial_text
from harness.types.errors import SuiteError
from harness.types.suites import Suite
from harness.types.trajectories import Trajectory


def _graded(folder, conversation, **graders):
    suite = Suite.from_mapping({"name": "s", "graders": graders}, folder=folder)
    if not isinstance(conversation, Trajectory | list):
        path = folder / "record.json"
        path.write_text(json.dumps(conversation), encoding="utf-8")
        conversation = path
    source = conversation if not isinstance(conversation, list) else {"t": conversation}
    run = harness.grade(source, suite, out=folder / "runs")
    (trial,) = run.trials()
    return trial


def _call(call_id, name, arguments):
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def _result(call_id, text):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


WEATHER = [
    {"role": "user", "content": "Weather in Oslo and Rome?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            _call("w1", "weather", {"city": "Oslo"}),
            _call("w2", "weather", {"city": "Rome"}),
        ],
    },
    _result("w2", "Rome 27C"),
    _result("w1", "Oslo 9C"),
    {"role": "assistant", "content": "Oslo 9C, Rome 27C"},
]


def _expected(*cities, mode):
    calls = [{"name": "weather", "arguments": {"city": city}} for city in cities]
    return {"type": "trajectory-match", "config": {"calls": calls, "mode": mode}}


def _output_of(name, *aliases):
    return {
        "kind": "tool",
        "function": "regex_match",
        "extractor": "tool_output",
        "extractor_config": {"tool_name": name, "aliases": list(aliases)},
        "role": "observed",
    }


def test_results_belong_to_calls_by_their_ids(tmp_path):
    trial = _graded(tmp_path, WEATHER, first=_output_of("weather"))
    assert trial.grades["first"].submission == "Oslo 9C"


@pytest.mark.parametrize(
    ("cities", "mode", "passed"),
    [
        (("Oslo", "Rome"), "strict", True),
        (("Rome", "Oslo"), "strict", False),
        (("Rome", "Oslo"), "unordered", True),
        (("Oslo", "Oslo"), "unordered", False),
        (("Oslo", "Oslo"), "superset", False),
    ],
)
def test_calls_are_matched_one_to_one(tmp_path, cities, mode, passed):
    trial = _graded(tmp_path, WEATHER, g=_expected(*cities, mode=mode))
    assert trial.grades["g"].passed is passed
    assert passed or trial.grades["g"].score <= 0.5


def _mcp(result):
    call = {"name": "balance", "arguments": {}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        {"jsonrpc": "2.0", "id": 1, "result": result},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("result", "works", "told", "untold"),
    [
        (
            {
                "content": [{"type": "text", "text": "not reachable"}],
                "structuredContent": {"balance": 318},
                "isError": True,
            },
            False,
            "not reachable",
            "318",
        ),
        (
            {"content": [], "structuredContent": {"code": "BUSY"}, "isError": True},
            False,
            "",
            "nothing",
        ),
        (
            {
                "content": [{"type": "text", "text": "Two depots"}],
                "structuredContent": [{"depot": "D-4"}],
            },
            True,
            'Two depots\n[{"depot":"D-4"}]',
            "nothing",
        ),
    ],
)
def test_a_call_that_failed_stays_one_whatever_is_beside_the_error(
    tmp_path, result, works, told, untold
):
    (tmp_path / "log.jsonl").write_text(_mcp(result), encoding="utf-8")
    suite = Suite.from_mapping(
        {"name": "s", "graders": {"g": {"type": "tool-success-rate", "config": {"min": 1.0}}}},
        folder=tmp_path,
    )
    run = harness.grade(tmp_path / "log.jsonl", suite, out=tmp_path / "runs", format="mcp")
    (trial,) = run.trials()
    assert trial.grades["g"].passed is works
    (output,) = [event for event in trial.trajectory.events() if hasattr(event, "ok")]
    assert output.ok is works
    assert told in output.output
    assert untold not in output.output


SAME = (
    *("search", "mcp__docs__search", "mcp_docs_search", "docs.search", "docs__search"),
    *("docs-search", "functions.search", "docs/search", "search<|channel|>commentary"),
)
OTHERS = ("search_preview", "research", "mcp__search__delete", "search.delete", "Search")


def _search(name):
    return [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "", "tool_calls": [_call("c", name, {})]},
        _result("c", "found it"),
        {"role": "assistant", "content": "found it"},
    ]


@pytest.mark.parametrize("name", SAME)
def test_every_spelling_of_a_tools_name_can_be_named(tmp_path, name):
    trial = _graded(
        tmp_path,
        _search(name),
        told={"type": "tool-output-in-answer", "config": {"tools": list(SAME)}},
        echo={
            "type": "assistant-contains-tool-output",
            "config": {"tools": list(SAME), "pattern": "(found)"},
        },
        output=_output_of("search", *SAME[1:]),
    )
    assert (trial.grades["told"].passed, trial.grades["echo"].passed) == (True, True)
    assert trial.grades["output"].submission == "found it"


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "search.delete"])
def test_a_name_stands_for_no_other_tool(tmp_path, name):
    trial = _graded(
        tmp_path,
        _search(name),
        told={"type": "tool-output-in-answer", "config": {"tools": ["search"]}},
        output=_output_of("search"),
    )
    assert not trial.grades["told"].passed
    assert not trial.grades["output"].submission


@pytest.mark.parametrize(
    ("conversation", "called", "text"),
    [
        ([{"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}], ["a"], []),
        (
            [
                {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"},
                {"type": "function_call", "call_id": "d", "name": "b", "arguments": "{}"},
            ],
            ["a", "b"],
            [],
        ),
        (
            [{"role": "assistant", "content": 'I found [{"name": "a", "city": "Oslo"}] there.'}],
            [],
            ['I found [{"name": "a", "city": "Oslo"}] there.'],
        ),
        (
            [{"role": "assistant", "content": "Let me look.", "tool_calls": [_call("c", "a", {})]}],
            ["a"],
            ["Let me look."],
        ),
        ([{"role": "assistant", "content": "", "tool_calls": [_call("c", "a", {})]}], ["a"], []),
    ],
)
def test_a_call_is_what_the_format_says_and_never_prose(tmp_path, conversation, called, text):
    record = [{"role": "user", "content": "Go"}, *conversation]
    trial = _graded(
        tmp_path, record if "role" in record[-1] else {"input": record}, g={"type": "exit-success"}
    )
    events = list(trial.trajectory.events())
    assert [event.name for event in events if type(event).__name__ == "ToolCall"] == called
    said = [e.text for e in events if type(e).__name__ == "AssistantMessage" and e.text]
    assert said == text


@pytest.mark.parametrize(
    ("output", "answer", "told"),
    [
        ("6274", "It is 6,274.", True),
        ("1234", "12,34", False),
        ("12", "It is 4,120", False),
        ("0.1", "10%", False),
        ("317.40000000000000000000", "$317.40", True),
        ("1e3", "1000", True),
        ("-5", "\u22125", True),
        ("25", "2,5", False),
        ("5", "-5", False),
        ("412", "4120", False),
    ],
)
def test_a_number_is_the_same_however_it_is_written(tmp_path, output, answer, told):
    record = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "", "tool_calls": [_call("c", "a", {})]},
        _result("c", output),
        {"role": "assistant", "content": answer},
    ]
    config = {"compare": "values"}
    trial = _graded(tmp_path, record, g={"type": "tool-output-in-answer", "config": config})
    assert trial.grades["g"].passed is told, trial.grades["g"].evidence


def test_what_was_cut_for_the_model_is_not_decided_and_its_marker_is_no_output(tmp_path):
    cut = '{"rows":[1,2,3,\n<START_TOOL_OUTPUT>\n[... 4096 characters truncated ...]\n98,99]}'
    record = [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": "", "tool_calls": [_call("c", "rows", {})]},
        _result("c", cut),
        {"role": "assistant", "content": "There are 4096 characters."},
    ]
    trial = _graded(tmp_path, record, g={"type": "tool-output-in-answer"})
    assert trial.grades["g"].status == "skipped"


def test_control_characters_of_a_tool_are_kept_and_never_shown(tmp_path):
    record = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "", "tool_calls": [_call("c", "a", {})]},
        _result("c", "head\0tail\x1b[31mred\x1b[0m\b"),
        {"role": "assistant", "content": "head"},
    ]
    wanted = {**_output_of("a"), "function": "contains"}
    trial = _graded(tmp_path, record, g=wanted)
    assert trial.grades["g"].submission == "head\0tail\x1b[31mred\x1b[0m\b"
    assert "\x1b" not in trial_text(trial)
    assert "\0" not in trial_text(trial)


VERDICTS = """
import time

def agent(sample):
    if sample.id in {"late", "late_wrong"}:
        time.sleep(20)
    if sample.id == "crash":
        raise ValueError("broke")
    return "right"

def check(sample, trajectory):
    if sample.id == "broken":
        return trajectory["messages"][99]["content"] == sample["expected"]
    if sample.id == "slow":
        time.sleep(20)
    return sample.id != "wrong"
"""


def test_how_an_agent_ended_and_what_a_check_says_stay_apart(tmp_path):
    (tmp_path / "checks.py").write_text(VERDICTS, encoding="utf-8")
    names = ("fine", "wrong", "late", "crash", "broken", "slow")
    document = {
        "name": "s",
        "samples": [{"id": name, "input": "x"} for name in names],
        "target": {"kind": "python", "agent": "checks.py:agent"},
        "graders": {"g": {"type": "checks.py:check"}},
        "limits": {"turn_seconds": 0.5, "grader_seconds": 0.5, "max_error_rate": 1},
    }
    run = harness.run(Suite.from_mapping(document, folder=tmp_path), out=tmp_path / "runs")
    trials = {trial.sample_id: trial for trial in run.trials()}
    assert {name: (trial.status, trial.passed) for name, trial in trials.items()} == {
        "fine": ("completed", True),
        "wrong": ("completed", False),
        "late": ("agent_failure", False),
        "crash": ("agent_failure", False),
        "broken": ("grading_error", None),
        "slow": ("grading_error", None),
    }
    assert trials["late"].error.code == "turn_timeout"
    assert trials["late"].grades["g"].score == 1.0
    assert "checks.py" in trials["broken"].grades["g"].details["traceback"]
    assert trials["slow"].grades["g"].details["code"] == "grader_timeout"
    assert not run.summary.complete


def test_a_grader_that_cannot_be_imported_stops_the_run_before_any_agent(tmp_path):
    (tmp_path / "checks.py").write_text(
        "import not_installed_anywhere\ndef check(sample, trajectory): return 1.0\n",
        encoding="utf-8",
    )
    document = {
        "name": "s",
        "samples": [{"input": "x"}],
        "graders": {"g": {"type": "checks.py:check"}},
    }
    with pytest.raises(SuiteError, match="not_installed_anywhere"):
        Suite.from_mapping(document, folder=tmp_path)
