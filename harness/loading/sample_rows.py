"""One row, as a mapping of columns, to a Sample, or to everything that is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.documents.nodes import describe_value
from harness.system.suggestions import find_close
from harness.types.samples import Sample

IDS = ("sample_id", "id")
INPUTS = ("input", "prompt")
TRUTHS = ("ground_truth", "ideal")
MAPPINGS = ("metadata", "extra_vars", "agent_args", "rubric_vars")
COLUMNS = frozenset(
    {
        *(*IDS, *INPUTS, *TRUTHS, *MAPPINGS, "tags", "history", "graders", "sessions"),
        *("rubric", "rubric_path"),
    }
)
IN_METADATA = frozenset({"extra_vars", "agent_args", "rubric_vars"})
"""Columns that may stand inside of the metadata too."""

_VERY_CLOSE = 0.85
_SESSIONS = "a list of sessions, each a text or a list of texts: one a user turn"
_ROLES = ("system", "developer", "user", "assistant", "tool")

ColumnFault = tuple[str, str, str]
"""What is wrong with a row: column, problem, what is allowed."""


@dataclass(frozen=True, slots=True)
class Written:
    """A number of a row as it was written, such as `1.10`."""

    text: str

    def __str__(self) -> str:
        """Return it as it was written."""
        return self.text


@dataclass(slots=True)
class Row:
    """A row while it is read: its columns, those already used, and what is wrong with it."""

    columns: Mapping[str, Any]
    used: set[str] = field(default_factory=set)
    problems: list[ColumnFault] = field(default_factory=list)

    def take(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """Return the first of the names that has a value, with it; the last name where none has."""
        for name in names:
            if self.columns.get(name) is not None:
                self.used.add(name)
                return name, self.columns[name]
        self.used.update(names)
        return names[-1] if names[-1] in self.columns else names[0], None

    def fault(self, column: str, problem: str, allowed: str = "") -> None:
        """Add what is wrong with a column."""
        self.problems.append((column, problem, allowed))


class ReadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row that was read.

    `sample` is None where `problems` says why. `id_is_text` is False for an id that was written
    as a number or truth value. `graders` is the column of that name, yet to be bound, and
    `rubric_path` names a file, yet to be read.
    """

    sample: Sample | None
    id_is_text: bool
    problems: tuple[ColumnFault, ...] = ()
    graders: Any = None
    rubric_path: str | None = None


def as_text(value: Any) -> str | None:
    """Return a number or truth value as it was written; None for everything else."""
    if isinstance(value, Written):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else None


def read_row(columns: Mapping[str, Any], index: int) -> ReadRow:
    """Read a row; without an id it is called by its 0-based index among the samples.

    Numbers of `id` and `ground_truth` that are not whole come as `Written`.
    """
    row = Row(columns)
    sample_id, id_is_text = _id(row, index)
    prompt, sessions = _conversation(row)
    truth = _truth(row, prompt)
    tags = _tags(row)
    history = _history(row)
    rubric, rubric_path = _rubric(row)
    mappings = _mappings(row)
    if row.problems:
        return ReadRow(sample=None, id_is_text=id_is_text, problems=tuple(row.problems))
    sample = Sample(
        id=sample_id,
        input=prompt,
        ground_truth=truth,
        tags=tags,
        metadata=mappings["metadata"],
        extra_vars=mappings["extra_vars"],
        agent_args=mappings["agent_args"],
        rubric_vars=mappings["rubric_vars"],
        history=history,
        sessions=sessions,
        rubric=rubric,
    )
    return ReadRow(
        sample=sample,
        id_is_text=id_is_text,
        graders=columns.get("graders"),
        rubric_path=rubric_path,
    )


def _id(row: Row, index: int) -> tuple[str, bool]:
    name, value = row.take(IDS)
    if value is None:
        return str(index), True
    if isinstance(value, str):
        if not value:
            row.fault(name, "the id is empty", "a text, or leave it out")
        return value, True
    text = as_text(value)
    if text is None:
        row.fault(name, f"found {describe_value(value)}", "a text or a number")
    return text or "", False


def _conversation(row: Row) -> tuple[str | tuple[str, ...], tuple[int, ...]]:
    """Return what the user says, and the number of turns in each session, where there are some."""
    _, sessions = row.take(("sessions",))
    has_input = row.take(INPUTS)[1] is not None
    if sessions is None or (sessions == [] and has_input):
        return _input(row), ()
    if has_input:
        row.fault("sessions", "is given beside the input", "one of the two")
        return "", ()
    if not isinstance(sessions, list) or not sessions:
        row.fault("sessions", f"found {describe_value(sessions)}", _SESSIONS)
        return "", ()
    turns = [[one] if isinstance(one, str) else one for one in sessions]
    for index, texts in enumerate(turns):
        if not (isinstance(texts, list) and texts and all(isinstance(t, str) and t for t in texts)):
            found = f"session {index} is {describe_value(sessions[index])}"
            row.fault("sessions", found, _SESSIONS)
            return "", ()
    return tuple(text for texts in turns for text in texts), tuple(map(len, turns))


def _input(row: Row) -> str | tuple[str, ...]:
    name, value = row.take(INPUTS)
    if value in ("", []) and row.columns.get(INPUTS[-1]) is not None:
        # An empty `input` counts as none where there is a `prompt`, as in letta-evals.
        name, value = row.take(INPUTS[1:])
    if value is None:
        problem = "is null" if any(key in row.columns for key in INPUTS) else "is missing"
        row.fault(name, f'"{name}" {problem}', "a text, or a list of texts: one a user turn")
        return ""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(turn, str) and turn for turn in value):
        return tuple(value)
    row.fault(name, _about_input(name, value), "a text, or a list of texts: one a user turn")
    return ""


def _about_input(name: str, value: Any) -> str:
    if isinstance(value, list) and value:
        index = next(i for i, turn in enumerate(value) if not (isinstance(turn, str) and turn))
        turn = value[index]
        return f"turn {index} is empty" if turn == "" else f"turn {index} is {describe_value(turn)}"
    return f'"{name}" is empty' if value in ("", []) else f"found {describe_value(value)}"


def _truth(row: Row, prompt: str | tuple[str, ...]) -> str | tuple[str, ...] | None:
    name, value = row.take(TRUTHS)
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        text = as_text(value)
        if text is None:
            row.fault(
                name, f"found {describe_value(value)}", "a text, or a list of texts: one a turn"
            )
        return text
    return _truths(row, name, value, prompt)


def _truths(
    row: Row, name: str, value: list[Any], prompt: str | tuple[str, ...]
) -> tuple[str, ...] | None:
    texts = [one if isinstance(one, str) else as_text(one) for one in value]
    if None in texts:
        index = texts.index(None)
        row.fault(name, f"turn {index} is {describe_value(value[index])}", "a text")
        return None
    if isinstance(prompt, str):
        if not row.problems:
            row.fault(name, "is a list, but the input is one text", "a list for each, or none")
        return None
    if len(texts) != len(prompt):
        problem = f"has {len(texts)} texts for the {len(prompt)} turns of the input"
        row.fault(name, problem, "one text a turn")
    return tuple(text for text in texts if text is not None)


def _tags(row: Row) -> tuple[str, ...]:
    _, value = row.take(("tags",))
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(tag, str) for tag in value):
        return tuple(value)
    row.fault("tags", f"found {describe_value(value)}", "a list of texts")
    return ()


def _history(row: Row) -> tuple[dict[str, Any], ...]:
    _, value = row.take(("history",))
    if value is None:
        return ()
    if not isinstance(value, list):
        row.fault("history", f"found {describe_value(value)}", "a list of chat messages")
        return ()
    for index, message in enumerate(value):
        problem = _about_message(message)
        if problem:
            row.fault(f"history[{index}]", *problem)
    return tuple(value)


def _about_message(message: Any) -> tuple[str, str] | None:
    if not isinstance(message, dict):
        return f"found {describe_value(message)}", "a mapping with role and content"
    role = message.get("role")
    if role not in _ROLES:
        problem = '"role" is missing' if role is None else f"the role is {describe_value(role)}"
        return problem, f"allowed: {', '.join(_ROLES)}"
    content = message.get("content")
    if content is None and not (role == "assistant" and message.get("tool_calls")):
        return '"content" is missing', "a text, or a list of content parts"
    if content is not None and not isinstance(content, str | list):
        return f"the content is {describe_value(content)}", "a text, or a list of content parts"
    return None


def _rubric(row: Row) -> tuple[str | None, str | None]:
    """Return the rubric of a row, or the path of the file that holds it."""
    given = {name: row.take((name,))[1] for name in ("rubric", "rubric_path")}
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            row.fault(name, f"found {describe_value(value)}", "a text")
            return None, None
    if given["rubric"] is not None and given["rubric_path"] is not None:
        row.fault("rubric_path", "is given beside the rubric", "one of the two")
    return given["rubric"], given["rubric_path"]


def _mappings(row: Row) -> dict[str, dict[str, Any]]:
    taken = {name: _mapping(row, name) for name in MAPPINGS}
    metadata = taken["metadata"]
    for name in IN_METADATA:
        # Rows written for other harnesses keep these inside of metadata.
        inner = metadata.get(name)
        if row.columns.get(name) is None and isinstance(inner, dict):
            taken[name] = inner
    row.used.add("graders")
    further = {key: value for key, value in row.columns.items() if key not in row.used}
    for key in further.keys() & metadata.keys():
        row.fault(key, f'"{key}" is both a column and a key of metadata', "one of the two")
    if further:
        taken["metadata"] = {**metadata, **further}
    return taken


def _mapping(row: Row, name: str) -> dict[str, Any]:
    _, value = row.take((name,))
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    row.fault(name, f"found {describe_value(value)}", "a mapping")
    return {}


def misspelt(columns: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (column, known column) for columns that look like one that the row does not have."""
    absent = _absent(columns)
    further = [name for name in columns if name not in COLUMNS]
    near = ((name, find_close(name, absent, cutoff=_VERY_CLOSE)) for name in further)
    return [(name, close) for name, close in near if close]


def _absent(columns: Mapping[str, Any]) -> list[str]:
    groups = (IDS, INPUTS, TRUTHS)
    single = [name for name in COLUMNS if not any(name in group for group in groups)]
    absent = [name for name in single if name not in columns]
    for group in groups:
        if not any(name in columns for name in group):
            absent.extend(group)
    return absent
