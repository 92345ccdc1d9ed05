"""Laws of formats of whole records: any file is read, or refused with its place."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property.strategies import foreign_json, mutated

from harness.importers.source_files import open_source
from harness.types.errors import InputError
from harness.types.events import SystemEvent
from harness.types.imports import Imported

FOLDERS = {
    "letta": "letta",
    "letta-evals": "letta_evals",
    "vally": "vally",
    "atif": "atif",
    "gemini": "gemini",
    "inspect": "inspect",
}
_ONE_A_FILE = {"inspect"}
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
_SUFFIXES = {".json", ".jsonl", ".af"}


def load(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    try:
        return [value for _, value in open_source(path).values()]
    except InputError:
        return []  # what is nearly JSON is read by its format alone


def records_of(folder):
    paths = [p for p in sorted((FOREIGN / folder).rglob("*")) if p.suffix in _SUFFIXES]
    records = [record for path in paths for record in load(path)]
    return [record for record in records if isinstance(record, dict | list)]


RECORDS = {name: records_of(folder) for name, folder in FOLDERS.items()}


def read_values(folder: Path, values, name):
    """Read a file of values by a format; None where it is refused in words."""
    values = values[:1] if name in _ONE_A_FILE else values
    path = folder / ("records.json" if name in _ONE_A_FILE else "records.jsonl")
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
