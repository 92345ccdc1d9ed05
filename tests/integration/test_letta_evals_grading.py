"""What the built-in functions of letta-evals give, through one of its suites.

Where Regrade differs, the row or the test says how.
"""

import json

import pytest
from fakes.eval_suites import LettaEvalsSuite, answer, call, say, talk

from harness.types.events import UserMessage
from harness.types.trajectories import Trajectory, Turn

NOTHING = Trajectory()
EMPTY_TURN = Trajectory(turns=(Turn(),))
UNANSWERED = Trajectory(turns=(Turn(events=(UserMessage(text="Hello?"),)),))


@pytest.fixture
def suite(tmp_path):
    return LettaEvalsSuite(tmp_path)


def judged(suite, entry, trajectory, row=None):
    suite.rows([{"input": "Find it.", **(row or {})}])
    suite.write({"main": entry})
    return suite.trial(trajectory).grades["main"]


@pytest.mark.parametrize(
    ("function", "truth", "submission", "expected"),
    [
        ("exact_match", "hello world", "hello world", (1.0, "Exact match: True")),
        ("exact_match", "hello world", "  hello world  ", (1.0, "Exact match: True")),
        ("exact_match", "Hello World", "hello world", (0.0, "Exact match: False")),
        (
            "contains",
            "paris",
            "The capital of France is Paris.",
            (1.0, "Contains ground_truth: True"),
        ),
        ("contains", "PARIS", "It is paris.", (1.0, "Contains ground_truth: True")),
        ("contains", None, "It is Paris.", (0.0, "No ground_truth answer provided")),
        (
            "regex_match",
            r"\d{4}-\d{2}-\d{2}",
            "The date is 2026-02-27.",
            (1.0, "Regex match: True"),
        ),
        ("regex_match", "[invalid", "text", (0.0, "Invalid regex")),
        ("ascii_printable_only", None, "a\tb", (0.0, "")),
        ("ascii_printable_only", None, "a\nb", (1.0, "")),
    ],
)
def test_a_function_gives_the_score_and_the_reason_of_letta_evals(
    suite, function, truth, submission, expected
):
    entry = f"{{kind: tool, function: {function}}}"
    made = judged(suite, entry, talk([submission]), {"ground_truth": truth})
    assert (made.status, made.score) == ("graded", expected[0])
    assert made.evidence.startswith(expected[1])
    assert made.submission == submission


@pytest.mark.parametrize("trajectory", [NOTHING, EMPTY_TURN])
def test_no_messages_fail(suite, trajectory):
    made = judged(suite, "{kind: tool, function: ascii_printable_only}", trajectory)
    assert (made.score, made.submission) == (0.0, "")
    assert made.evidence == "Empty trajectory - agent produced no messages"


def test_no_answer_fails(suite):
    made = judged(suite, "{kind: tool, function: ascii_printable_only}", UNANSWERED)
    assert (made.score, made.submission) == (0.0, "")
    assert made.evidence == "Empty submission - extractor found no content"


def test_an_empty_answer_counts_as_a_failure_of_the_run(suite):
    """It is no error of the sample that leaves the mean, as it is in letta-evals."""
    suite.rows([{"input": "a", "ground_truth": "x"}, {"input": "b", "ground_truth": "x"}])
    run = suite.grade(talk(["x"]), UNANSWERED)
    model = run.summary.models["default"]
    assert (model.graders["main"].mean, model.passed, model.errors) == (0.5, 1, 0)


def test_the_last_of_two_messages_is_graded(suite):
    """How long extraction took is part of the trial's `grading_seconds`, not of each grade."""
    suite.rows([{"input": "Find it.", "ground_truth": "second"}])
    trial = suite.trial(talk(["first", "second"]))
    assert (trial.grades["main"].submission, trial.grades["main"].score) == ("second", 1.0)
    assert trial.timing.grading_seconds >= 0


def test_an_unknown_function_is_a_fault_of_the_suite(suite):
    """It is found before anything runs, where letta-evals raises when the runner is built."""
    suite.write({"main": "{kind: tool, function: nonexistent_function}"})
    (fault,) = suite.faults()
    assert 'graders.main.function: unknown grader "nonexistent_function"' in fault


FIND = ("c1", "find", '{"query":"hello"}')
OTHER = ("c2", "other", '{"query":"other"}')
EXTRACTIONS = [
    ("last_assistant", {}, talk(["a"], ["b"]), "b"),
    ("last_assistant", {}, NOTHING, ""),
    ("last_assistant", {}, EMPTY_TURN, ""),
    ("first_assistant", {}, talk(["a", "b"]), "a"),
    ("all_assistant", {}, talk(["hello", "world"]), "hello\nworld"),
    ("all_assistant", {"separator": " | "}, talk(["a", "b"]), "a | b"),
    ("last_turn", {}, talk(["t1"], ["t2a", "t2b"]), "t2a\nt2b"),
    (
        "pattern",
        {"pattern": r"name: (\w+)", "group": 1},
        talk(["name: Alice, age: 30"]),
        "Alice",
    ),
    ("pattern", {"pattern": r"\d+", "search_all": True}, talk(["1 2 3"]), "1 2 3"),
    ("pattern", {"pattern": r"\d+"}, talk(["old: 10", "new: 20"]), "20"),
    ("tool_arguments", {"tool_name": "find"}, talk([call(FIND)]), '{"query":"hello"}'),
    ("tool_arguments", {"tool_name": "find"}, talk([call(OTHER, FIND)]), '{"query":"hello"}'),
    ("tool_arguments", {"tool_name": "find"}, talk([call(OTHER)]), "{}"),
    (
        "tool_output",
        {"tool_name": "find"},
        talk([call(FIND), answer("c1", "found it")]),
        "found it",
    ),
    ("tool_output", {"tool_name": "find"}, talk([call(FIND), say("done")]), ""),
    ("after_marker", {"marker": "ANSWER: "}, talk(["ANSWER: Paris"]), "Paris"),
    (
        "after_marker",
        {"marker": "ANSWER: ", "include_marker": True},
        talk(["ANSWER: Paris"]),
        "ANSWER: Paris",
    ),
]


@pytest.mark.parametrize(("extractor", "config", "trajectory", "text"), EXTRACTIONS)
def test_an_extractor_takes_out_what_it_does_in_letta_evals(
    suite, extractor, config, trajectory, text
):
    entry = (
        "{kind: tool, function: ascii_printable_only, "
        f"extractor: {extractor}, extractor_config: {json.dumps(config)}}}"
    )
    assert judged(suite, entry, trajectory).submission == text


def test_no_call_of_a_tool_at_all_is_an_empty_trajectory_before_it_is_no_arguments(suite):
    entry = "{kind: tool, function: contains, extractor: tool_arguments, "
    entry += "extractor_config: {tool_name: find}}"
    assert judged(suite, entry, NOTHING).evidence.startswith("Empty trajectory")
    assert judged(suite, entry, talk(["no call"]), {"ground_truth": "{}"}).score == 1.0


REWARDS = """
from letta_evals import RewardOutput, reward_composer
from letta_evals.models import GradeResult

@reward_composer
def compose(ctx):
    return {value}
"""


@pytest.mark.parametrize(
    ("value", "score", "details"),
    [
        ("RewardOutput(score=0.5, metadata={'a': 1})", 0.5, {"a": 1}),
        ("0.75", 0.75, {}),
        ("{'score': 0, 'metadata': {'why': 'x'}}", 0.0, {"why": "x"}),
        ("True", 1.0, {}),
    ],
)
def test_a_reward_may_be_a_record_a_number_or_a_mapping(suite, value, score, details):
    suite.file("rewards.py", REWARDS.replace("{value}", value))
    suite.write(reward="{kind: custom, function: 'rewards.py:compose'}")
    made = suite.trial(talk(["yes"])).grades["reward"]
    assert (made.score, made.details) == (score, details)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("'bad'", "compose returned 'bad' (str)"),
        ("None", "compose returned None"),
        ("2.0", "compose returned the score 2.0 (float), which is not in 0..1"),
        ("RewardOutput(score=2.0)", "ValidationError"),
        ("float('nan')", "compose returned the score nan (float), which is not in 0..1"),
    ],
)
def test_what_is_no_reward_is_an_error_of_that_grade(suite, value, problem):
    """The grades of the others stay; letta-evals makes the whole sample an error."""
    suite.file("rewards.py", REWARDS.replace("{value}", value))
    suite.write(reward="{kind: custom, function: 'rewards.py:compose'}")
    suite.rows([{"input": "a", "ground_truth": "yes"}])
    trial = suite.trial(talk(["yes"]))
    assert (trial.status, trial.grades["main"].score) == ("grading_error", 1.0)
    assert trial.grades["reward"].status == "error"
    assert problem in trial.grades["reward"].evidence


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (
            "def compose(ctx): ...",
            (
                'rewards.py:1: the grader compose asks for "ctx", which nobody gives; a reward '
                "composer of letta-evals is decorated with @reward_composer"
            ),
        ),
        (
            "from letta_evals import reward_composer\n@reward_composer\ndef compose(context): ...",
            (
                "rewards.py:2: the reward composer compose takes (context); (ctx), returning a "
                "RewardOutput, a float, a bool or a dict"
            ),
        ),
    ],
)
def test_a_function_that_composes_no_reward_is_a_fault_at_its_line(suite, source, fault):
    """Both are found by `validate`, where letta-evals raises an error when it runs."""
    suite.file("rewards.py", source)
    suite.write(reward="{kind: custom, function: 'rewards.py:compose'}")
    assert fault in suite.faults()


def test_a_reward_of_a_grader_that_is_not_there_is_a_fault(suite):
    """letta-evals validates such a suite, and raises KeyError when the runner is built."""
    suite.write(reward="{kind: metric, metric_key: other}")
    (fault,) = suite.faults()
    assert 'reward.metric_key: no grader of the suite is called "other"' in fault


@pytest.mark.parametrize(
    "key", ["sk-\\x6cong-key", "p-\\u006cong-key", "${NOT_SET:-p-\\x6cong-key}"]
)
def test_a_key_in_the_suite_is_in_no_file_of_a_run_however_it_is_written(suite, key):
    """letta-evals writes it into the results."""
    suite.target = f'target: {{kind: letta_code, model_handles: [m], api_key: "{key}"}}\n'
    suite.write()
    run = suite.grade(talk(["yes"]))
    texts = [path.read_text("utf-8") for path in run.folder.rglob("*") if path.is_file()]
    assert "[redacted]" in (run.folder / "manifest.json").read_text("utf-8")
    assert not any("ong-key" in text for text in texts)
