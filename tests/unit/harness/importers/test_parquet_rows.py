"""Tables as sources."""

import json
import math
import sys
from datetime import UTC, datetime

import pytest
from fakes.record_files import chat
from pyarrow import Table, parquet

from harness.importers.catalogue import IMPORTERS
from harness.importers.format_finding import find_format, read_source
from harness.importers.source_files import open_source
from harness.types.errors import InputError


@pytest.fixture
def table(tmp_path):
    def write(rows, **options):
        path = tmp_path / "rows.parquet"
        parquet.write_table(Table.from_pylist(rows, **options), path)
        return open_source(path)

    return write


def test_rows_are_records_whether_messages_are_objects_or_text(table):
    messages = chat(value="K41")["messages"]
    rows = [
        {"id": "a", "model": "x", "messages": messages},
        {"id": "b", "model": "x", "messages": messages},
    ]
    as_text = [{**row, "messages": json.dumps(row["messages"])} for row in rows]
    for written in (rows, as_text):
        source = table(written)
        assert find_format(source, IMPORTERS)[0] == "openai-chat"
        records = list(read_source(source, IMPORTERS))
        assert [record.sample_id for record in records] == ["a", "b"]
        assert [record.place.rpartition(":")[2] for record in records] == ["1", "2"]
        assert len(list(records[0].trajectory.events())) == 4


def test_cells_become_json(table):
    at = datetime(2031, 2, 3, tzinfo=UTC)
    row = {"at": at, "raw": b"ab\xff", "text": "[1]", "score": math.nan, "n": {"a": None, "b": 1}}
    ((_, record),) = table([row]).values()
    assert record == {
        "at": "2031-02-03 00:00:00+00:00",
        "raw": "ab�",
        "text": "[1]",
        "score": None,
        "n": {"b": 1},
    }


def test_json_that_a_tool_returned_stays_the_text_that_it_is(table):
    messages = [{"role": "tool", "tool_call_id": "c1", "content": '{"a": [1]}'}]
    for cell in (messages, json.dumps(messages)):
        ((_, record),) = table([{"messages": cell}]).values()
        assert record["messages"][0]["content"] == '{"a": [1]}'


def test_an_empty_conversation_is_one(table):
    ((_, record),) = table([{"id": "a", "messages": "[]"}]).values()
    assert record == {"id": "a", "messages": []}


def test_a_damaged_table_is_one_line(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="no Parquet that can be read") as caught:
        list(open_source(tmp_path / "x.parquet").values())
    assert "\n" not in str(caught.value)


def test_without_pyarrow_the_extra_is_named(table, monkeypatch):
    source = table([{"a": 1}])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'regrade\[parquet\]'"):
        list(source.values())
