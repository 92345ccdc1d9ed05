"""What Letta Code printed in one go: its lines come in, turns go out.

The shapes are those of `harness.messages.letta_code_lines`; the line `result` ends a turn.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from harness.messages.letta_code_lines import LettaCodeLines
from harness.messages.pairing import name_results
from harness.system.json_values import compact_json
from harness.types.events import Event
from harness.types.trajectories import Turn


def is_code_init(record: Mapping[str, Any]) -> bool:
    """Say whether a record is the line with which Letta Code begins."""
    is_init = record.get("type") == "system" and record.get("subtype") == "init"
    return is_init and "agent_id" in record


def read_code_turns(lines: Iterable[Any]) -> tuple[tuple[Turn, ...], str | None]:
    """Return the turns, and the model that the first line names.

    A line is a record, or the text of a line that is no JSON.

    Raises:
        ValueError: a record is not of the shape that its type has.
    """
    made, events = list[Turn](), list[Event]()
    reader, model = LettaCodeLines(), None
    for line in lines:
        if reader.result is not None and not _is_result(line):
            made.append(_turn([*events, *reader.finish()], reader))
            reader, events = LettaCodeLines(), []
        events += reader.feed(line if isinstance(line, str) else compact_json(line))
        model = model or (reader.init.model if reader.init else None)
    made.append(_turn([*events, *reader.finish()], reader))
    return name_results(made), model


def _is_result(line: Any) -> bool:
    return isinstance(line, Mapping) and line.get("type") == "result"


def _turn(events: Iterable[Event], reader: LettaCodeLines) -> Turn:
    return Turn(events=tuple(events), steps=reader.steps)
