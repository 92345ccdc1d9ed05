"""The table of what the files of a folder give: marked where something else is expected."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "importing" / "import_table.py"
ASKED = {"role": "user", "content": "Is depot 4 open?"}
CALL = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
CHAT = [
    ASKED,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "closed", "error": True},
    {"role": "assistant", "content": "No,\n it  is closed."},
]
COUNTS = {"users": 1, "calls": 1, "results": 1, "failed": 1, "final_answer": "No, it is"}


def write(folder, files, expected=None):
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    if expected is not None:
        rows = [{"file": name, "conversations": rows} for name, rows in expected.items()]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "expected.jsonl").write_text(lines, encoding="utf-8")


def run(*arguments):
    command = [sys.executable, SCRIPT, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.stderr == "" or ran.returncode == 2
    return ran.returncode, [" ".join(line.split()) for line in ran.stdout.splitlines()]


def test_a_row_tells_what_a_file_gives_and_notes_are_no_rows(tmp_path):
    write(tmp_path, {"chat/a.json": CHAT, "README.md": "# A note"})
    code, lines = run(tmp_path)
    assert code == 0
    assert lines[1:] == ["chat/a.json openai-chat 1 1 1 1 No, it is closed."]


def test_files_that_give_what_is_expected_end_well(tmp_path):
    write(tmp_path, {"a.json": CHAT}, {"a.json": [COUNTS]})
    code, lines = run(tmp_path)
    assert (code, lines[-1]) == (0, "1 of 1 files are as expected")


@pytest.mark.parametrize(
    ("files", "expected", "told"),
    [
        ({"a.json": CHAT}, [{**COUNTS, "calls": 2}], "conversation 1: calls is 1; expected 2"),
        ({"a.json": CHAT}, [None], "conversation 1: there is one; expected there is none"),
        ({"a.json": CHAT}, [COUNTS, COUNTS], "conversation 2: there is none; expected there is"),
        ({"a.json": CHAT}, [{**COUNTS, "final_answer": "It"}], "final_answer is 'No, it is closed"),
        ({"a.json": {"a": 1}}, [COUNTS], "no format is known that looks like this"),
        ({"a.json": '{"a": '}, [COUNTS], "line 1: this is no JSON"),
        ({"a.json": CHAT, "b.json": CHAT}, [COUNTS], "b.json: nothing is expected of this file"),
        ({}, [COUNTS], "a.json: expected, and not there"),
    ],
)
def test_what_differs_is_marked_and_named(files, expected, told, tmp_path):
    write(tmp_path, files, {"a.json": expected})
    code, lines = run(tmp_path)
    assert code == 1
    assert told in " ".join(lines)
    assert any(line.startswith("x ") for line in lines) == bool(files)


def test_texts_of_records_cannot_write_to_the_terminal(tmp_path):
    hostile = [ASKED, {"role": "assistant", "content": "[red]\x1b[31m no"}]
    write(tmp_path, {"a.json": hostile})
    code, lines = run(tmp_path)
    assert code == 0
    assert lines[1].endswith(r"[red]\x1b[31m no")


def test_without_a_folder_the_usage_is_told(tmp_path):
    assert run()[0] == run(tmp_path / "none")[0] == 2
