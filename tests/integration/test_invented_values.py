"""A stored run of the quickstart, graded again: what its models invented is found, nothing else."""

import re
from pathlib import Path

import harness
from harness.types.events import AssistantMessage, ToolResult, UserMessage

QUICKSTART = Path(__file__).parents[2] / "suites" / "quickstart" / "suite.yaml"
ID = "rt_[0-9a-f]{16}"


def invented_in(trajectory):
    """Follow a conversation as the grader should, in the plainest way."""
    seen, invented = "", []
    for event in trajectory.events():
        if isinstance(event, AssistantMessage):
            told = dict.fromkeys(re.findall(ID, event.text))
            invented += [name for name in told if name not in seen and name not in invented]
        elif isinstance(event, UserMessage | ToolResult):
            seen += f" {event.text if isinstance(event, UserMessage) else event.output}"
    return invented


async def test_the_ids_that_a_model_invented_are_found_without_driving_it_again(tmp_path):
    run = await harness.run_async(QUICKSTART, out=tmp_path, progress=False)
    text = QUICKSTART.read_text(encoding="utf-8")
    grader = f"  invented: {{type: no-invented-values, config: {{pattern: '{ID}'}}}}\n"
    suite = tmp_path / "suite.yaml"
    for file in QUICKSTART.parent.glob("*.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    suite.write_text(text.replace("graders:\n", f"graders:\n{grader}", 1), encoding="utf-8")
    again = await harness.grade_async(run, suite, out=tmp_path, progress=False)
    found = {}
    for trial in again.trials():
        grade = trial.grades["invented"]
        assert grade.details.get("invented", []) == invented_in(trial.trajectory)
        assert grade.passed is (not grade.details)
        found.setdefault(trial.model, []).extend(grade.details.get("invented", []))
    assert found["scripted/careful"] == []
    assert len(found["scripted/hasty"]) == 6
