"""Values by trial: all, some, and by sample."""

import pytest

from harness.measuring.trial_columns import TrialColumn, Values


def column(cells, width="d"):
    """Make a column of (row, value) pairs."""
    made = TrialColumn(width)
    for row, value in cells:
        made.add(row, value)
    return made


@pytest.mark.parametrize(
    ("cells", "rows", "found"),
    [
        ([(0, 1.0), (1, 2.0), (2, 3.0)], None, [1.0, 2.0, 3.0]),
        ([(0, 1.0), (1, 2.0), (2, 3.0)], [0, 2], [1.0, 3.0]),
        ([(0, 1.0), (1, 2.0)], [1, 2, 5], [2.0]),
        ([(0, 1.0), (2, 2.0), (7, 3.0)], None, [1.0, 2.0, 3.0]),
        ([(0, 1.0), (2, 2.0), (7, 3.0)], [1, 2, 7, 8], [2.0, 3.0]),
        ([(4, 1.0)], [0, 4], [1.0]),
        ([], [0], []),
        ([(0, 1.0)], [], []),
    ],
)
def test_the_values_of_some_trials_are_found_whether_or_not_all_have_one(cells, rows, found):
    values = Values(column(cells), None, rows)
    assert list(values.each()) == found
    assert len(values) == len(found)


def test_a_trial_without_a_value_takes_the_worst_one():
    values = Values(column([(0, None), (1, 0.5)]), None)
    assert list(values.each(worst=1.0)) == [1.0, 0.5]
    assert list(values.means()) == [0.0, 0.5]


def test_means_and_passes_are_those_of_each_sample():
    cells = [(0, 1), (1, 0), (2, 1), (4, 1), (5, None)]
    values = Values(column(cells, "b"), samples=[7, 7, 8, 8, 8, 9])
    assert list(values.means()) == [0.0, 0.5, 1.0]
    assert values.passes() == {(0, 1): 1, (1, 2): 1, (2, 2): 1}
    assert Values(values.column, values.samples, [2, 3]).passes() == {(1, 1): 1}
    assert Values(values.column, None).passes() == {(0, 1): 2, (1, 1): 3}


def test_values_that_reach_a_bound_count_one():
    values = Values(column([(0, 0.2), (1, 0.6), (2, 0.8)]), samples=[0, 0, 1])
    assert values.passes(reaching=0.6) == {(1, 2): 1, (1, 1): 1}
