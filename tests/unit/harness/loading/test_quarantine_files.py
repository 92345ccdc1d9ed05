from datetime import date

import pytest

from harness.loading.quarantine_files import read_quarantine, write_quarantine
from harness.types.errors import SuiteError
from harness.types.quarantines import QuarantineEntry

ENTRIES = [
    QuarantineEntry(
        sample="train-7: ünïcode #1",
        model="openai/gpt",
        since=date(2031, 5, 4),
        ends=date(2031, 5, 18),
        key="0123456789012345",
        reason="two answers\nare right",
    ),
    QuarantineEntry(sample="007", since=date(2031, 5, 4), ends=date(2031, 5, 18)),
]


def test_what_is_written_is_what_is_read(tmp_path):
    path = tmp_path / "quarantine.yaml"
    write_quarantine(path, ENTRIES)
    assert list(read_quarantine(path)) == ENTRIES


def test_without_a_file_or_an_entry_nothing_is_quarantined(tmp_path):
    path = tmp_path / "quarantine.yaml"
    assert read_quarantine(path) == ()
    write_quarantine(path, [])
    assert read_quarantine(path) == ()


def test_dates_are_written_as_anyone_would(tmp_path):
    path = tmp_path / "quarantine.yaml"
    text = "quarantine:\n- {sample: 7, since: 2031-05-04, ends: 2031-05-18}\n"
    path.write_text(text, encoding="utf-8")
    assert [one.sample for one in read_quarantine(path)] == ["7"]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("quarantine:\n- sample: a\n  ends: 2031-05-18\n", 2, '"since" is missing'),
        (
            "quarantine:\n- {sample: a, since: soon, ends: 2031-05-18}\n",
            2,
            "date",
        ),
        (
            "quarantine:\n- {sample: a, since: 2031-05-04, ends: 2031-05-18, why: x}\n",
            2,
            'unknown key "why"',
        ),
        ("quarantine: a\n", 1, "found"),
        ("- a\n", 1, "found"),
        ("quarantine: [\n", 2, ""),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, text, line, problem):
    path = tmp_path / "quarantine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        read_quarantine(path)
    fault = caught.value.faults[0]
    assert fault.file == path.as_posix()
    assert fault.line == line
    assert problem in str(fault)
