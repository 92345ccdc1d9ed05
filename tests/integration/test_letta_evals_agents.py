"""What judges and agents of letta-evals are asked, and what becomes of their failures.

Where Regrade differs, the row or the test says how.
"""

import json

import pytest
from fakes.eval_suites import LettaEvalsSuite, talk

from graders.judge_prompts import Rubric, messages
from graders.judge_templates import PromptError
from harness.loading.suite_files import load_suite
from harness.messages.letta_code_lines import LettaCodeLines
from harness.targets.letta_addresses import base_url_of
from harness.targets.letta_code_failures import turn_failure
from harness.targets.letta_code_variables import ANY, sample_environment
from harness.types.errors import TargetError
from harness.types.samples import Sample

JUDGE = "{kind: model_judge, model: scripted/judge, script: judge.yaml, max_retries: 0"


@pytest.fixture
def suite(tmp_path, monkeypatch):
    monkeypatch.setenv("REGRADE_CACHE", str(tmp_path / "cache"))
    return LettaEvalsSuite(tmp_path)


def asked(rubric, sample, submission="sub"):
    return messages(Rubric(text=rubric), sample, submission)


def sample(**fields):
    return Sample(**{"id": "0", "input": "in", "ground_truth": "gt", **fields})


@pytest.mark.parametrize(
    ("rubric", "row", "prompt"),
    [
        (
            "in={input} gt={ground_truth} sub={submission} k={k}",
            sample(rubric_vars={"k": "v"}),
            "in=in gt=gt sub=sub k=v",
        ),
        ("gt={ground_truth} {submission}", sample(ground_truth=None), "gt= sub"),
        # letta-evals shows the text of a Python list.
        ("{input} {submission}", sample(input=("a", "b")), '["a","b"] sub'),
        ("{{x}} {submission}", sample(), "{x} sub"),
        ("{submission} {ground_truth}", sample(ground_truth="{input}"), "sub {input}"),
    ],
)
def test_a_rubric_is_filled_as_letta_evals_does(rubric, row, prompt):
    assert [one["content"] for one in asked(rubric, row)] == [prompt]


@pytest.mark.parametrize(
    ("rubric", "row", "problem"),
    [
        (
            "{submission} {other}",
            sample(rubric_vars={"k": "v"}),
            "unknown placeholder {other}; there are {input}, {ground_truth}, {submission}, {k}",
        ),
        ("{submission}", sample(rubric_vars={"input": "x"}), "reserved"),
        ("{submission} {0}", sample(), "no plain name"),
        ("{submission} {", sample(), "write {{ and }}"),
    ],
)
def test_what_cannot_be_filled_says_why(rubric, row, problem):
    with pytest.raises(PromptError) as raised:
        asked(rubric, row)
    assert problem in str(raised.value)


def judge_says(suite, reply, options=', prompt: "{submission}"'):
    escaped = reply.replace("{", "{{").replace("}", "}}")
    suite.file("judge.yaml", f"models: {{judge: [{{say: {json.dumps(escaped)}}}]}}\n")
    suite.write({"main": f"{JUDGE}{options}}}"})


@pytest.mark.parametrize("score", [0.0, 0.25, 1])
def test_a_judges_score_is_the_grades(suite, score):
    judge_says(suite, json.dumps({"score": score, "rationale": "why"}))
    made = suite.trial(talk(["yes"])).grades["main"]
    assert (made.score, made.evidence) == (float(score), "why")


@pytest.mark.parametrize("score", [2.5, -0.4])
def test_a_judges_score_out_of_range_is_an_error_and_is_not_clipped(suite, score):
    """letta-evals makes 1.0 and 0.0 of them."""
    judge_says(suite, json.dumps({"score": score, "rationale": "why"}))
    trial = suite.trial(talk(["yes"]))
    assert (trial.status, trial.grades["main"].score) == ("grading_error", None)


def test_no_rubric_at_all_is_an_error_that_validate_tells_of_first(suite):
    """letta-evals grades 0.0 with `missing_rubric` in the metadata."""
    judge_says(suite, json.dumps({"score": 1}), options="")
    assert any("rubric" in fault for fault in suite.faults())
    trial = suite.trial(talk(["yes"]))
    assert (trial.status, trial.grades["main"].status) == ("grading_error", "error")
    assert "rubric" in trial.grades["main"].evidence


def test_a_samples_own_rubric_replaces_the_prompt(suite):
    suite.rows([{"input": "a", "rubric": "Is {submission} own?"}, {"input": "b"}])
    judge_says(suite, json.dumps({"score": 1}))
    trials = {trial.sample_id: trial for trial in suite.grade(talk(["x"]), talk(["y"])).trials()}
    prompts = {name: one.grades["main"].details["prompt"] for name, one in trials.items()}
    assert prompts["0"][-1]["content"].startswith("Is x own?")
    assert prompts["1"][-1]["content"].startswith("y")


def test_a_rubric_and_its_path_are_not_both_given(suite):
    suite.file("r.txt", "Is it right?")
    suite.rows([{"input": "a", "rubric": "r", "rubric_path": "r.txt"}])
    (fault,) = suite.faults()
    assert fault.startswith("rows.jsonl:1")


INIT = json.dumps({"type": "system", "subtype": "init", "agent_id": "agent-1"})
RESULT = {"type": "result", "subtype": "success", "result": "done"}
USAGE = {"usage": {"prompt_tokens": 10, "completion_tokens": 4}}


def read(*lines):
    reader = LettaCodeLines()
    events = [event for line in lines for event in reader.feed(line)]
    return reader, [*events, *reader.finish()]


def failure(reader, code=0, errors=""):
    found = turn_failure(reader, exit_code=code, errors=errors, asked=0)
    return found and str(found)


def test_the_last_line_tells_of_the_usage():
    reader, _ = read(INIT, json.dumps({**RESULT, **USAGE}))
    assert (reader.result.usage.input_tokens, reader.result.usage.output_tokens) == (10, 4)
    assert failure(reader) is None


def test_lines_that_are_glued_together_are_read_one_by_one():
    """letta-evals loses the usage, with a warning."""
    reader, _ = read(INIT + json.dumps({**RESULT, **USAGE}))
    assert (reader.init.agent_id, reader.result.usage.input_tokens) == ("agent-1", 10)


def test_bytes_that_are_no_text_are_tolerated():
    reader, events = read(INIT, b"\xff\xfe not JSON", json.dumps(RESULT))
    assert failure(reader) is None
    assert ["\ufffd\ufffd not JSON" in event.text for event in events] == [True]


def test_a_command_that_fails_is_told_with_its_code_and_what_it_said():
    """letta-evals shows the last line of the output and of stderr."""
    reader, _ = read(INIT)
    assert failure(reader, code=1, errors="no such model\nusage: ...") == (
        "letta ended with return code 1: no such model"
    )


def test_no_agent_in_the_output_is_an_error():
    reader, _ = read("Starting up")
    assert failure(reader).startswith("No agent_id found")


@pytest.mark.parametrize(
    ("variables", "made"),
    [
        ({"INT": 42, "NULL": None}, {"INT": "42", "NULL": ""}),
        ({"FLAG": True, "LIST": [1, 2]}, {"FLAG": "True", "LIST": "[1,2]"}),
        (None, {}),
    ],
)
def test_the_variables_of_a_sample_are_texts(variables, made):
    assert sample_environment({"env": variables}, {ANY}) == made


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ("FOO=bar", "must be a dict"),
        ({42: "x"}, "keys must be strings"),
        ({"LETTA_BASE_URL": "http://x"}, "not a sample's to set"),
    ],
)
def test_variables_that_are_none_are_an_error(variables, problem):
    with pytest.raises(TargetError, match=problem):
        sample_environment({"env": variables}, {ANY})


def test_prices_in_a_suite_are_read_and_the_suite_says_that_they_have_no_effect(suite):
    """letta-evals prices tokens by a table; here the cost of a trial is what the server says."""
    suite.target = (
        "target: {kind: letta_code, model_handles: [m], "
        "pricing: {m: {input_per_mtok: 3, output_per_mtok: 15}}}\n"
    )
    suite.write()
    assert suite.faults() == []
    trial = suite.trial(talk(["yes"]))
    assert trial.usage.cost_usd is None


def test_the_servers_address_is_the_suites_before_that_of_the_environment(monkeypatch):
    """letta-evals 0.25.1 to 0.26 reads both so; before, its default hid the variable."""
    monkeypatch.delenv("LETTA_BASE_URL", raising=False)
    assert base_url_of(None) == "https://api.letta.com"
    monkeypatch.setenv("LETTA_BASE_URL", "http://localhost:9")
    assert base_url_of(None) == "http://localhost:9"
    assert base_url_of("http://localhost:8") == "http://localhost:8"


@pytest.mark.parametrize(
    ("environment", "url"), [(None, "http://localhost:8283"), ("http://h:9", "http://h:9")]
)
def test_an_old_suite_without_an_address_takes_that_of_the_environment(
    suite, monkeypatch, environment, url
):
    monkeypatch.delenv("LETTA_BASE_URL", raising=False)
    if environment:
        monkeypatch.setenv("LETTA_BASE_URL", environment)
    suite.target = "target: {kind: letta_agent, agent_id: agent-1}\n"
    suite.write()
    assert load_suite(suite.path).target.target.base_url == url
