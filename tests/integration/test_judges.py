"""Judges over real HTTP: a server of its own answers, well or badly, and grades come of it."""

import asyncio
import json
import re
import socket
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from fakes.factories import make_trajectory
from integration.other_server import Answer, OtherServer, in_order, refusal

import harness
from harness.commands.suite_faults import collect_faults
from harness.system.clock import now
from harness.types.events import UserMessage
from harness.types.suites import SCRIPTED
from harness.types.trajectories import Usage

RUBRIC = "Is it right? {input} | {ground_truth} | {submission}"
VERDICT = '{"score": 0.75, "rationale": "mostly"}'
ERROR = {"error": {"message": "No.", "type": "invalid_request_error", "code": None}}
ONE_REPLY = Usage(input_tokens=7, output_tokens=5)


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    monkeypatch.setenv("REGRADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-secret-value")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return monkeypatch


class Judged:
    """Grades one conversation with one judge, as `regrade grade` does."""

    def __init__(self, folder):
        self.folder = folder

    async def run(self, server, *, sample=None, says="It is 42.", suite=None, **config):
        config = {"base_url": server.url, "api_key_env": "JUDGE_KEY", "max_retries": 1, **config}
        if "prompt" not in config and "prompt_path" not in config:
            config["prompt"] = RUBRIC
        sample = {"id": "s", "input": "What is it?", "ground_truth": "42", **(sample or {})}
        grader = {"type": "model_judge", "threshold": 0.5, "config": config}
        whole = {"name": "j", "samples": [sample], "graders": {"j": grader}, **(suite or {})}
        suite = harness.Suite.from_mapping(whole, self.folder)
        said = [UserMessage(text="What is it?"), says]
        turns = [said] if isinstance(sample["input"], str) else [said] * len(sample["input"])
        return await harness.grade_async(
            {"s": make_trajectory(*turns)}, suite, out=self.folder / "runs"
        )

    async def grade(self, server, **options):
        (trial,) = (await self.run(server, **options)).trials()
        return trial.grades["j"]


@pytest.fixture
def judged(tmp_path):
    return Judged(tmp_path)


def serve(*answers):
    return OtherServer(in_order(*answers))


def says(text, **more):
    return Answer(content=text, **more)


async def test_a_verdict_is_graded_with_its_prompt_reply_and_tokens(judged):
    with serve(says(VERDICT)) as server:
        run = await judged.run(server)
    (trial,) = run.trials()
    grade = trial.grades["j"]
    assert (grade.status, grade.score, grade.passed, grade.evidence) == (
        "graded", 0.75, True, "mostly"
    )  # fmt: skip
    prompt = "Is it right? What is it? | 42 | It is 42."
    assert grade.details["prompt"] == [{"role": "user", "content": prompt}]
    assert grade.details["reply"] == VERDICT
    assert grade.usage == ONE_REPLY
    (body,) = server.bodies
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["score", "rationale"]
    assert (body["model"], body["temperature"]) == ("gpt-4o-mini", 0.0)
    assert server.headers[0]["authorization"] == "Bearer sk-judge-secret-value"


async def test_what_judging_used_is_counted_apart_from_the_agent(judged):
    with serve(says("no verdict"), says(VERDICT)) as server:
        run = await judged.run(server)
    model = run.summary.models["default"]
    assert model.judge_usage == Usage(input_tokens=14, output_tokens=10)
    assert model.usage == Usage()
    (trial,) = run.trials()
    assert trial.usage == Usage()


async def test_structured_values_are_shown_as_json_and_the_stored_prompt_proves_it(judged):
    sample = {"rubric_vars": {"answer": {"total": 3, "items": ["a", "ü"]}, "none": None}}
    with serve(says(VERDICT)) as server:
        grade = await judged.grade(server, sample=sample, prompt="{answer}|{none}|{submission}")
    shown = '{"total":3,"items":["a","ü"]}||It is 42.'
    assert server.bodies[0]["messages"] == [{"role": "user", "content": shown}]
    assert grade.details["prompt"] == [{"role": "user", "content": shown}]


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{VERDICT}\n```",
        f'Sure. E.g. {{"score": 0}} would be unfair.\n```json\n{VERDICT}\n```\nHope this helps!',
        f'It could be {{"score": 0}}, but: {VERDICT}',
        [{"type": "text", "text": VERDICT[:9]}, {"type": "text", "text": VERDICT[9:]}],
    ],
)
async def test_a_verdict_among_other_text_counts(judged, reply):
    with serve(says(reply)) as server:
        grade = await judged.grade(server)
    assert (grade.score, grade.evidence) == (0.75, "mostly")


async def test_a_fenced_verdict_counts_with_its_reason_and_not_the_example_before_it(judged):
    verdict = '{"reason": "Says \\"so\\" {twice}", "score": 0.75}'
    reply = f'Fine. By the rubric {{"score": 0}} is too low.\n```json\n{verdict}\n```\nBye {{}}!'
    with serve(says(reply)) as server:
        grade = await judged.grade(server)
    assert (grade.score, grade.evidence) == (0.75, 'Says "so" {twice}')
    assert grade.details["reply"] == reply


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (says("It is good, 8 of 10."), "no JSON object"),
        (says(""), "empty"),
        (says(None), "empty"),
        (says(None, extra={"refusal": "I cannot."}), "declined: I cannot."),
        (says(VERDICT[:20]), "ends inside"),
        (says(VERDICT, finish="length"), "cut at its token limit"),
        (says(VERDICT, finish="content_filter"), "filter"),
        (says('{"rationale": "fine"}'), "no JSON object with a score"),
        (says('{"score": 9}'), "9 is not in 0..1"),
        (says('{"score": 85}'), "85 is not in 0..1"),
        (says('{"score": 3.85}'), "3.85 is not in 0..1"),
        (says('{"score": 2.5}'), "2.5 is not in 0..1"),
        (says('{"score": -0.4}'), "-0.4 is not in 0..1"),
        (says('{"score": NaN}'), "no finite number"),
        (says('{"score": "0,8"}'), "no number"),
        (says('{"score": true}'), "no number"),
    ],
)
async def test_a_reply_without_a_score_is_asked_for_again_and_is_an_error(judged, answer, problem):
    with serve(answer) as server:
        run = await judged.run(server)
    (trial,) = run.trials()
    grade = trial.grades["j"]
    assert (grade.status, grade.score, grade.passed) == ("error", None, None)
    assert grade.evidence.startswith("judge_reply: ")
    assert problem in grade.evidence
    assert grade.details["code"] == "judge_reply"
    content = answer.content if isinstance(answer.content, str) else ""
    assert grade.details["reply"] == content
    assert len(server.bodies) == 2
    assert "Answer with one JSON object" in server.bodies[1]["messages"][0]["content"]
    assert (trial.status, trial.score, trial.error.code) == ("grading_error", None, "judge_reply")
    assert run.summary.models["default"].graders["j"].errors == 1
    assert not run.passed


async def test_a_second_reply_with_a_score_counts(judged):
    with serve(says('{"score": 9}'), says(VERDICT)) as server:
        assert (await judged.grade(server)).score == 0.75


@pytest.mark.parametrize(
    ("answer", "code", "cause", "requests"),
    [
        (refusal(400, {"error": {"code": "context_length_exceeded"}}),
         "judge_refused", "context_length", 1),
        (refusal(401, ERROR), "judge_refused", "unauthorized", 1),
        (refusal(403, ERROR), "judge_refused", "forbidden", 1),
        (refusal(404, ERROR), "judge_refused", "not_found", 1),
        (refusal(429, {"error": {"type": "insufficient_quota"}}),
         "judge_refused", "quota_exhausted", 1),
        (refusal(429, "{}", retry_after="0"), "judge_unreachable", "rate_limited", 2),
        (refusal(503, "", retry_after="0"), "judge_unreachable", "overloaded", 2),
        (refusal(529, "", retry_after="0"), "judge_unreachable", "overloaded", 2),
        (refusal(500, ERROR, retry_after="0"), "judge_unreachable", "server_error", 2),
    ],
)  # fmt: skip
async def test_an_endpoint_that_refuses_is_an_error_and_never_a_score(
    judged, answer, code, cause, requests
):
    with serve(answer) as server:
        grade = await judged.grade(server)
    assert (grade.status, grade.score) == ("error", None)
    assert (grade.details["code"], grade.details["cause"]) == (code, cause)
    assert grade.evidence.startswith(f"{code}: {cause}: POST {server.url}")
    assert len(server.bodies) == requests


def in_a_moment():
    return format_datetime(now() + timedelta(seconds=1), usegmt=True)


@pytest.mark.parametrize(
    "headers", [{"retry_after": "0.01"}, {"retry_after": in_a_moment}, {"retry_after_ms": "10"}]
)
async def test_what_is_refused_for_now_is_asked_again_when_it_says(judged, headers):
    headers = {name: given() if callable(given) else given for name, given in headers.items()}
    with serve(refusal(429, "{}", **headers), says(VERDICT)) as server:
        grade = await judged.grade(server)
    assert (grade.score, len(server.bodies)) == (0.75, 2)


@pytest.mark.parametrize("asked", ["3600", "Thu, 05 Feb 2037 06:15:00 GMT"])
async def test_a_wait_beyond_the_bound_gives_up_at_once_and_says_so(judged, asked):
    with serve(refusal(429, "{}", retry_after=asked)) as server:
        grade = await judged.grade(server, suite={"retries": {"max_wait_seconds": 5}})
    assert (grade.details["cause"], len(server.bodies)) == ("rate_limited", 1)
    assert "retries.max_wait_seconds is 5" in grade.evidence
    assert re.search(r"until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", grade.evidence)


@pytest.mark.parametrize(
    ("status", "asked"), [(503, "-5"), (529, "abc"), (503, ""), (429, "nan"), (429, "1e999")]
)
async def test_a_bad_retry_after_falls_back_to_growing_waits(judged, status, asked):
    suite = {"retries": {"max_wait_seconds": 0}}
    with serve(refusal(status, "", retry_after=asked)) as server:
        grade = await judged.grade(server, suite=suite)
    (seconds,) = re.findall(r"would take ([\d.]+) s more", grade.evidence)
    assert 0 < float(seconds) < 5
    assert len(server.bodies) == 1


async def test_an_answer_that_does_not_come_is_given_up(judged):
    quiet = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold():
        asyncio.run_coroutine_threadsafe(quiet.wait(), loop).result(20)

    with serve(says(VERDICT, before=hold)) as server:
        grade = await judged.grade(server, timeout=0.2, max_retries=0)
        quiet.set()
    assert grade.evidence == "judge_unreachable: connection_lost: no answer within 0.2 s"


async def test_a_judge_that_nobody_serves_is_an_error(judged):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        nobody = type("Nobody", (), {"url": url})
        grade = await judged.grade(nobody, max_retries=0)
    assert grade.details["cause"] == "connection_refused"


async def test_without_a_key_each_grade_is_an_error_in_one_line(judged, environment):
    environment.delenv("JUDGE_KEY")
    far = type("Far", (), {"url": "https://models.invalid/v1"})
    run = await judged.run(far)
    (trial,) = run.trials()
    evidence = trial.grades["j"].evidence
    assert evidence.startswith("judge_refused: unauthorized: there is no key: ")
    assert "JUDGE_KEY is not set" in evidence
    assert "\n" not in evidence
    assert sum("JUDGE_KEY is not set" in warning for warning in run.summary.warnings) == 1


async def test_keys_are_in_no_file(judged, tmp_path):
    echo = {"error": {"message": "wrong key sk-judge-secret-value", "code": "invalid_api_key"}}
    verdict = '{"score": 1, "rationale": "you sent sk-judge-secret-value"}'
    for answer in (refusal(401, echo), says(verdict)):
        with serve(answer) as server:
            await judged.run(server)
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) > 5
    assert not any(b"sk-judge-secret-value" in text for text in texts)


async def test_an_endpoint_without_schemas_is_asked_in_words(judged):
    def answer(body):
        if "response_format" in body:
            return refusal(400, {"error": {"message": "response_format is not supported"}})
        return says(VERDICT)

    with OtherServer(answer) as server:
        grade = await judged.grade(server)
    assert grade.score == 0.75
    assert "Answer with one JSON object" in grade.details["prompt"][-1]["content"]
    assert len(server.bodies) == 2


async def test_an_endpoint_that_refuses_a_temperature_is_asked_without(judged):
    def answer(body):
        if "temperature" in body:
            return refusal(400, {"error": {"message": "Unsupported value: 'temperature'"}})
        return says(VERDICT)

    with OtherServer(answer) as server:
        assert (await judged.grade(server)).score == 0.75
    assert "response_format" in server.bodies[-1]


async def test_a_refusal_of_anything_else_stays_one(judged):
    with serve(refusal(400, ERROR)) as server:
        grade = await judged.grade(server)
    assert (grade.details["cause"], grade.status) == ("bad_request", "error")


async def test_anthropic_is_asked_for_json_in_words_with_a_bound(judged):
    with serve(says(VERDICT)) as server:
        await judged.run(server, provider="anthropic", model="claude-haiku")
    (body,) = server.bodies
    assert body["max_tokens"] == 4096
    assert "response_format" not in body
    assert "Answer with one JSON object" in body["messages"][0]["content"]


async def test_the_environment_names_another_endpoint(judged, environment):
    with serve(says(VERDICT)) as server:
        environment.setenv("OPENAI_BASE_URL", server.url)
        assert (await judged.grade(server, base_url=None, api_key_env=None)).score == 0.75


async def test_the_same_question_is_paid_for_once(judged):
    with serve(says(VERDICT)) as server:
        first, second = [await judged.grade(server) for _ in range(2)]
        assert len(server.bodies) == 1
        assert (second.score, second.evidence) == (first.score, first.evidence)
        assert second.details["cached"] is True
        assert not second.usage
        other = await judged.grade(server, says="It is 41.")
        anew = await judged.grade(server, cache=False)
    assert len(server.bodies) == 3
    assert "cached" not in {**other.details, **anew.details}


async def test_a_suite_that_redacts_leaves_no_answer_in_the_cache(judged, tmp_path):
    code = "def hide(trial):\n    trial['grades']['j']['details'] = {}\n"
    (tmp_path / "hiding.py").write_text(code, encoding="utf-8")
    with serve(says(VERDICT)) as server:
        for _ in range(2):
            grade = await judged.grade(server, suite={"redact": "hiding.py:hide"})
            assert (grade.score, grade.details) == (0.75, {})
    assert len(server.bodies) == 2
    assert not (tmp_path / "cache").exists()


async def test_errors_are_not_cached(judged):
    with serve(says("prose"), says("prose"), says(VERDICT)) as server:
        assert (await judged.grade(server)).status == "error"
        assert (await judged.grade(server)).score == 0.75


async def test_a_cache_that_cannot_be_written_is_a_warning(judged, environment, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    environment.setenv("REGRADE_CACHE", str(tmp_path / "file"))
    with serve(says(VERDICT)) as server:
        run = await judged.run(server)
    assert any("cannot be kept" in warning for warning in run.summary.warnings)
    assert [trial.score for trial in run.trials()] == [0.75]


async def test_each_turn_is_judged_by_itself_and_the_tokens_add_up(judged):
    sample = {"input": ["one", "two"], "ground_truth": ["1", "2"]}
    with serve(says(VERDICT), says('{"score": 0.25}')) as server:
        grade = await judged.grade(server, sample=sample)
    asked = [body["messages"][0]["content"] for body in server.bodies]
    assert [text.split(" | ")[:2] for text in asked] == [
        ["Is it right? one", "1"], ["Is it right? two", "2"]
    ]  # fmt: skip
    assert grade.score == 0.5
    assert grade.usage == Usage(input_tokens=14, output_tokens=10)


async def test_an_empty_submission_is_not_shown_to_a_judge(judged):
    with serve(says(VERDICT)) as server:
        grade = await judged.grade(server, says="")
    assert (grade.score, server.bodies) == (0.0, [])


async def test_no_more_judges_are_asked_at_once_than_trials_are_graded(judged):
    samples = [{"id": f"s{n}", "input": "q"} for n in range(12)]
    config = {"prompt": RUBRIC, "api_key_env": "JUDGE_KEY", "cache": False}
    with serve(says(VERDICT)) as server:
        graders = {
            name: {"type": "model_judge", "config": {**config, "base_url": server.url}}
            for name in ("a", "b", "c")
        }
        whole = {"name": "j", "samples": samples, "graders": graders}
        suite = harness.Suite.from_mapping({**whole, "limits": {"concurrency": 2}})
        trajectories = {sample["id"]: make_trajectory() for sample in samples}
        run = await harness.grade_async(trajectories, suite, out=judged.folder / "runs")
    assert run.summary.models["default"].completed == 12
    assert len(server.bodies) == 36
    # Each connection carries one request at a time, and is kept for the next.
    assert len(server.connections) <= 2


async def test_a_sample_may_have_a_judge_of_its_own(judged):
    with serve(says(VERDICT)) as server:
        config = {
            "prompt": "Mine: {submission}",
            "base_url": server.url,
            "api_key_env": "JUDGE_KEY",
        }
        own = {"mine": {"type": "model_judge", "threshold": 0.5, "config": config}}
        run = await judged.run(server, sample={"graders": own})
    (trial,) = run.trials()
    assert (trial.grades["mine"].score, trial.passed) == (0.75, True)
    assert len(server.bodies) == 2


AGENT = "def answer(sample):\n    return f'I say {sample.input}'\n"
SCRIPT = """
models:
  kind:
    - {when: {user: rude}, say: '{{"score": 0, "rationale": "rude"}}'}
    - {say: '{{"score": 1, "rationale": "kind"}}'}
"""


def scripted_suite(folder, **config):
    """Write a suite whose agent is Python and whose judge is scripted."""
    config = {"model": f"{SCRIPTED}kind", "script": "models.yaml", "prompt": "Kind?", **config}
    suite = {
        "name": "scripted",
        "samples": [{"id": "a", "input": "hello"}, {"id": "b", "input": "a rude word"}],
        "target": {"kind": "python", "agent": "agent.py:answer"},
        "graders": {"kind": {"type": "model_judge", "config": config}},
    }
    files = {"suite.yaml": json.dumps(suite), "agent.py": AGENT, "models.yaml": SCRIPT}
    for name, text in files.items():
        Path(folder, name).write_text(text, encoding="utf-8")
    return folder / "suite.yaml"


async def test_a_scripted_judge_needs_no_key_and_no_network(tmp_path):
    path = scripted_suite(tmp_path)
    assert collect_faults(path) == ()
    run = await harness.run_async(path, out=tmp_path / "runs")
    assert {trial.sample_id: trial.score for trial in run.trials()} == {"a": 1.0, "b": 0.0}
    again = await harness.grade_async(run, path, out=tmp_path / "runs")
    assert [t.grades for t in again.trials()] == [t.grades for t in run.trials()]
    assert not (tmp_path / "cache").exists()


async def test_a_stored_run_is_judged_again_where_the_judge_has_changed(tmp_path):
    run = await harness.run_async(scripted_suite(tmp_path), out=tmp_path / "runs")
    path = scripted_suite(tmp_path, prompt="Is this kind at all?")
    again = await harness.grade_async(run, path, out=tmp_path / "runs")
    prompts = {t.grades["kind"].details["prompt"][1]["content"] for t in again.trials()}
    assert all("at all" in prompt for prompt in prompts)


@pytest.mark.parametrize(
    ("config", "script", "problem"),
    [
        ({"model": f"{SCRIPTED}kint"}, SCRIPT, 'no model "kint"'),
        ({}, "models: {kind: [{say: '{broken'}]}", "say"),
    ],
)
async def test_a_script_that_cannot_be_used_is_found_before_anything_is_driven(
    tmp_path, config, script, problem
):
    path = scripted_suite(tmp_path, **config)
    (tmp_path / "models.yaml").write_text(script, encoding="utf-8")
    assert [problem in str(fault) for fault in collect_faults(path)] == [True]
    with pytest.raises(harness.InputError, match=problem):
        await harness.run_async(path, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


async def test_a_scripted_judge_without_a_script_says_so(tmp_path):
    run = await harness.run_async(scripted_suite(tmp_path, script=None), out=tmp_path / "runs")
    assert {trial.grades["kind"].evidence for trial in run.trials()} == {
        "judge_refused: the scripted model has no script: name it as `script` of the grader"
    }
