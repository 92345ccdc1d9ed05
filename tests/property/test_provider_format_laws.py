"""Laws of the formats of model APIs and agent libraries: any file is read or refused."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property.strategies import foreign_json, mutated

from harness.messages.library_answers import read_library_answer
from harness.types.errors import InputError
from harness.types.events import SystemEvent
from harness.types.imports import Imported
from harness.types.trajectories import Trajectory

FOLDERS = {
    name: name.replace("-", "_")
    for name in (
        "openai-responses",
        "openai-chat",
        "openai-agents",
        "anthropic",
        "langchain",
        "stream",
        "mcp",
        "pydantic-ai",
    )
}
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def load(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return [json.loads(text)]


def records_of(folder):
    paths = [p for p in sorted((FOREIGN / folder).iterdir()) if p.suffix in {".json", ".jsonl"}]
    return [record for path in paths for record in load(path)]


ANSWERS = [
    *[record["messages"] for record in records_of("langchain") if "messages" in record],
    [
        {"kind": "request", "instructions": "x", "parts": [
            {"part_kind": "user-prompt", "content": ["Hi", {"kind": "image-url", "url": "u"}]},
            {"part_kind": "tool-return", "tool_name": "a", "content": {"b": 1}},
            {"part_kind": "retry-prompt", "content": [{"type": "missing"}]},
        ]},
        {"kind": "response", "usage": {"input_tokens": 3}, "parts": [
            {"part_kind": "text", "content": "<think>a</think>b"},
            {"part_kind": "tool-call", "tool_name": "a", "args": "{}", "tool_call_id": "c"},
        ]},
    ],
    [{"role": "user", "content": "Hi"}, {"type": "function_call", "call_id": "c", "name": "a"}],
]  # fmt: skip
RECORDS = {name: records_of(folder) for name, folder in FOLDERS.items()}


def read_values(folder: Path, values, name):
    """Read a file of values by a format; None where it is refused in words."""
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    find_foreign(path)
    try:
        return read_foreign(path, name)
    except InputError as error:
        return None if path.as_posix() in str(error) else pytest.fail(str(error))


@pytest.mark.parametrize("name", FOLDERS)
@given(data=st.data())
@MANY
def test_a_changed_record_is_read_or_refused_with_its_place(name, data, tmp_path):
    values = data.draw(st.lists(mutated(RECORDS[name], foreign_json), min_size=1, max_size=3))
    for record in read_values(tmp_path, values, name) or ():
        written = msgspec.json.encode(record)
        assert msgspec.json.decode(written, type=Imported) == record
        kinds = [e.kind for e in record.trajectory.events() if isinstance(e, SystemEvent)]
        assert all(kinds.count(kind) >= count for kind, count in record.unread.items())


@pytest.mark.parametrize("name", FOLDERS)
@given(value=foreign_json)
@MANY
def test_any_json_is_read_or_refused_with_its_place(name, value, tmp_path):
    read_values(tmp_path, [value], name)


@given(answer=mutated(ANSWERS, foreign_json) | foreign_json)
def test_any_json_as_an_answer_of_a_library_is_read_or_refused_in_words(answer):
    try:
        turns = read_library_answer(answer) or ()
    except ValueError:
        return
    written = msgspec.json.encode(Trajectory(turns=turns))
    assert msgspec.json.decode(written, type=Trajectory) == Trajectory(turns=turns)
