"""A trial as plain text: what happened, event by event, and what each grader said of it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.system.texts import harmless, one_line
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.grades import Grade, Ref
from harness.types.trials import Trial

_INDENT = " " * 21
_LONG = 120
_LABELS = {UserMessage: "user", AssistantMessage: "assistant", Reasoning: "reasoning"}


def trial_text(trial: Trial) -> str:
    """Return a trial as text for a terminal; nothing in it can control the terminal."""
    return "\n".join(_lines(trial)) + "\n"


def _lines(trial: Trial) -> Iterator[str]:
    status = trial.status.replace("_", " ")
    verdict = {True: "passed", False: "failed", None: status}[trial.passed]
    score = "" if trial.score is None else f", score {trial.score:.3f}"
    where = f"{one_line(trial.sample_id)} on {one_line(trial.model)}, epoch {trial.epoch}"
    yield f"{where}: {verdict}{score}"
    if trial.error is not None:
        yield f"  {status}: {one_line(f'{trial.error.code}: {trial.error.message}')}"
    yield from _attempts(trial)
    for number, turn in enumerate(trial.trajectory.turns):
        yield f"  turn {number}"
        names = {e.call_id: e.name for e in turn.events if isinstance(e, ToolCall)}
        for index, event in enumerate(turn.events):
            yield _event(index, event, names)
    for name, state in trial.snapshots.items():
        yield from _snapshot(name, state)
    yield "  grades" if trial.grades else "  no grades"
    for name, grade in trial.grades.items():
        yield from _grade(name, grade)


def _attempts(trial: Trial) -> Iterator[str]:
    if len(trial.attempts) < 2:  # noqa: PLR2004  (one attempt is no news)
        return
    for number, attempt in enumerate(trial.attempts):
        end = one_line(f"{attempt.error.code}: {attempt.error.message}") if attempt.error else "ok"
        yield f"  attempt {number}: {attempt.seconds:.2f} s, {end}"


def _snapshot(name: str, state: Any) -> Iterator[str]:
    """Yield a state on one line, or where it is long one line a value."""
    text = one_line(json.dumps(state, ensure_ascii=False))
    if len(text) <= _LONG:
        yield f"  snapshot of {one_line(name)}: {text}"
        return
    yield f"  snapshot of {one_line(name)}:"
    for line in json.dumps(state, ensure_ascii=False, indent=2).split("\n"):
        yield f"    {one_line(line)}"


def _event(index: int, event: Event, names: Mapping[str | None, str]) -> str:
    label, text = _label_and_text(event, names)
    body = harmless(text).replace("\n", f"\n{_INDENT}")
    return f"    {f'[{index}]':<5}{label:<12}{body}".rstrip()


def _label_and_text(event: Event, names: Mapping[str | None, str]) -> tuple[str, str]:
    match event:
        case UserMessage() | AssistantMessage() | Reasoning():
            return _LABELS[type(event)], event.text
        case ToolCall(name=name, arguments_text=sent):
            arguments = sent if sent is not None else _json(event.arguments)
            return "call", f"{name} {arguments}"
        case ToolResult(name=name, output=output, ok=ok):
            return ("result" if ok else "failed"), f"{name or '(no call)'}: {output}"
        case SystemEvent(kind=kind):
            return "system", f"{kind}: {_system_text(event, names)}"
        case ErrorEvent(kind=kind, message=message):
            return "error", f"{kind}: {message}"


def _system_text(event: SystemEvent, names: Mapping[str | None, str]) -> str:
    """Return what an event says; of an approval, the tools and whether they were allowed."""
    data = event.data if isinstance(event.data, dict) else {}
    match event.kind, data:
        case "approval_request", {"tool_call_ids": [*ids]}:
            return ", ".join(_tool(one, names) for one in ids)
        case "approval_response", {"approvals": [*given]}:
            return "; ".join(_approval(one, names) for one in given)
        case "approval_response", {"approve": bool(approve)}:
            reason = event.text or data.get("reason") or ""
            return _approval({"approve": approve, "reason": reason}, names)
    return event.text or ("" if event.data is None else _json(event.data))


def _approval(given: Any, names: Mapping[str | None, str]) -> str:
    if not isinstance(given, dict) or not isinstance(given.get("approve"), bool):
        return _json(given)
    word = "approved" if given["approve"] else "denied"
    call_id = given.get("tool_call_id")
    tool = "" if call_id is None else f" {_tool(call_id, names)}"
    reason = given.get("reason")
    return f"{word}{tool}{f': {reason}' if reason else ''}"


def _tool(call_id: Any, names: Mapping[str | None, str]) -> str:
    return names.get(call_id, call_id) if isinstance(call_id, str) else _json(call_id)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _grade(name: str, grade: Grade) -> Iterator[str]:
    word = {True: "passed", False: "failed", None: grade.status}[grade.passed]
    score = "" if grade.score is None else f" {grade.score:.3f}"
    yield f"    {one_line(name)}: {word}{score}: {one_line(grade.evidence)}"
    yield from _turns(grade)
    if grade.submission is not None and "turns" not in grade.details:
        yield f"      graded: {one_line(grade.submission)}"
    if grade.refs:
        yield f"      see {', '.join(map(_ref, grade.refs))}"


def _turns(grade: Grade) -> Iterator[str]:
    turns = grade.details.get("turns", ())
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict) and {"turn", "evidence", "passed"} <= turn.keys():
            word = {True: "passed", False: "failed"}.get(turn["passed"], str(turn.get("status")))
            yield f"      turn {turn['turn']}: {word}: {one_line(str(turn['evidence']))}"


def _ref(ref: Ref) -> str:
    span = "" if ref.start is None else f" characters {ref.start}-{ref.end}"
    return f"turn {ref.turn} [{ref.event}]{span}"
