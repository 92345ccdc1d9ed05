"""What a longer trajectory costs to grade: four times the events, at most some four times the time.

A grader that compares everything with everything takes sixteen times as long. Each is measured on
both lengths, the best of a few tries counts, and processor time is what is compared. Exits with 1
where a grader is not linear.
"""

import statistics
import sys
import time

import jsonpath  # noqa: F401  (what is loaded late is loaded here, so that it is not measured)
import jsonschema  # noqa: F401
from rich.console import Console
from rich.table import Table

from graders.call_matching import ReferenceCall
from graders.catalogue import GRADERS
from harness.system.patterns import time_limit
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.protocols import Subject
from harness.types.samples import Sample
from harness.types.trajectories import Step, Trajectory, Turn, Usage

FEW, MANY, TRIES = 2_500, 10_000, 5
MOST_RATIO = 4 * 2.5
PATTERN = r"P-\d+"
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": {}}
OPTIONS = {
    "output-contains": {"substring": "nowhere"},
    "output-matches": {"pattern": "nowhere"},
    "transcript-contains": {"substring": "nowhere"},
    "transcript-not-matches": {"pattern": "nowhere"},
    "completed": {},
    "token-budget": {"max": 1},
    "tool-call-count": {"max": 3, "tools": ("t1",)},
    "step-count": {"max": 3, "tools": ("t1",)},
    "error-count": {"max": 0},
    "tool-calls": {
        "required": ("t1",),
        "disallowed": ("nowhere",),
        "sequence": ("t1", "t2", "t9"),
        "parallel": ("t1", "t2"),
    },
    "skill-invocation": {"required": ("triage",)},
    "max-repeat": {"max": 3, "match": "name-args"},
    "loop-outcome": {"max_acceptable_retries": 2},
    "json-schema": {"schema": SCHEMA, "of": "arguments"},
    "tool-arguments": {"tools": ("t1",), "arguments": {"x": -1}},
    "trajectory-match": {
        "calls": ("t1", ReferenceCall(name="t3", arguments={"x": 5})),
        "mode": "superset",
    },
    "assistant-contains-tool-output": {"tools": ("t1",), "pattern": PATTERN},
    "no-invented-values": {"pattern": PATTERN},
    "tool-output-in-answer": {"require": "all", "compare": "values"},
    "tool-success-rate": {},
}


def conversation(calls):
    """Make a conversation with so many calls, each with a result, and some messages between."""
    events = [UserMessage(text="Where are the parcels?")]
    for i in range(calls):
        name, call_id = f"t{i % 7}", f"c{i}"
        events.append(ToolCall(call_id=call_id, name=name, arguments={"x": i}, step=i))
        events.append(ToolResult(call_id=call_id, name=name, output=f'{{"id": "P-{i}"}}'))
        if i % 5 == 0:
            events.append(AssistantMessage(text=f"P-{i} was seen", step=i))
    steps = [Step(usage=Usage(input_tokens=1, output_tokens=1))] * calls
    return Trajectory(turns=(Turn(events=tuple(events), steps=tuple(steps)),))


def seconds(grader, subject):
    """Return the least processor time of a few tries."""
    tries = []
    for _ in range(TRIES):
        began = time.process_time()
        with time_limit(60):
            grader.grade(subject)
        tries.append(time.process_time() - began)
    return min(tries)


def main():
    """Measure every grader, and print a table."""
    sample = Sample(id="s1", input="q")
    short, long = (Subject(sample, conversation(calls)) for calls in (FEW, MANY))
    table = Table("grader", "microseconds a call", f"ratio, at most {MOST_RATIO:g}")
    ratios = {}
    for name, options in OPTIONS.items():
        grader = GRADERS[name](**options)
        few, many = seconds(grader, short), seconds(grader, long)
        ratios[name] = many / max(few, 1e-6)
        table.add_row(name, f"{many / MANY * 1e6:.2f}", f"{ratios[name]:.1f}")
    console = Console(width=100)
    console.print(table)
    console.print(f"median ratio {statistics.median(ratios.values()):.1f}")
    # What takes next to no time on either length is all noise.
    return int(any(ratio > MOST_RATIO for ratio in ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
