"""Every row of the case file gives what it says, through the same door as in a run."""

import pydantic
import pytest
from fakes.conversations import read_conversation
from fakes.factories import make_sample, read_rows

from graders.catalogue import GRADERS
from harness.grading.judging import grade_trajectory
from harness.messages.event_texts import event_text
from harness.types.errors import GraderError
from harness.types.protocols import Subject
from harness.types.suites import GraderSpec, Limits

ROWS = read_rows("graders/trajectory_cases.jsonl")


def bound(kind, config):
    return pydantic.TypeAdapter(GRADERS[kind]).validate_python(config)


async def grade(row, trajectory):
    spec = GraderSpec(
        name="it",
        kind=row["grader"],
        grader=bound(row["grader"], row["config"]),
        turn=row.get("turn"),
        fingerprint="sha256:it",
    )
    snapshots = row.get("snapshots", {})
    given = {"snapshots": snapshots, "limits": Limits()}
    return (await grade_trajectory([spec], make_sample(), trajectory, **given))["it"]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
async def test_a_trajectory_is_judged_as_the_row_says(row):
    trajectory, expect = read_conversation(row["events"]), row["expect"]
    made = await grade(row, trajectory)
    assert made.status == expect.get("status", "graded"), made.evidence
    assert made.passed is expect["passed"], made.evidence
    if "evidence" in expect:
        assert made.evidence == expect["evidence"]
    assert made.evidence.startswith(expect.get("evidence_prefix", ""))
    if "score" in expect:
        assert made.score == expect["score"]
    if "details" in expect:
        assert made.details == expect["details"]
    if "points_at" in expect:
        events = [trajectory.turns[ref.turn].events[ref.event] for ref in made.refs]
        texts = [event_text(e)[r.start : r.end] for e, r in zip(events, made.refs, strict=True)]
        assert texts == expect["points_at"]


@pytest.mark.parametrize(
    ("kind", "config", "problem"),
    [
        ("tool-calls", {}, "nothing to check"),
        ("tool-calls", {"required": ["a"], "disallowed": ["a"]}, "`disallowed` refuses it"),
        (
            "tool-calls",
            {"required": [{"name": "a", "command": "x"}], "disallowed": ["a"]},
            "`disallowed` refuses it",
        ),
        ("tool-calls", {"sequence": ["a"], "disallowed": ["a"]}, "`disallowed` refuses it"),
        (
            "tool-calls",
            {"required": [{"name": "a", "min_count": 3, "max_count": 2}]},
            "less than the 3",
        ),
        ("tool-calls", {"required": [{"name": "a", "max_count": 0}]}, "belongs into `disallowed`"),
        ("tool-calls", {"required": [{"name": "a", "min_count": 0}]}, "asks for nothing"),
        ("tool-calls", {"disallowed": [{"name": "a", "max_count": 2}]}, "no meaning in"),
        ("tool-calls", {"sequence": [{"name": "a", "min_count": 2}]}, "in `required` alone"),
        *(
            ("tool-calls", {"required": [{"name": "a", field: value}]}, f"`{field}` is not")
            for field, value in [
                ("write_only", True),
                ("read_only", False),
                ("before_step", 2),
                ("at_step", 1),
                ("final", True),
            ]
        ),
        ("skill-invocation", {}, "nothing to check"),
        ("skill-invocation", {"required": ["a"], "disallowed": ["a"]}, '"a" is in `required` and'),
        ("system-event", {}, "nothing to check"),
        ("system-event", {"required": ["a"], "disallowed": ["a"]}, '"a" is in `required` and'),
        ("output-contains", {}, "is missing"),
        ("output-contains", {"substring": "a", "value": "b"}, "both given"),
        ("output-not-contains", {"substring": "a", "negate": False}, "contradicts"),
        ("transcript-not-matches", {"pattern": "a", "negate": False}, "contradicts"),
        ("token-budget", {}, "max"),
        ("token-budget", {"max": -1}, "greater than or equal to 0"),
        ("wall-time", {"max": "300"}, "a number and a unit"),
        ("max-repeat", {"max": 0}, "greater than or equal to 1"),
        ("loop-outcome", {}, "max_acceptable_retries"),
    ],
)
def test_options_that_contradict_each_other_are_refused(kind, config, problem):
    with pytest.raises(pydantic.ValidationError, match=problem):
        bound(kind, config)


@pytest.mark.parametrize(
    ("kind", "config", "option"),
    [
        ("output-contains", {"substring": ""}, "substring"),
        ("transcript-contains", {"value": ""}, "substring"),
        ("output-matches", {"pattern": "("}, "pattern"),
        ("transcript-not-matches", {"pattern": "("}, "pattern"),
        ("tool-call-count", {"max": 1, "tools": ["a", "("]}, "tools"),
        ("step-count", {"max": 1, "tools": ["("]}, "tools"),
        ("max-repeat", {"max": 1, "tools": ["("]}, "tools"),
        ("loop-outcome", {"max_acceptable_retries": 1, "tools": ["("]}, "tools"),
        ("tool-calls", {"required": ["("]}, "required"),
        ("tool-calls", {"disallowed": [{"name": "a", "args": {"x": "("}}]}, "disallowed"),
        ("tool-calls", {"sequence": [{"name": "a", "result": "("}]}, "sequence"),
    ],
)
def test_what_cannot_work_is_found_beforehand(kind, config, option):
    assert [found for found, _ in bound(kind, config).lint()] == [option]


@pytest.mark.parametrize(
    ("kind", "config", "options"),
    [
        ("json-schema", {"schema": {"type": "objekt"}}, ["schema"]),
        ("json-schema", {"schema": {"$schema": "http://example.com/other"}}, ["schema"]),
        ("json-schema", {"schema": {"$schema": 7}}, ["schema"]),
        ("json-schema", {"schema": {}, "tools": ["a"]}, ["tools"]),
        ("json-schema", {"schema": {}, "of": "output", "code_fence": True}, ["code_fence"]),
        ("json-schema", {"schema": {"type": "object"}}, []),
        ("json-schema", {"schema": True}, []),
        ("json-schema", {"schema": {"$ref": "#/$defs/x"}}, ["schema"]),
        ("json-schema", {"schema": {"items": {"$ref": "#nowhere"}}}, ["schema"]),
        ("json-schema", {"schema": {"anyOf": [{"$ref": "http://example.com/x"}]}}, ["schema"]),
        (
            "json-schema",
            {"schema": {"$ref": "#/x/y", "x": {"y": {"items": {"$ref": "#/x/z"}}}}},
            ["schema"],
        ),
        ("json-schema", {"schema": {"$defs": {"x": {}}, "$ref": "#/$defs/x"}}, []),
        ("json-schema", {"schema": {"properties": {"$ref": {"type": "string"}}}}, []),
        ("json-schema", {"schema": {"$id": "http://a.example/b", "$ref": "b#"}}, []),
        (
            "json-schema",
            {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}},
            [],
        ),
        (
            "json-schema",
            {
                "schema": {
                    "$schema": "http://json-schema.org/draft-04/schema#",
                    "definitions": {"x": {}},
                    "items": {"$ref": "#/definitions/x"},
                }
            },
            [],
        ),
        ("tool-arguments", {"tools": ["a"], "arguments": {"x": ["("]}}, []),
        (
            "tool-arguments",
            {"tools": ["a"], "arguments": {"x": ["("]}, "compare": "matches"},
            ["arguments"],
        ),
        (
            "trajectory-match",
            {"calls": [{"name": "a", "arguments": "("}], "arguments": "matches"},
            ["calls"],
        ),
        ("no-invented-values", {"pattern": "("}, ["pattern"]),
        (
            "tool-success-rate",
            {"tools": ["("], "failure_pattern": "("},
            ["tools", "failure_pattern"],
        ),
        ("state-equals", {"fixture": "db", "expected": 1, "path": "$["}, ["path"]),
        ("state-contains", {"fixture": "db"}, ["expected"]),
        ("state-contains", {"fixture": "db", "path": "$.a"}, []),
    ],
)
def test_what_cannot_work_with_json_is_found_beforehand(kind, config, options):
    assert [found for found, _ in bound(kind, config).lint()] == options


def test_a_schema_that_takes_the_square_of_a_long_list_is_not_checked():
    row = {"grader": "json-schema", "config": {"schema": {"unevaluatedItems": False}}}
    grader = bound(row["grader"], row["config"])
    trajectory = read_conversation([{"user": "q"}, {"assistant": str([1] * 1001)}])
    with pytest.raises(GraderError, match="at most 1,000"):
        grader.grade(Subject(make_sample(), trajectory))
