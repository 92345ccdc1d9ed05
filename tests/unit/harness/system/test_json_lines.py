import pytest

from harness.system.json_lines import records_on


@pytest.mark.parametrize(
    ("line", "records"),
    [
        ("", []),
        ("  ", []),
        ('{"a":1}', [{"a": 1}]),
        ('{"a":1}{"b":2} {"c":3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"a":1} {"b', [{"a": 1}, '{"b']),
        ('note {"a":1}', ['note {"a":1}']),
        ("[1]", ["[1]"]),
        ("3", ["3"]),
        ('{"a":NaN}', ['{"a":NaN}']),
        ('{"a":1e999}', ['{"a":1e999}']),
        ('{"a":"\\ud800"}', [{"a": "\ufffd"}]),
        ('{"a":' + "[" * 100_000, ['{"a":' + "[" * 100_000]),
        ('{"a":' * 300 + "1" + "}" * 300, ['{"a":' * 300 + "1" + "}" * 300]),
        ("9" * 10_000, ["9" * 10_000]),
    ],
)
def test_objects_are_read_one_by_one_and_what_is_none_stays_text(line, records):
    assert list(records_on(line)) == records
