"""Runs of LangSmith (API v1): the parts of runs come in, a conversation for each trace goes out.

A run may come in two parts, one when it began (`post`) and one when it ended (`patch`), joined by
its id. The conversation of a trace is that of its first run, if it holds messages, else of its last
call of a model; a run without messages is what the user gave and the agent answered.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from harness.importers.record_fields import is_outcome, without
from harness.messages.completions import read_usage, text_or_none
from harness.messages.langchain_messages import LangChainMessages
from harness.messages.langchain_shapes import is_langchain_message
from harness.messages.letta_messages import read_date
from harness.messages.turn_building import TurnBuilder
from harness.system.json_values import compact_json
from harness.types.imports import Imported
from harness.types.trajectories import Usage
from harness.types.trials import Failure

_Run = Mapping[str, Any]
_MARKS = ("run_type", "dotted_order", "trace_id")
_GIVEN = ("input", "question", "query", "prompt", "text")
_ANSWERED = ("output", "answer", "result", "response", "text")


def holds_runs(record: Any) -> bool:
    """Say whether a record is a run, or the parts of runs."""
    if not isinstance(record, Mapping):
        return False
    if any(isinstance(record.get(key), list) for key in ("post", "patch")):
        return any(_is_run(part) for part in _parts(record))
    return _is_run(record)


def _is_run(value: Any) -> bool:
    is_run = isinstance(value, Mapping) and isinstance(value.get("id"), str)
    return (
        is_run
        and any(mark in value for mark in _MARKS)
        and ("inputs" in value or "outputs" in value)
    )


def _parts(record: Mapping[str, Any]) -> list[Any]:
    lists = [record.get(key) for key in ("post", "patch")]
    return [part for parts in lists if isinstance(parts, list) for part in parts]


def read_traces(records: Iterable[tuple[str, Any]]) -> Iterator[Imported]:
    """Return a conversation for each trace, in the order in which they begin.

    Raises:
        ValueError: a record is no run; with its place.
    """
    runs: dict[str, dict[str, Any]] = {}
    places: dict[str, str] = {}
    for place, record in records:
        if not holds_runs(record):
            raise ValueError(f"{place}: the record is no run of LangSmith")
        bare = not any(isinstance(record.get(key), list) for key in ("post", "patch"))
        for part in [record] if bare else _parts(record):
            own = part.get("id") if isinstance(part, Mapping) else None
            if not isinstance(own, str):
                raise ValueError(f"{place}: a run has no id")  # noqa: TRY004  (a file's, not code's)
            _merge(runs.setdefault(own, {}), part)
            places.setdefault(own, place)
    for trace in _traces(runs).values():
        yield _read_trace(trace, places[trace[0]["id"]])


def _merge(run: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if value not in (None, {}, []) or key not in run:
            run[key] = value


def _traces(runs: Mapping[str, _Run]) -> dict[str, list[_Run]]:
    """Return the runs of each trace, in the order of their time."""
    traces: dict[str, list[_Run]] = {}
    for run in runs.values():
        own = run.get("trace_id")
        traces.setdefault(own if isinstance(own, str) else run["id"], []).append(run)
    return {own: sorted(trace, key=_order) for own, trace in traces.items()}


def _order(run: _Run) -> tuple[bool, str]:
    is_child = isinstance(run.get("parent_run_id"), str)
    when = (run.get("dotted_order"), run.get("start_time"))
    return is_child, next((text for text in when if isinstance(text, str)), "")


def _read_trace(trace: list[_Run], place: str) -> Imported:
    root = trace[0]
    builder = TurnBuilder()
    talks = [messages for run in (root, *_models(trace)[::-1]) if (messages := _talk(run))]
    try:
        if talks:
            LangChainMessages(builder).add_all(talks[0])
        else:
            _add_plain(builder, root)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    crash = text_or_none(root.get("error"))
    if crash is not None:
        builder.error("agent_crash", crash)
    example = root.get("reference_example_id")
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        sample_id=text_or_none(example),
        model=next((name for run in _models(trace)[::-1] if (name := _model(run))), None),
        status="completed" if crash is None else "agent_failure",
        failure=None if crash is None else Failure(code="agent_crash", message=crash),
        seconds=_seconds(root),
        outcomes=_feedback(root),
        fields=without(root, "inputs", "outputs", "events", "serialized"),
        unread=builder.unread,
        usage=_usage(root),
    )


def _models(trace: list[_Run]) -> list[_Run]:
    return [run for run in trace if run.get("run_type") == "llm"]


def _talk(run: _Run) -> list[Any]:
    """Return the messages of a run: those it was given, and those that came out."""
    given, made = _messages(run.get("inputs")), _messages(run.get("outputs"))
    # The outputs of a graph are its whole state.
    return made if given and made[: len(given)] == given else [*given, *made] if made else []


def _messages(value: Any) -> list[Any]:
    if isinstance(value, list):
        inner = value[0] if value else None
        if isinstance(inner, list):
            return _messages(inner)
        return value if any(map(_is_message, value)) else []
    if not isinstance(value, Mapping):
        return []
    if _is_message(value):
        return [value]
    keys = ("messages", "generations", "choices", "message", "output", "input")
    found = (_unwrapped(key, value.get(key)) for key in keys)
    return next((messages for messages in map(_messages, found) if messages), [])


def _unwrapped(key: str, value: Any) -> Any:
    """Return the messages inside the choices or generations of a model: those of the first."""
    if key not in ("choices", "generations") or not isinstance(value, list) or not value:
        return value
    first = value[0][0] if isinstance(value[0], list) and value[0] else value[0]
    return first.get("message") if isinstance(first, Mapping) else None


def _is_message(value: Any) -> bool:
    has_role = isinstance(value, Mapping) and isinstance(value.get("role"), str)
    return (has_role and ("content" in value or "tool_calls" in value)) or is_langchain_message(
        value
    )


def _add_plain(builder: TurnBuilder, run: _Run) -> None:
    """Add what a run without messages was given and gave back."""
    given, made = run.get("inputs"), run.get("outputs")
    if given:
        builder.user(_text(given, _GIVEN))
    if made:
        builder.begin_step()
        builder.assistant(_text(made, _ANSWERED))


def _text(value: Any, names: Iterable[str]) -> str:
    if isinstance(value, Mapping):
        texts = [value.get(name) for name in names]
        if len(value) == 1:
            texts += value.values()
        found = next((text for text in texts if isinstance(text, str)), None)
        if found is not None:
            return found
    return value if isinstance(value, str) else compact_json(value)


def _model(run: _Run) -> str | None:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    outputs = run.get("outputs")
    names = (
        outputs.get("model") if isinstance(outputs, Mapping) else None,
        metadata.get("ls_model_name") if isinstance(metadata, Mapping) else None,
    )
    return next((name for name in map(text_or_none, names) if name), None)


def _usage(run: _Run) -> Usage | None:
    outputs = run.get("outputs")
    counted = outputs.get("usage_metadata") if isinstance(outputs, Mapping) else None
    usage = read_usage(run) if counted is None else read_usage(counted)
    return None if usage == Usage() else usage


def _seconds(run: _Run) -> float | None:
    begun, ended = _time(run.get("start_time")), _time(run.get("end_time"))
    if begun is None or ended is None or ended < begun:
        return None
    return (ended - begun).total_seconds()


def _time(value: Any) -> datetime | None:
    return read_date(value) if isinstance(value, str) else None


def _feedback(run: _Run) -> dict[str, Any]:
    """Return the mean of each kind of feedback that was given."""
    stats = run.get("feedback_stats")
    rows = stats.items() if isinstance(stats, Mapping) else ()
    means = {key: row.get("avg") for key, row in rows if isinstance(row, Mapping)}
    return {key: mean for key, mean in means.items() if is_outcome(mean)}
