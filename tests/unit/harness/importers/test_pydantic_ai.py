import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError

FILES = FOREIGN / "pydantic_ai"


def test_files_of_the_format_are_told_by_their_shape():
    assert find_foreign(FILES / "messages.json") == "pydantic-ai"


def test_a_list_of_requests_and_responses_is_a_conversation():
    record = read_one(FILES / "messages.json")
    assert rows(record) == [
        ("system", "instructions", "Be brief."),
        ("user", "Where is P-7?"),
        ("call", "c1", "find", {"id": "P-7"}),
        ("result", "c1", "find", '["Ulm"]'),
        ("assistant", "In Ulm."),
    ]
    assert (record.model, record.unread) == ("small-1", {})


def test_a_record_brings_its_id_and_outcomes_and_keeps_what_is_no_message():
    record = read_one(FILES / "records.jsonl", "pydantic-ai")
    assert rows(record) == [("user", "Hi"), ("assistant", "Hello."), ("system", "message", "")]
    assert (record.sample_id, record.outcomes) == ("parcel-1", {"resolved": True})
    assert record.unread == {"message": 1}


@pytest.mark.parametrize("text", ["3", '{"a": 1}', '[{"messages": 3}]'])
def test_a_record_without_messages_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json"):
        read_foreign(path, "pydantic-ai")
