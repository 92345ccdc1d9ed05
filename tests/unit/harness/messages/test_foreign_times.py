from datetime import UTC, datetime

import pytest

from harness.messages.foreign_times import read_time

AT = datetime(2031, 1, 24, 5, 46, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "per_second"),
    [
        (1927000000, 1),
        (1927000000.0, 1),
        ("1927000000", 1),
        (1927000000 * 10**9, 10**9),
        (str(1927000000 * 10**9), 10**9),
        ("2031-01-24T05:46:40Z", 1),
        ("2031-01-24T05:46:40", 10**9),
        ("2031-01-24T07:46:40+02:00", 1),
    ],
)
def test_a_time_is_read_however_it_is_counted(value, per_second):
    assert read_time(value, per_second=per_second) == AT


@pytest.mark.parametrize("value", [None, True, -1, 10**12, "soon", "9" * 40, "²", "", [], {}])
def test_what_is_no_time_is_none(value):
    assert read_time(value) is None
