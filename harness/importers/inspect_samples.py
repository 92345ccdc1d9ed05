"""One sample of a log of Inspect: its record comes in, a conversation goes out.

An error that halted it says that the agent could not be driven to its end; a limit that it ran into
is its own doing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.importers.record_fields import (
    ID_ENTRIES,
    field_seconds,
    field_text,
    is_outcome,
    without,
)
from harness.messages.completions import read_usage
from harness.messages.contents import read_content, shape_error
from harness.messages.inspect_messages import (
    Attachments,
    InspectConversation,
    outcome_of,
    read_answer,
    read_model_calls,
)
from harness.system.json_values import compact_json
from harness.types.errors import POLICIES
from harness.types.imports import Imported
from harness.types.suites import MOST_EPOCHS
from harness.types.trajectories import Usage
from harness.types.trials import Failure

_APART = ("messages", "events", "attachments", "transcript", "output", "store")
_LIMITS = {"time": "trial_timeout", "working": "trial_timeout", "context": "context_length"}
_NO_LIMIT = "operator"  # a person ended the sample; the log counts it as it stands


def read_sample(sample: Any, task: Mapping[str, Any], place: str) -> Imported:
    """Read a sample; `task` is the `eval` of the log's header.

    Raises:
        ValueError: it is none; the text begins with the place.
    """
    if not isinstance(sample, Mapping):
        raise shape_error(f"{place}: a sample must be an object", sample)
    try:
        conversation = _conversation(sample)
        prompts = _prompts(sample.get("input"))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    failure = _failure(sample)
    store, invalid = sample.get("store"), sample.get("invalidation")
    return Imported(
        place=place,
        trajectory=conversation.builder.trajectory(),
        sample_id=field_text(sample, ID_ENTRIES),
        model=field_text(task, ("model",)),
        epoch=_epoch(sample.get("epoch")),
        ground_truth=_target(sample.get("target")),
        prompts=prompts,
        status=POLICIES[failure.code].status if failure else "completed",
        failure=failure,
        skipped=f"it was declared invalid: {compact_json(invalid)}" if invalid else None,
        seconds=field_seconds(sample, "total_time", "working_time"),
        outcomes=dict(_outcomes(sample)),
        fields={**without(sample, *_APART), "task": task.get("task")},
        unread=conversation.builder.unread,
        usage=_usage(sample, task),
        snapshots={"store": store} if store else {},
    )


def _conversation(sample: Mapping[str, Any]) -> InspectConversation:
    transcript = sample.get("transcript")
    older = transcript if isinstance(transcript, Mapping) else {}
    attachments = Attachments(sample.get("attachments") or older.get("content"))
    conversation = InspectConversation(
        read_model_calls(sample.get("events") or older.get("events"))
    )
    messages = sample.get("messages")
    if messages is not None and not isinstance(messages, list):
        raise shape_error("messages must be a list", messages)
    answer = read_answer(sample.get("output"))[0]
    told = messages or ([answer] if isinstance(answer, Mapping) else [])
    for index, message in enumerate(told):
        try:
            conversation.read(attachments.resolve(message))
        except ValueError as error:
            raise ValueError(f"messages[{index}]: {error}") from error
    _add_end(conversation, sample)
    return conversation


def _add_end(conversation: InspectConversation, sample: Mapping[str, Any]) -> None:
    """Add what ended the sample as an event: its error, or the limit it ran into."""
    error, limit = sample.get("error"), sample.get("limit")
    if error:
        conversation.builder.error("error", _message(error))
    if isinstance(limit, Mapping):
        kind = field_text(limit, ("type",)) or "unknown"
        conversation.builder.system("limit", kind, data=dict(limit))


def _message(error: Any) -> str:
    told = field_text(error, ("message",)) if isinstance(error, Mapping) else error
    return told if isinstance(told, str) else "the log does not say why"


def _failure(sample: Mapping[str, Any]) -> Failure | None:
    if sample.get("error"):
        return Failure(code="target_broke", message=_message(sample["error"]))
    limit = sample.get("limit")
    kind = field_text(limit, ("type",)) if isinstance(limit, Mapping) else None
    if kind is None or kind == _NO_LIMIT:
        return None
    return Failure(code=_LIMITS.get(kind, "max_steps"), message=f"the limit of its kind: {kind}")


def _prompts(given: Any) -> tuple[str, ...]:
    """Return what the user says in an input: a text, or messages."""
    if isinstance(given, str):
        return (given,)
    messages = given if isinstance(given, list) else []
    return tuple(
        "\n".join(read_content(message.get("content") or "").texts)
        for message in messages
        if isinstance(message, Mapping) and message.get("role") == "user"
    )


def _target(target: Any) -> str | None:
    """Return the one target; of several, any of which will do, none is the ground truth."""
    if isinstance(target, list):
        target = target[0] if len(target) == 1 else None
    return target if isinstance(target, str) and target else None


def _epoch(number: Any) -> int | None:
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    return number - 1 if 0 < number <= MOST_EPOCHS else None


def _outcomes(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    scores = sample.get("scores")
    named = scores if isinstance(scores, Mapping) else {"score": sample.get("score")}
    for name, score in named.items():
        value = score.get("value") if isinstance(score, Mapping) else None
        parts = value if isinstance(value, Mapping) else {"": value}
        for key, part in parts.items():
            outcome = outcome_of(part)
            if is_outcome(outcome):
                yield (f"{name}.{key}" if key else name), outcome


def _usage(sample: Mapping[str, Any], task: Mapping[str, Any]) -> Usage | None:
    """Return what the agent's model used; the models of scorers are counted beside it."""
    told = sample.get("model_usage")
    model = field_text(task, ("model",)) or ""
    own = told.get(model) if isinstance(told, Mapping) else None
    usage = read_usage(own) if own else read_answer(sample.get("output"))[1]
    return None if usage == Usage() else usage
