"""Results and transcripts of microsoft/waza (0.10 to 0.30): each run becomes a conversation.

The sample is the task, the epoch the number of the run. A run whose transcript was not kept has no
events: its `final_output` is a summary, and what the digest counts is no record of a call.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.importers.record_fields import field_seconds, field_text, is_outcome, without
from harness.messages.completions import read_usage
from harness.messages.contents import shape_error
from harness.messages.copilot_events import SKILL_ACTIVATION, CopilotSession
from harness.types.events import SystemEvent
from harness.types.imports import Imported
from harness.types.suites import MOST_EPOCHS
from harness.types.trajectories import Usage
from harness.types.trials import Failure

_MILLISECONDS = 1000
_TYPES: Mapping[str, str] = {
    "Turn": "assistant.message",
    "UserMessage": "user.message",
    "ToolExecutionStart": "tool.execution_start",
    "ToolExecutionComplete": "tool.execution_complete",
}
_NAMES = {
    "tool_call_id": "toolCallId",
    "tool_name": "toolName",
    "tool_result": "result",
}


def is_waza(record: Mapping[str, Any]) -> bool:
    """Say whether a record is the results of waza, or the transcript of one task."""
    is_results = "eval_id" in record and isinstance(record.get("tasks"), list)
    return is_results or ("task_id" in record and isinstance(record.get("transcript"), list))


def read_waza(record: Mapping[str, Any], place: str) -> Iterator[Imported]:
    """Return the conversation of each run, those of the baseline last.

    Raises:
        ValueError: a task or a run is none; the text begins with the place.
    """
    if "tasks" not in record:
        yield _read_run(
            record, place, task={**record, "test_id": record.get("task_id")}, model=None
        )
        return
    config = record.get("config")
    model = field_text(config, ("model_id",)) if isinstance(config, Mapping) else None
    yield from _read_tasks(record, place, model)
    baseline = record.get("baseline_outcome")
    if isinstance(baseline, Mapping):
        named = f"{model} (baseline)" if model else "baseline"
        yield from _read_tasks(baseline, f"{place}.baseline_outcome", named)


def _read_tasks(record: Mapping[str, Any], place: str, model: str | None) -> Iterator[Imported]:
    tasks = record.get("tasks")
    for index, task in enumerate(tasks if isinstance(tasks, list) else []):
        runs = task.get("runs") if isinstance(task, Mapping) else None
        if not isinstance(runs, list):
            raise shape_error(f"{place}: tasks[{index}].runs must be a list", runs)
        for number, run in enumerate(runs):
            where = f"{place}.tasks[{index}].runs[{number}]"
            if not isinstance(run, Mapping):
                raise shape_error(f"{where}: a run must be an object", run)
            yield _read_run(run, where, task=task, model=model)


def _read_run(
    run: Mapping[str, Any], place: str, *, task: Mapping[str, Any], model: str | None
) -> Imported:
    session = CopilotSession()
    transcript = run.get("transcript")
    for event in transcript if isinstance(transcript, list) else []:
        session.read(_event(event) if isinstance(event, Mapping) else event)
    session.finish()
    _add_skills(session, run.get("skill_invocations"))
    status = run.get("status")
    prompt = field_text(run, ("prompt",))
    message = field_text(run, ("error_msg",)) or "the record does not say why"
    return Imported(
        place=place,
        trajectory=session.builder.trajectory(),
        sample_id=field_text(task, ("test_id",)),
        model=model or session.model,
        epoch=_epoch(run.get("run_number")),
        prompts=(prompt,) if prompt else (),
        status="target_error" if status == "error" else "completed",
        failure=Failure(code="target_broke", message=message) if status == "error" else None,
        skipped=message if status in ("skipped", "n/a") else None,
        seconds=field_seconds(run, "duration_ms", per_second=_MILLISECONDS),
        outcomes=_outcomes(run),
        fields={**without(task, "runs", "transcript"), **without(run, "transcript")},
        unread=session.builder.unread,
        usage=_usage(run),
    )


def _event(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event of a transcript, whose fields stand side by side, as Copilot writes it."""
    kind = fields.get("type")
    named = _TYPES.get(kind, kind) if isinstance(kind, str) else kind
    data = {_NAMES.get(name, name): value for name, value in fields.items() if name != "type"}
    if isinstance(named, str) and named.endswith("_delta"):
        data["deltaContent"] = data.get("content")
    return {"type": named, "data": data}


def _add_skills(session: CopilotSession, skills: Any) -> None:
    """Add the skills that were invoked, unless the transcript tells of them."""
    events = session.builder.trajectory().events()
    told = {e.text for e in events if isinstance(e, SystemEvent) and e.kind == SKILL_ACTIVATION}
    for skill in skills if isinstance(skills, list) else []:
        name = field_text(skill, ("name",)) if isinstance(skill, Mapping) else None
        if name is not None and name not in told:
            session.builder.system(SKILL_ACTIVATION, name, data=dict(skill))


def _epoch(number: Any) -> int | None:
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number - 1 if 0 < number <= MOST_EPOCHS else None


def _outcomes(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether the run passed, and the score of each of its validations."""
    found: dict[str, Any] = {}
    if run.get("status") in ("passed", "failed"):
        found["passed"] = run["status"] == "passed"
    validations = run.get("validations")
    for name, result in validations.items() if isinstance(validations, Mapping) else ():
        score = result.get("score") if isinstance(result, Mapping) else None
        if is_outcome(score):
            found[name if name != "passed" else "validations.passed"] = score
    return found


def _usage(run: Mapping[str, Any]) -> Usage | None:
    digest = run.get("session_digest", run.get("session"))
    told = digest if isinstance(digest, Mapping) else {}
    counts = {"input_tokens": told.get("tokens_in"), "output_tokens": told.get("tokens_out")}
    for usage in (run.get("usage"), told.get("usage"), counts):
        read = read_usage(usage)
        if read != Usage():
            return read
    return None
