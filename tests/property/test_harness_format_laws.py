"""Laws of the formats of benchmarks, agents and traces: any file is read or refused."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property.strategies import foreign_json, mutated

from harness.types.errors import InputError
from harness.types.events import SystemEvent
from harness.types.imports import Imported

FOLDERS = {
    name: name.replace("-", "_")
    for name in ("tau", "swe-agent", "claude-code", "codex", "openhands", "otel")
}
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def load(path: Path):
    """Read the values of a file; a line that is none is left out."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".jsonl":
        return [json.loads(text)]
    return [json.loads(line) for line in text.splitlines() if line.strip().endswith(("}", "]"))]


FILES = {
    name: [load(path) for path in sorted((FOREIGN / folder).rglob("*.*")) if path.suffix != ".txt"]
    for name, folder in FOLDERS.items()
}


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
def test_a_changed_file_is_read_or_refused_with_its_place(name, data, tmp_path):
    values = data.draw(mutated(FILES[name], foreign_json))
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
