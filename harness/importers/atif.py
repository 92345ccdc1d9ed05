"""Trajectories in ATIF, the Agent Trajectory Interchange Format of Harbor (RFC 0001), 1.0 to 1.8.

A trajectory that was continued in another file is one conversation with it, as long as the file
lies beside it; read by itself, the later part is a conversation of its own. The format holds no id
of a sample: the prompt tells it, or a field of `extra` that is named as one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import field_text, without
from harness.importers.source_files import SourceFile
from harness.messages.atif_steps import AtifConversation
from harness.messages.completions import read_usage
from harness.messages.contents import shape_error
from harness.types.imports import ForeignSource, Head, Imported
from harness.types.trajectories import Usage

CONTINUED = "continued_trajectory"
"""The kind of the system event that names the file in which a conversation goes on, if it is
missing."""

_VERSION = re.compile(r"ATIF-v1\.[0-8]")
_PART = re.compile(r"(.*)\.cont-([1-9][0-9]{0,5})(\.[^.]+)")
_APART = ("steps", "subagent_trajectories")
_MOST_PARTS = 1000


@dataclass(frozen=True, slots=True)
class Atif:
    """ATIF: trajectories of Harbor and of all who write its format."""

    specification: ClassVar[str] = "Agent Trajectory Interchange Format, ATIF-v1.0 to v1.8"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is a trajectory."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first:
            first = first[0]
        return isinstance(first, Mapping) and _names_version(first)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each trajectory.

        Raises:
            ValueError: a record is no trajectory, or one of an unknown version.
        """
        if _is_part_of_another(source):
            return
        for place, record in source.records():
            yield _read_parts(record, place, source)


def _names_version(record: Mapping[str, Any]) -> bool:
    version = record.get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF-v") and "steps" in record


def _read_parts(record: Any, place: str, source: ForeignSource) -> Imported:
    conversation = AtifConversation()
    try:
        last = _read_part(record, conversation, continued=False)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    for part_place, part in _later_parts(last, source, conversation):
        try:
            last = _read_part(part, conversation, continued=True)
        except ValueError as error:
            raise ValueError(f"{part_place}: {error}") from error
    agent = record.get("agent")
    return Imported(
        place=place,
        trajectory=conversation.builder.trajectory(),
        model=field_text(agent, ("model_name",)) if isinstance(agent, Mapping) else None,
        fields=without(record, *_APART),
        unread=conversation.builder.unread,
        usage=_usage(last.get("final_metrics")),
    )


def _read_part(
    record: Any, conversation: AtifConversation, *, continued: bool
) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise shape_error("a trajectory must be an object", record)
    version = record.get("schema_version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        found = f'"{version}"' if isinstance(version, str) else "none"
        raise ValueError(f"schema_version must be ATIF-v1.0 to ATIF-v1.8, got {found}")
    conversation.read(record.get("steps"), continued=continued)
    conversation.add_subagents(record.get("subagent_trajectories"))
    return record


def _later_parts(
    record: Mapping[str, Any], source: ForeignSource, conversation: AtifConversation
) -> Iterator[tuple[str, Any]]:
    """Return the files in which a conversation goes on; one that is missing is named in it."""
    seen = {source.path.name}
    while isinstance(name := record.get("continued_trajectory_ref"), str) and name:
        file = source.inside(name) if name not in seen and len(seen) < _MOST_PARTS else None
        found = next(file.records(), None) if file else None
        if found is None or not isinstance(found[1], Mapping):
            conversation.builder.keep_unread(CONTINUED, {"continued_trajectory_ref": name})
            return
        seen.add(name)
        yield found
        record = found[1]


def _is_part_of_another(source: ForeignSource) -> bool:
    """Say whether a file of a folder continues another one there, which is read with it."""
    name = _PART.fullmatch(source.path.name)
    if name is None or not isinstance(source, SourceFile) or not source.is_inner:
        return False
    before = f".cont-{int(name[2]) - 1}" if int(name[2]) > 1 else ""
    earlier = source.inside(f"{name[1]}{before}{name[3]}")
    records = earlier.records() if earlier else iter(())
    references = (r.get("continued_trajectory_ref") for _, r in records if isinstance(r, Mapping))
    return source.path.name in references


def _usage(metrics: Any) -> Usage | None:
    told = metrics if isinstance(metrics, Mapping) else {}
    counts = {
        "input_tokens": told.get("total_prompt_tokens"),
        "output_tokens": told.get("total_completion_tokens"),
        "cost": told.get("total_cost_usd"),
    }
    usage = read_usage(counts)
    return None if usage == Usage() else usage
