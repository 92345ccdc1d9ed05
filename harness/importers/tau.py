"""tau-bench (2024, `run.py`) and tau2-bench (1.x, `tau2 run`): an agent, tools and a played user.

A file of tau-bench is a list of `{"task_id", "reward", "info", "traj", "trial"}`, whose `traj` are
Chat Completions messages. A file of tau2-bench holds `simulations` beside `info` and `tasks`; one
simulation by itself is read too. What the played user says is a turn, also where it only holds a
stop token. The reward is the outcome; checks that did not decide it are fields of the record.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import field_seconds, field_text, named_outcomes, without
from harness.importers.recorded_failures import read_outage, status_of
from harness.messages.chat import read_turns
from harness.messages.tau_messages import TauMessages
from harness.messages.thinking import part_thinking
from harness.messages.turn_building import TurnBuilder
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Trajectory
from harness.types.trials import Failure

_AGENTS_FAULT: Mapping[str, str] = {
    "agent_error": "agent_crash",
    "max_steps": "max_steps",
    "timeout": "trial_timeout",
    "too_many_errors": "max_steps",
}
"""Why a simulation ended, where that is the agent's failure: the code of the table of errors."""

_SIMULATED = frozenset({"task_id", "messages", "termination_reason"})


@dataclass(frozen=True, slots=True)
class Tau:
    """Results of tau-bench and tau2-bench: one conversation a trial."""

    specification: ClassVar[str] = "tau-bench results (2024), tau2-bench results (1.x)"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is a trial of either, or holds simulations."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first:
            first = first[0]
        return _is_trial(first) or _is_simulation(first) or _simulations(first) is not None

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each trial.

        Raises:
            ValueError: a record is neither a trial nor holds simulations.
        """
        for place, record in source.records():
            simulations = _simulations(record)
            if simulations is not None:
                around = without(record, "simulations", "tasks")
                for index, simulation in enumerate(simulations):
                    inner = f"{place}.simulations[{index}]"
                    yield _read_simulation(inner, simulation, around)
            elif _is_simulation(record):
                yield _read_simulation(place, record, {})
            else:
                yield _read_trial(place, record)


def _is_trial(record: Any) -> bool:
    is_record = isinstance(record, Mapping) and "task_id" in record and "reward" in record
    return is_record and isinstance(record.get("traj"), list)


def _is_simulation(record: Any) -> bool:
    return isinstance(record, Mapping) and record.keys() >= _SIMULATED


def _simulations(record: Any) -> list[Any] | None:
    if not isinstance(record, Mapping) or not ("tasks" in record or "info" in record):
        return None
    found = record.get("simulations")
    return found if isinstance(found, list) else None


def _read_trial(place: str, record: Any) -> Imported:
    """Read a trial of tau-bench; one that broke has an error in place of a conversation."""
    if not _is_trial(record):
        raise ValueError(f"{place}: the record is no trial of tau-bench: it needs a list `traj`")
    unread: dict[str, int] = {}
    turns = part_thinking(read_turns(record["traj"], unread=unread))
    info = record.get("info")
    error = info.get("error") if isinstance(info, Mapping) else None
    failure = None if error is None else read_outage(error)
    return Imported(
        place=place,
        trajectory=Trajectory(turns=turns),
        sample_id=field_text(record, ["task_id"]),
        epoch=_count(record.get("trial")),
        status=status_of(failure),
        failure=failure,
        outcomes=named_outcomes(record),
        fields=without(record, "traj"),
        unread=unread,
    )


def _read_simulation(place: str, record: Any, around: Mapping[str, Any]) -> Imported:
    messages = record.get("messages") if isinstance(record, Mapping) else 0
    if not isinstance(messages, list | None):
        raise ValueError(f"{place}: the record is no simulation of tau2-bench")  # noqa: TRY004
    builder = TurnBuilder()
    reader = TauMessages(builder)
    for message in messages or ():
        reader.add(message)
    if not messages and record.get("ticks"):
        # A spoken conversation, cut into slices of time.
        builder.keep_unread("ticks", record["ticks"])
    failure = _failure(record)
    return Imported(
        place=place,
        trajectory=builder.trajectory(),
        sample_id=field_text(record, ["task_id"]),
        model=_model(around),
        epoch=_count(record.get("trial")),
        status=status_of(failure),
        failure=failure,
        seconds=field_seconds(record, "duration"),
        outcomes=_outcomes(record),
        fields={**around, **without(record, "messages", "ticks")},
        unread=builder.unread,
    )


def _failure(record: Mapping[str, Any]) -> Failure | None:
    reason = record.get("termination_reason")
    if not isinstance(reason, str):
        return None
    message = f"the simulation ended with {reason}"
    if reason in _AGENTS_FAULT:
        return Failure(code=_AGENTS_FAULT[reason], message=message)
    # Other endings are the player's or the machine's doing only where they say so.
    return Failure(code=read_outage(reason).code, message=message) if "error" in reason else None


def _outcomes(record: Mapping[str, Any]) -> dict[str, Any]:
    info = record.get("reward_info")
    rewards = named_outcomes(info, ["reward"]) if isinstance(info, Mapping) else {}
    return {**rewards, **named_outcomes(record, ["termination_reason"])}


def _model(around: Mapping[str, Any]) -> str | None:
    info = around.get("info")
    agent = info.get("agent_info") if isinstance(info, Mapping) else None
    return field_text(agent, ["llm"]) if isinstance(agent, Mapping) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
