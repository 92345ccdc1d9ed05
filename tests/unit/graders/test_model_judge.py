import json

import pytest
from fakes.factories import make_sample, make_trajectory

from graders.judge_questions import Answer
from graders.judge_replies import Verdict
from graders.model_judge import ModelJudge
from harness.grading.grade_keys import grade_key
from harness.loading.suite_files import build_suite
from harness.loading.validation import find_faults
from harness.types.errors import GraderError, SuiteError
from harness.types.protocols import Subject, Submission
from harness.types.suites import SCRIPTED
from harness.types.trajectories import Usage

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
RUBRIC = "Rate {submission}."
NEAR = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in (*KEYS, "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


class Listener:
    """A connection that keeps the question and gives the answer."""

    def __init__(self, answer=None):
        self.answer = answer or Answer(verdict=Verdict(0.5, "so so"))

    async def ask(self, question):
        self.question = question
        return self.answer


async def question_of(judge, sample=None, submission="S"):
    listener = Listener()
    subject = Subject(sample or make_sample(), make_trajectory(), Submission(submission))
    await judge.grade_with(listener, subject)
    return listener.question


async def grade_of(answer):
    judge = ModelJudge(prompt=RUBRIC)
    subject = Subject(make_sample(), make_trajectory(), Submission("S"))
    return await judge.grade_with(Listener(answer), subject)


def suite_of(tmp_path, config, *, rows=None, **entry):
    """Build a suite with one judge; `rows` are a dataset in place of one good sample."""
    given = {"graders": {"j": {"type": "model_judge", "config": config, **entry}}}
    if rows is None:
        given["samples"] = [{"id": "s", "input": "Q"}]
    else:
        (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        given["dataset"] = "d.jsonl"
    return {"name": "judged", **given}


def faults_of(tmp_path, config, **more):
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps(suite_of(tmp_path, config, **more)), encoding="utf-8")
    return [str(fault).removeprefix(f"{tmp_path.as_posix()}/") for fault in find_faults(path)]


def key_of(tmp_path, config, sample=None):
    suite = build_suite(suite_of(tmp_path, config), tmp_path)
    return grade_key(suite.graders[0], sample or make_sample())


async def test_a_question_carries_what_the_options_say():
    judge = ModelJudge(prompt=RUBRIC, base_url=NEAR, max_retries=2, timeout=3.0, cache=False)
    asked = await question_of(judge)
    assert asked.place.url == NEAR
    assert asked.messages == ({"role": "user", "content": "Rate S."},)
    assert (asked.model, asked.max_retries, asked.timeout) == ("gpt-4o-mini", 2, 3.0)
    assert (asked.cache, asked.max_tokens, asked.has_schema) == (False, None, True)


@pytest.mark.parametrize(
    ("model", "temperature", "sent"),
    [
        ("gpt-4o-mini", 0.0, 0.0),
        ("o1", 0.0, 1.0),
        ("o3-mini", 0.0, 1.0),
        ("gpt-5-mini", 0.0, 1.0),
        ("openai/gpt-5.1", 0.0, 1.0),
        ("gpt-5", 0.7, 0.7),
        ("olmo1", 0.0, 0.0),
    ],
)
async def test_models_that_take_no_temperature_of_zero_get_one(model, temperature, sent):
    judge = ModelJudge(prompt=RUBRIC, model=model, temperature=temperature)
    assert (await question_of(judge)).temperature == sent


@pytest.mark.parametrize(
    ("options", "url", "keys"),
    [
        ({}, None, ("OPENAI_API_KEY",)),
        ({"provider": "anthropic"}, "https://api.anthropic.com/v1/", ("ANTHROPIC_API_KEY",)),
        ({"provider": "google", "base_url": NEAR}, NEAR, ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        ({"api_key_env": "MINE", "base_url": NEAR}, NEAR, ("MINE",)),
    ],
)
async def test_the_place_is_the_providers_unless_the_options_say_otherwise(options, url, keys):
    place = (await question_of(ModelJudge(prompt=RUBRIC, **options))).place
    assert (place.url, place.keys, place.is_scripted) == (url, keys, False)


async def test_anthropic_gets_a_bound_and_no_schema():
    asked = await question_of(ModelJudge(prompt=RUBRIC, provider="anthropic"))
    assert (asked.max_tokens, asked.has_schema) == (4096, False)


async def test_a_sample_brings_its_own_rubric():
    sample = make_sample(rubric="Mine: {submission} {k}", rubric_vars={"k": "v"})
    for judge in (ModelJudge(prompt=RUBRIC), ModelJudge()):
        assert (await question_of(judge, sample)).messages[0]["content"] == "Mine: S v"


@pytest.mark.parametrize(
    ("options", "sample", "problem"),
    [
        ({}, {}, "there is no rubric"),
        ({"prompt": "{nope} {submission}"}, {}, "unknown placeholder {nope}"),
        ({"prompt": RUBRIC}, {"rubric": ""}, "the rubric is empty"),
        ({"prompt": RUBRIC}, {"rubric_vars": {"input": "x"}}, "reserved"),
    ],
)
async def test_a_prompt_that_cannot_be_made_is_an_error_and_no_score(options, sample, problem):
    judge = ModelJudge(**options)
    with pytest.raises(GraderError, match=problem.replace("{", r"\{")) as caught:
        await question_of(judge, make_sample(**sample))
    assert caught.value.code == "judge_prompt"
    assert any(problem in found for _, found in judge.lint_sample(make_sample(**sample)))


async def test_a_verdict_is_the_grade_with_what_was_asked_and_said():
    usage = Usage(input_tokens=3)
    asked = ({"role": "user", "content": "x" * 30_000},)
    verdict = Verdict(0.25, "partly")
    grade = await grade_of(
        Answer(verdict=verdict, messages=asked, reply="raw", served="m-1", usage=usage)
    )
    assert (grade.score, grade.passed, grade.evidence, grade.usage) == (0.25, None, "partly", usage)
    assert grade.details["reply"] == "raw"
    assert grade.details["served"] == "m-1"
    assert "cached" not in grade.details
    (prompt,) = grade.details["prompt"]
    assert len(prompt["content"]) < 20_100
    assert "30,000 characters in all" in prompt["content"]


async def test_a_verdict_without_a_reason_still_has_evidence():
    grade = await grade_of(Answer(verdict=Verdict(1.0, ""), cached=True))
    assert grade.evidence == "the judge gave 1 and no reason"
    assert grade.details["cached"] is True


async def test_a_failure_is_an_error_that_keeps_the_reply():
    grade = await grade_of(Answer(code="judge_reply", message="the score 9 ...", reply="raw"))
    assert (grade.status, grade.score, grade.passed) == ("error", None, None)
    assert grade.evidence == "judge_reply: the score 9 ..."
    assert grade.details["code"] == "judge_reply"
    assert grade.details["reply"] == "raw"


def test_a_good_judge_has_no_fault(tmp_path):
    assert faults_of(tmp_path, {"prompt": RUBRIC, "base_url": NEAR}) == []


@pytest.mark.parametrize(
    ("config", "path", "problem"),
    [
        ({"prompt": "a {", "base_url": NEAR}, "config.prompt", "write {{"),
        ({"prompt": "{input.x}", "base_url": NEAR}, "config.prompt", "{input.x} is no plain name"),
        ({"prompt": " ", "base_url": NEAR}, "config.prompt", "the rubric is empty"),
        ({"prompt": "{input}", "base_url": NEAR}, "config.prompt", "no {submission}"),
        (
            {"prompt": "{k}", "rubric_vars": ["k", "input"], "base_url": NEAR},
            "config.rubric_vars",
            "'input' is reserved",
        ),
        ({"prompt": RUBRIC}, "config: ", "OPENAI_API_KEY is not set"),
        ({"prompt": RUBRIC, "api_key_env": "MINE"}, "config.api_key_env: ", "MINE is not set"),
        (
            {"prompt": RUBRIC, "provider": "google"},
            "config: ",
            "GEMINI_API_KEY or GOOGLE_API_KEY is not set",
        ),
        ({"prompt": RUBRIC, "prompt_path": "suite.yaml"}, "config", "both given"),
        ({"prompt_path": "gone.txt"}, "config.prompt_path", 'no file "gone.txt"'),
        ({"prompt": RUBRIC, "base_url": "ftp://x"}, "config.base_url", "^https?://"),
        ({"prompt": RUBRIC, "provider": "mistral"}, "config.provider", "mistral"),
        ({"prompt": RUBRIC, "max_retries": -1, "base_url": NEAR}, "config.max_retries", "least 0"),
        ({"prompt": RUBRIC, "timeout": 0, "base_url": NEAR}, "config.timeout", "more than 0"),
        ({"prompt": RUBRIC, "modell": "x"}, "config", 'did you mean "model"'),
    ],
)
def test_each_mistake_in_the_options_is_one_fault_at_its_place(tmp_path, config, path, problem):
    found = [fault for fault in faults_of(tmp_path, config) if problem in fault]
    assert len(found) == 1
    assert f"graders.j.{path}" in found[0]


@pytest.mark.parametrize("content", [b"\xff\xfe{", b"caf\xe9"])
def test_a_prompt_file_that_is_no_text_is_a_fault(tmp_path, content):
    (tmp_path / "p.txt").write_bytes(content)
    (fault,) = faults_of(tmp_path, {"prompt_path": "p.txt", "base_url": NEAR})
    assert "p.txt cannot be read" in fault


async def test_a_prompt_file_loses_its_bom_alone(tmp_path):
    (tmp_path / "p.txt").write_bytes(b"\xef\xbb\xbf\xc3\x9c {submission}\n")
    suite = build_suite(suite_of(tmp_path, {"prompt_path": "p.txt"}), tmp_path)
    asked = await question_of(suite.graders[0].grader)
    assert asked.messages[0]["content"] == "Ü S\n"


def test_placeholders_that_a_row_does_not_fill_are_faults_of_the_row(tmp_path):
    rows = [
        {"input": "q", "rubric_vars": {"k": 1}},
        {"input": "q"},
        {"input": "q", "rubric_vars": {"k": 1, "input": 2}},
    ]
    config = {"prompt": "{k} {submission}", "base_url": NEAR}
    faults = faults_of(tmp_path, config, rows=rows)
    assert [fault.partition(": ")[0] for fault in faults] == ["d.jsonl:2", "d.jsonl:3"]
    assert "unknown placeholder {k}" in faults[0]


def test_a_suite_loads_without_a_key_and_warns_of_it(tmp_path):
    suite = build_suite(suite_of(tmp_path, {"prompt": RUBRIC}), tmp_path)
    (warning,) = suite.warnings
    assert "OPENAI_API_KEY is not set" in str(warning)


def test_a_row_of_a_dataset_cannot_say_where_a_key_is_sent(tmp_path):
    own = {"base_url": "http://evil.example", "api_key_env": "AWS_SECRET", "prompt": RUBRIC}
    row = {"input": "q", "graders": {"mine": {"type": "model_judge", "config": own}}}
    faults = faults_of(tmp_path, {"prompt": RUBRIC, "base_url": NEAR}, rows=[row])
    refused = [fault for fault in faults if "a dataset cannot set this" in fault]
    assert len(refused) == 2


def test_the_environment_fills_an_address(tmp_path, environment):
    environment.setenv("JUDGE_HOST", "127.0.0.1:9")
    config = {"prompt": RUBRIC, "base_url": "http://${JUDGE_HOST}/v1"}
    suite = build_suite(suite_of(tmp_path, config), tmp_path)
    assert suite.graders[0].grader.base_url == "http://127.0.0.1:9/v1"
    with pytest.raises(SuiteError, match="NOBODY is not set"):
        build_suite(suite_of(tmp_path, {**config, "base_url": "http://${NOBODY}"}), tmp_path)


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ({"prompt": "Other {submission}"}, True),
        ({"model": "gpt-4o"}, True),
        ({"temperature": 0.5}, True),
        ({"provider": "google"}, True),
        ({"base_url": "http://127.0.0.1:8/v1"}, True),
        ({"system_prompt": "Be kind."}, True),
        ({"rubric_vars": []}, True),
        ({"max_retries": 1}, False),
        ({"timeout": 1}, False),
        ({"api_key_env": "MINE"}, False),
        ({"cache": False}, False),
    ],
)
def test_a_grade_holds_as_long_as_the_question_is_the_same(tmp_path, changed, counts):
    config = {"prompt": RUBRIC, "base_url": NEAR}
    other = key_of(tmp_path, {**config, **changed})
    assert (key_of(tmp_path, config) != other) is counts


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({"input": "other"}, True),
        ({"ground_truth": "other"}, True),
        ({"rubric_vars": {"k": 1}}, True),
        ({"rubric": "other"}, True),
        ({"tags": ("other",)}, False),
        ({"metadata": {"k": 1}}, False),
    ],
)
def test_a_grade_holds_as_long_as_what_the_judge_sees_of_the_sample(tmp_path, fields, counts):
    config = {"prompt": RUBRIC, "base_url": NEAR}
    other = key_of(tmp_path, config, make_sample(**fields))
    assert (key_of(tmp_path, config) != other) is counts


def test_a_changed_prompt_file_is_another_question(tmp_path):
    keys = set()
    for text in ("one {submission}", "two {submission}"):
        (tmp_path / "p.txt").write_text(text, encoding="utf-8")
        keys.add(key_of(tmp_path, {"prompt_path": "p.txt", "base_url": NEAR}))
    assert len(keys) == 2


def test_a_scripted_model_needs_no_key_and_names_its_script(tmp_path):
    config = {"prompt": RUBRIC, "model": f"{SCRIPTED}kind"}
    assert faults_of(tmp_path, config) == []
    assert ModelJudge(**config).scripted_model == (None, "kind")
    assert ModelJudge(prompt=RUBRIC).scripted_model is None
