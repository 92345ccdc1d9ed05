"""Every row of the case files gives what it says, through the same door as in a run."""

import msgspec
import pytest
from fakes.factories import make_grader, make_sample, make_trajectory, read_rows

from graders.catalogue import EXTRACTORS
from harness.grading.judging import grade_trajectory
from harness.messages.chat import read_turns
from harness.types.errors import GraderError
from harness.types.events import UserMessage
from harness.types.protocols import Subject
from harness.types.suites import Limits
from harness.types.trajectories import Trajectory

ECHO = "assistant-contains-tool-output"
ECHOES = [*read_rows("graders/echo_cases.jsonl"), *read_rows("graders/own_echo_cases.jsonl")]
TEXTS = [
    *read_rows("graders/text_grader_cases.jsonl"),
    *read_rows("graders/own_text_grader_cases.jsonl"),
]
EXTRACTS = [
    *read_rows("graders/extractor_cases.jsonl"),
    *read_rows("graders/own_extractor_cases.jsonl"),
]
PAIRS = {row["name"]: row for row in read_rows("graders/pairing_cases.jsonl")}


def named(rows):
    return pytest.mark.parametrize("row", rows, ids=[row["name"] for row in rows])


def conversation(row):
    messages = [dict(message) for message in row["messages"]]
    if "expand" in row:
        message = messages[row["expand"]["message"]]
        message["content"] *= row["expand"]["times"]
    return Trajectory(turns=read_turns(messages))


async def grade(spec, sample, trajectory):
    grades = await grade_trajectory([spec], sample, trajectory, snapshots={}, limits=Limits())
    # What is graded can be stored, whatever it holds.
    assert msgspec.json.decode(msgspec.json.encode(grades), type=dict[str, type(grades[spec.name])])
    return grades[spec.name]


@named(ECHOES)
async def test_an_echo_of_a_tool_output_is_judged_as_the_row_says(row):
    options = {"tools": tuple(row["config"]["tools"]), "pattern": row["config"]["pattern"]}
    spec = make_grader(ECHO, options=options, extractor="last_assistant", turn=row["turn"])
    made = await grade(spec, make_sample(), conversation(row))
    expect = row["expect"]
    assert made.status == expect["status"]
    if made.status == "graded":
        assert made.passed is expect["passed"]
        assert made.score == float(expect["passed"])
    if expect["evidence"] is not None:
        assert made.evidence == expect["evidence"]
    assert made.evidence.startswith(expect.get("evidence_prefix", ""))


@named(TEXTS)
async def test_a_text_is_judged_as_the_row_says(row):
    if "messages" in row:
        trajectory = conversation(row)
    else:
        text = row["submission"] * row.get("expand", 1)
        trajectory = make_trajectory([UserMessage(text="q"), text])
    sample = make_sample(ground_truth=row["ground_truth"])
    made = await grade(make_grader(row["grader"]), sample, trajectory)
    expect = row["expect"]
    assert made.status == expect.get("status", "graded")
    assert made.score == expect["score"]
    if expect.get("rationale") is not None:
        assert made.evidence == expect["rationale"]
    assert made.evidence.startswith(expect.get("rationale_prefix", ""))


@named(EXTRACTS)
def test_a_text_is_extracted_as_the_row_says(row):
    if "error" in row["expect"]:
        with pytest.raises(TypeError, match="pattern"):
            EXTRACTORS[row["extractor"]](**row["config"])
        return
    config = {k: tuple(v) if isinstance(v, list) else v for k, v in row["config"].items()}
    submission = EXTRACTORS[row["extractor"]](**config).extract(conversation(row))
    assert submission.text == row["expect"]["text"]


async def echo_of(name, *, tools, pattern=r"\S.*"):
    spec = make_grader(ECHO, options={"tools": tools, "pattern": pattern})
    return await grade(spec, make_sample(), conversation(PAIRS[name]))


async def test_what_was_said_before_the_tool_ran_is_no_echo():
    made = await echo_of("assistant-said-it-before-the-tool-ran", tools=("balance",))
    assert made.passed is False
    assert made.evidence == "assistant did not echo 1 captured value(s)"


async def test_a_value_spread_over_two_messages_is_no_echo():
    made = await echo_of("output-spread-over-two-assistant-messages", tools=("two",))
    assert made.passed is False


async def test_of_a_failed_and_a_good_call_the_echoed_one_counts():
    made = await echo_of("tool-called-twice-first-failed-second-good", tools=("a",))
    assert made.evidence == 'assistant echoed captured value "A-9"'


async def test_a_result_without_a_call_is_no_tools_output():
    name = "result-without-a-call-orphan-and-call-without-a-result"
    made = await echo_of(name, tools=("a",))
    assert made.evidence == 'no "a" output matched "\\\\S.*"'


@pytest.mark.parametrize(
    ("only", "text"),
    [
        (0, '{"q": "x"'),
        (1, '"{\\"q\\": \\"x\\"}"'),
        (2, '{"q":"x"}'),
        (3, "{}"),
        (4, '{"q": "x", "q": "y"}'),
    ],
)
def test_arguments_are_given_as_they_were_sent(only, text):
    row = next(row for name, row in PAIRS.items() if name.startswith("arguments-are-not-json"))
    call = row["messages"][0]["tool_calls"][only]
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    trajectory = Trajectory(turns=read_turns(messages))
    assert EXTRACTORS["tool_arguments"](tool_name="a").extract(trajectory).text == text


def test_parallel_results_are_paired_by_id_whatever_their_order():
    calls = [
        {"id": "w1", "type": "function", "function": {"name": "weather", "arguments": "Oslo"}},
        {"id": "w2", "type": "function", "function": {"name": "weather", "arguments": "Rome"}},
    ]
    messages = [
        {"role": "user", "content": "Weather in Oslo and Rome?"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "w2", "content": "Rome 27C"},
        {"role": "tool", "tool_call_id": "w1", "content": "Oslo 9C"},
        {"role": "assistant", "content": "Oslo 9C, Rome 27C"},
    ]
    trajectory = Trajectory(turns=read_turns(messages))
    assert EXTRACTORS["tool_output"](tool_name="weather").extract(trajectory).text == "Oslo 9C"


def test_a_ground_truth_of_several_texts_is_refused_for_one_submission():
    spec = make_grader("contains")
    sample = make_sample(ground_truth=("a", "b"))
    submission = spec.extractor.extract(make_trajectory())
    with pytest.raises(GraderError, match="list of 2 texts"):
        spec.grader.grade(Subject(sample, make_trajectory(), submission))
