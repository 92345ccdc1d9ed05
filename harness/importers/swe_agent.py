"""SWE-agent (`.traj`, 0.6 to 1.1) and mini-swe-agent (`.traj.json`, 1.x and 2.x).

A file is one trial: `history` holds the messages, or `messages` (mini-swe-agent, format 1 and 1.1);
early files of mini-swe-agent are a bare list. Where only `trajectory` is left, its steps are read.
The sample is `instance_id`, else the name of the file, which both tools call by it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import field_text, named_outcomes, without
from harness.importers.recorded_failures import read_outage, status_of
from harness.messages.chat import ROLES
from harness.messages.completions import read_usage
from harness.messages.swe_agent_messages import SweAgentMessages
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Usage
from harness.types.trials import Failure

_SUFFIXES = (".traj.json", ".traj")
_FENCE, _OUTPUT = "```mswea_bash_command", "<returncode>"
_MINI = "mini-swe-agent"
_LISTS = ("history", "messages")
_INFO = ("model_stats", "exit_status", "mini_version")
_AGENTS_FAULT: Mapping[str, str] = {
    "exit_cost": "max_steps",
    "exit_format": "max_steps",
    "exit_total_execution_time": "trial_timeout",
    "formaterror": "max_steps",
    "limitsexceeded": "max_steps",
    "repeatedformaterror": "max_steps",
    "timeexceeded": "trial_timeout",
}
"""Exit statuses that are the agent's failure, by their code in the table of errors."""

_OUTAGES: Mapping[str, str] = {
    "exit_api": "server_error",
    "exit_context": "context_length",
    "exit_environment_error": "server_error",
    "exit_error": "server_error",
}


@dataclass(frozen=True, slots=True)
class SweAgent:
    """Trajectories of SWE-agent and mini-swe-agent: one conversation a file."""

    specification: ClassVar[str] = "SWE-agent 0.6 to 1.1, mini-swe-agent 1.x and 2.x"

    def claims(self, head: Head) -> bool:
        """Say whether the first record holds a history, or is a list as mini-swe-agent writes."""
        first = head.values[0] if head.values else None
        if isinstance(first, list):
            return _is_mini_list(first, head.name)
        return isinstance(first, Mapping) and _is_record(first)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return the conversation of each record.

        Raises:
            ValueError: a record holds neither messages nor steps.
        """
        name = next((s for s in _SUFFIXES if source.path.name.endswith(s)), None)
        instance = source.path.name.removesuffix(name) if name else None
        for place, value in source.values():
            yield _read_record(place, value, instance)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("role") in (*ROLES, "exit")


def _is_mini_list(messages: list[Any], name: str) -> bool:
    if not messages or not all(map(_is_message, messages)):
        return False
    texts = [text for message in messages if isinstance(text := message.get("content"), str)]
    signs = any(_FENCE in text or text.startswith(_OUTPUT) for text in texts)
    return signs or name.endswith(_SUFFIXES)


def _is_record(record: Mapping[str, Any]) -> bool:
    if str(record.get("trajectory_format")).startswith(_MINI):
        return True
    info = record.get("info")
    is_told = isinstance(info, Mapping) and any(key in info for key in _INFO)
    if is_told and any(isinstance(record.get(key), list) for key in _LISTS):
        return True
    return any(map(_is_history_message, _rows(record, "history")[:1])) or any(
        map(_is_step, _rows(record, "trajectory")[:1])
    )


def _is_history_message(value: Any) -> bool:
    return _is_message(value) and ("agent" in value or "message_type" in value)


def _is_step(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() >= {"action", "observation", "response"}


def _rows(record: Mapping[str, Any], key: str) -> list[Any]:
    rows = record.get(key)
    return rows if isinstance(rows, list) else []


def _read_record(place: str, record: Any, instance: str | None) -> Imported:
    around = record if isinstance(record, Mapping) else {"messages": record}
    messages = _messages(around)
    if messages is None:
        raise ValueError(f"{place}: the record holds no messages of SWE-agent")
    builder = TurnBuilder()
    reader = SweAgentMessages(builder)
    for message in messages:
        reader.add(message)
    info = around.get("info")
    info = info if isinstance(info, Mapping) else {}
    failure = _failure(info.get("exit_status"))
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        sample_id=field_text(around, ["instance_id"]) or instance or None,
        model=_model(around, info),
        status=status_of(failure),
        failure=failure,
        outcomes={**named_outcomes(info, ["exit_status"]), **named_outcomes(around)},
        fields=without(around, "history", "messages", "trajectory"),
        unread=builder.unread,
        usage=_usage(info.get("model_stats")),
    )


def _messages(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the messages of a record, or what its steps stand for; None where it has none."""
    lists = [record[key] for key in _LISTS if isinstance(record.get(key), list)]
    told = next((messages for messages in lists if messages), None)
    return told or _messages_of_steps(_rows(record, "trajectory")) or (lists[0] if lists else None)


def _messages_of_steps(steps: list[Any]) -> list[Any]:
    """Return the messages that steps stand for: what was asked, then replies and outputs."""
    first = steps[0] if steps and isinstance(steps[0], Mapping) else {}
    messages = [*(_rows(first, "query") or _rows(first, "messages"))]
    for step in steps:
        if not isinstance(step, Mapping):
            messages.append(step)
            continue
        said = {key: step.get(key) for key in ("thought", "action", "thinking_blocks")}
        messages.append({"role": "assistant", "content": step.get("response"), **said})
        messages.append({"role": "user", "content": step.get("observation")})
    return messages


def _failure(exit_status: Any) -> Failure | None:
    if not isinstance(exit_status, str) or not exit_status:
        return None
    word = exit_status.lower()
    code = _AGENTS_FAULT.get(word) or _OUTAGES.get(word)
    if code is None and word.endswith("error"):
        # The name of what was raised.
        code = read_outage(exit_status).code
    return Failure(code=code, message=f"the agent ended with {exit_status}") if code else None


def _model(record: Mapping[str, Any], info: Mapping[str, Any]) -> str | None:
    config: Any = info.get("config")
    if config is None and isinstance(replay := record.get("replay_config"), str):
        try:
            config = json.loads(replay)
        except (ValueError, RecursionError):
            return None
    for key in ("agent", "model"):
        inner = config.get(key) if isinstance(config, Mapping) else None
        model = inner.get("model", inner) if isinstance(inner, Mapping) else None
        found = field_text(model, ["name", "model_name"]) if isinstance(model, Mapping) else None
        if found:
            return found
    return None


def _usage(stats: Any) -> Usage | None:
    if not isinstance(stats, Mapping):
        return None
    numbers = {
        "input_tokens": stats.get("tokens_sent"),
        "output_tokens": stats.get("tokens_received"),
        "cost": stats.get("instance_cost"),
    }
    return read_usage(numbers)
