import pytest
from fakes.foreign_records import FOREIGN, find_foreign, read_foreign, read_one, rows

from harness.types.errors import InputError

FILES = FOREIGN / "mcp"


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_the_format_are_told_by_their_shape(path):
    assert find_foreign(path) == "mcp"


def test_a_result_counts_once_and_holds_what_stands_behind_its_text_unless_the_text_does():
    records = read_foreign(FILES / "results.jsonl")
    assert [rows(record) for record in records] == [
        [("result", None, None, 'Two crates.\n[{"id":"1"},{"id":"2"}]')],
        [("result", None, None, '{"weight": 12}')],
        [("failed", None, None, "no scale")],
    ]


def test_a_content_is_one_block_or_a_list_and_results_name_their_call_in_camel_case():
    record = read_one(FILES / "request.json")
    assert rows(record) == [
        ("system", "system", "Be brief."),
        ("user", "Which crate is heavier?"),
        ("call", "c1", "weigh", {"crate": "A"}),
        ("result", "c1", "weigh", '12 kg\n{"kg":12}'),
    ]
    assert record.unread == {}


def test_a_block_alone_is_no_result():
    assert rows(read_one(FILES / "picture.json")) == [("system", "image", "")]


def test_a_log_is_one_conversation_in_which_answers_find_their_calls():
    record = read_one(FILES / "log.jsonl")
    assert rows(record) == [
        ("system", "tools/list", ""),
        ("system", "response", ""),
        ("call", "1", "weigh", {"crate": "A"}),
        ("call", "2", "weigh", {}),
        ("system", "notifications/progress", ""),
        ("failed", "2", "weigh", "crate is missing"),
        ("result", "1", "weigh", "12 kg"),
        ("system", "tools/call", ""),
    ]
    assert record.unread == {"tools/call": 1}


@pytest.mark.parametrize("text", ["3", '{"a": 1}', '{"content": "x"}', '[{"type": "text"}]'])
def test_a_record_of_another_kind_is_refused_with_its_place(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json"):
        read_foreign(path, "mcp")
