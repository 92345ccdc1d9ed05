"""Rows of failures: what turned once, and what of it speaks for a regression."""

import pytest

from harness.measuring.failing_rows import failing_row, turned_on

P, F, BOTH, NONE = (1, 0), (0, 1), (1, 1), (0, 0)


@pytest.mark.parametrize(
    ("nights", "turned"),
    [
        ([P, P, F, F], 2),
        ([F, P, P], 1),
        ([P, NONE, NONE, F], 3),
        ([NONE, P, F, NONE], 2),
        ([P, P], None),
        ([P, F, P], None),
        ([P, P, BOTH], None),
        ([NONE], None),
        ([], None),
    ],
)
def test_a_sample_turns_where_all_before_ended_one_way_and_all_since_the_other(nights, turned):
    assert turned_on(nights) == turned


@pytest.mark.parametrize(
    ("nights", "common", "row"),
    [
        ([P] * 6 + [F], (), (6, (6, 6), (0, 1))),
        ([P, F, P, P, P, P, F, F, F, F], (), (6, (5, 6), (0, 4))),
        ([P] * 6 + [F] * 3 + [P] + [F] * 3, (6,), (6, (6, 6), (1, 7))),
        ([P] * 6 + [F] * 3 + [P] + [F], (), None),
        ([P, F] * 6, (6,), None),
        ([F, F, P, P], (), None),
        ([F] * 9, (3,), None),
        ([P] * 9, (3,), None),
        ([], (), None),
    ],
)
def test_failures_speak_for_a_regression_after_passes_alone_or_almost(nights, common, row):
    assert failing_row(nights, common) == row
