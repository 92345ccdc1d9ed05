"""Whether an answer tells what a tool returned, over outputs and answers of many kinds."""

import pytest
from fakes.factories import make_sample, read_rows

from graders.answer_tells import ToolOutputInAnswer
from graders.cut_notes import CutNotes
from harness.messages.chat import read_turns
from harness.types.protocols import Subject
from harness.types.trajectories import Trajectory

ROWS = read_rows("graders/told_output_cases.jsonl")
PAIRS = {row["name"]: row for row in read_rows("graders/pairing_cases.jsonl")}
COMPARISONS = ("exact", "normalised", "values")


def judged(messages, **options):
    trajectory = Trajectory(turns=read_turns(messages))
    grade = ToolOutputInAnswer(**options).grade(Subject(make_sample(), trajectory))
    assert grade.evidence
    if grade.status != "graded":
        return grade, grade.status
    return grade, "passed" if grade.score else "failed"


def conversation(*outputs, answer="", failed=False):
    calls = [
        {"id": f"c{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for i in range(len(outputs))
    ]
    results = [
        {"role": "tool", "tool_call_id": f"c{i}", "content": output, "error": failed}
        for i, output in enumerate(outputs)
    ]
    asked = {"role": "user", "content": "q"}
    called = {"role": "assistant", "content": None, "tool_calls": calls}
    said = [{"role": "assistant", "content": answer}] if answer else []
    return [asked, called, *results, *said]


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_an_output_is_told_as_the_row_says(row, compare):
    failed = row.get("error", False)
    messages = conversation(row["tool_output"], answer=row["assistant"], failed=failed)
    assert judged(messages, compare=compare)[1] == row["expect"][compare]


@pytest.mark.parametrize(
    "row", [r for r in ROWS if "passes_ignoring" in r], ids=lambda r: r["name"]
)
def test_what_the_suite_asks_to_leave_aside_is_left_aside(row):
    messages = conversation(row["tool_output"], answer=row["assistant"])
    assert judged(messages, ignore=tuple(row["passes_ignoring"]))[1] == "passed"


@pytest.mark.parametrize(
    ("output", "answer", "expect"),
    [
        ("Rising", "It is rising.", "failed"),
        ("71,402", "71402 people", "passed"),
        ("42", "421", "failed"),
        ("42", "4.42", "failed"),
        ("42", "42.5", "failed"),
        ("42", "(42)", "passed"),
        ("42", "42.", "passed"),
        ("200", "100,200,300", "failed"),
        ("e\u0301clair", "\u00e9clair", "passed"),
        ("\u6771\u4eac", "\u6771\u4eac\u3067\u3059", "passed"),
        ('"Quito"', "Quito it is", "passed"),
        ("a \t\n b", "a b", "passed"),
        ("null", "anything", "skipped"),
        ('{"a": null, "b": ""}', "anything", "skipped"),
        ('{"a": [1, 2]}', 'So: {"a":[1,2]} it is.', "passed"),
        ('{"a": [1, 2]}', '```json\n{ "a": [1.0, 2] }\n```', "passed"),
        ('{"a": 1}', '{"a": true}', "failed"),
        ("5", "It is -5.", "failed"),
        ("5", "It is \u22125.", "failed"),
        ("5", "It is -$5.", "failed"),
        ("5", "It is minus 5.", "failed"),
        ("5", "Gate A-5", "failed"),
        ("5", "3-5 days", "failed"),
        ("3", "3-5 days", "failed"),
        ("3", "3\u20135 days", "failed"),
        ("5", "gate 5-A", "failed"),
        ("5", "It is .5", "failed"),
        ("5", "-5 or 5", "passed"),
        ("5", "- 5 apples", "passed"),
        ("5", "a 5-day trip", "passed"),
        ("5", "so...5", "passed"),
        ("5", "text --5", "passed"),
        ("-5", "It is -5.", "passed"),
        ("-5", "It is 5.", "failed"),
        ("-5", "3-5 days", "failed"),
        ("P-7", "P-7-A", "failed"),
        ("1250", "It costs 12,50.", "failed"),
        ("1250", "It costs 1\u202f250 euros.", "passed"),
        ("12,50", "It costs 1250.", "failed"),
    ],
)
def test_what_is_normalised_and_what_is_not(output, answer, expect):
    assert judged(conversation(output, answer=answer))[1] == expect


@pytest.mark.parametrize(
    ("output", "answer", "expect"),
    [
        ('{"status": "ok", "id": "P-77"}', "All ok.", "failed"),
        ('{"status": "ok", "id": "P-77"}', "P-77 is on its way.", "passed"),
        ('{"done": true}', "true", "skipped"),
        ('{"price": 12.50}', "It costs $12.5.", "passed"),
        ('{"price": 1250}', "It costs 1,250.", "passed"),
        ("see /var/log/a.log", "Look into /var/log/a.log please", "passed"),
        ("sunny all day", "sunny", "failed"),
        ("2031-02-03", "in 2031", "failed"),
        ("P-77 [... 90 lines truncated ...]", "P-77", "passed"),
        ("P-77 [... 90 lines truncated ...]", "90 lines", "skipped"),
        ('{"n": -5}', "It is 5.", "failed"),
        ('{"n": -5}', "It is -5.", "passed"),
        ('{"n": -5}', "It is \u22125.0 degrees.", "passed"),
        ('{"n": -5}', "You lost -$5.", "passed"),
        ('{"n": -5}', "It is minus 5.", "passed"),
        ('{"n": -5}', "3-5 days", "failed"),
        ('{"n": 5}', "It is -5.", "failed"),
        ("at -5 degrees", "5 degrees", "failed"),
        ("at -5 degrees", "-5 degrees", "passed"),
        ('{"n": 1250}', "It costs 12,50.", "failed"),
        ('{"n": 1250}', "1,2,5,0", "failed"),
        ('{"n": 1250}', "125,0", "failed"),
        ('{"n": 1250}', "It costs 1\u202f250 euros.", "passed"),
        ("12,50 euros", "1250 euros", "failed"),
        ('{"n": "12,50"}', "1250", "failed"),
        ('{"n": 5}', "version v5", "failed"),
        ('{"n": 5}', "the 5th", "failed"),
        ('{"n": 5}', "gate A-5", "failed"),
        ('{"n": 5}', "5b1e", "failed"),
        ('{"n": 5}', "0.5", "failed"),
        ('{"n": 5}', ".5", "failed"),
        ('{"n": 0.5}', ".5", "passed"),
        ('{"n": 1.2}', "version 1.2.3", "failed"),
        ('{"n": 2.3}', "version 1.2.3", "failed"),
        ('{"n": 3}', "version 1.2.3", "failed"),
        ('{"n": 1.2}', "It is 1.2.", "passed"),
        ('{"n": 5}', "5km away", "passed"),
        ('{"n": 250}', "250MB", "passed"),
        ('{"n": 5}', "\u51715\u4e2a", "passed"),
        ('{"n": 0.00001}', "1e-05", "passed"),
        ('{"n": "12e4"}', "120000", "failed"),
        ('{"n": "12e4"}', "hash 12e4", "passed"),
        ("1,250 people", "1250 people", "passed"),
        ('{"id": "A-5"}', "A-52", "failed"),
        ('{"id": "A-5"}', "A-5-2", "failed"),
    ],
)
def test_one_value_of_the_output_is_enough_by_values(output, answer, expect):
    assert judged(conversation(output, answer=answer), compare="values")[1] == expect


@pytest.mark.parametrize(
    ("require", "answer", "expect"),
    [
        ("last", "second", "passed"),
        ("last", "first", "failed"),
        ("any", "first", "passed"),
        ("any", "third", "failed"),
        ("all", "first and second", "passed"),
        ("all", "second", "failed"),
    ],
)
def test_of_several_results_the_required_ones_are_told(require, answer, expect):
    assert judged(conversation("first", "second", answer=answer), require=require)[1] == expect


def test_the_first_of_a_failed_and_a_good_call_does_not_count():
    messages = PAIRS["tool-called-twice-first-failed-second-good"]["messages"]
    assert judged(messages, tools=("a",))[1] == "passed"
    assert judged(messages, tools=("a",), require="all")[1] == "passed"


@pytest.mark.parametrize(
    ("name", "tool", "evidence"),
    [
        (
            "assistant-said-it-before-the-tool-ran",
            "balance",
            'The agent gave no answer after "balance" returned',
        ),
        (
            "output-spread-over-two-assistant-messages",
            "two",
            'The answer does not tell what "two" returned',
        ),
        (
            "result-without-a-call-orphan-and-call-without-a-result",
            "a",
            'There is no result of "a"',
        ),
    ],
)
def test_a_conversation_is_judged_by_its_last_message_after_the_result(name, tool, evidence):
    grade, outcome = judged(PAIRS[name]["messages"], tools=(tool,))
    assert (outcome, grade.evidence) == ("failed", evidence)


def test_evidence_points_at_output_and_answer():
    messages = conversation("id P-77", answer="It is P-77.")
    grade, _ = judged(messages, compare="values")
    assert grade.evidence == 'The answer tells "P-77", which "look" returned'
    assert [(ref.event, ref.start, ref.end) for ref in grade.refs] == [(2, None, None), (3, 6, 10)]


def test_every_output_that_was_cut_is_known_as_such():
    cut = [row["name"] for row in ROWS if CutNotes(str(row["tool_output"])).found]
    assert cut == ["truncation-marker"]


def test_evidence_points_at_a_number_with_its_sign_however_it_is_spelled():
    grade, _ = judged(conversation('{"n": -1250}', answer="So -$1,250."), compare="values")
    assert grade.evidence == 'The answer tells "-1250", which "look" returned'
    assert (grade.refs[1].start, grade.refs[1].end) == (3, 10)


NUMBERS_WRITTEN_ANOTHER_WAY = [
    ("6274", "It is 6,274.", "passed", "passed"),
    ("1234567.5", "1 234 567,50 \u20ac", "failed", "failed"),
    ("2,5", "(2, 5)", "passed", "passed"),
    ("1234", "12,34", "failed", "failed"),
    ("12", "It is 4,120", "failed", "failed"),
    ("0.1", "10%", "failed", "failed"),
    ("317.40000000000000000000", "$317.40", "passed", "failed"),
    ("1e3", "1000", "passed", "failed"),
    ("-5", "\u22125", "passed", "failed"),
    # lists of numbers, whatever blanks they have
    ("(2,5)", "At (2, 5).", "passed", "passed"),
    ("2,5,7", "2, 5, 7", "passed", "passed"),
    ("-2.5,5", "at (-2.5, 5)", "passed", "passed"),
    ("2,5", "(2, 5, 7)", "failed", "failed"),
    ("2,5", "1, 2, 5", "failed", "failed"),
    ("2,5", "-2, 5", "failed", "failed"),
    ("2,5", "2, 50", "failed", "failed"),
    ("2,5", "12, 5", "failed", "failed"),
    ("2,5", "25", "failed", "failed"),
    ("25", "2, 5", "failed", "failed"),
    ("1,250", "lots 1, 250 boxes", "failed", "failed"),
    ("1250", "lots 1, 250 boxes", "failed", "failed"),
]


@pytest.mark.parametrize(
    ("output", "answer", "by_value", "normalised"), NUMBERS_WRITTEN_ANOTHER_WAY
)
def test_numbers_written_another_way_are_the_same_and_others_are_not(
    output, answer, by_value, normalised
):
    messages = conversation(output, answer=answer)
    assert judged(messages, compare="values")[1] == by_value
    assert judged(messages, compare="normalised")[1] == normalised
