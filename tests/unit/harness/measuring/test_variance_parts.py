"""How much of the spread lies within samples."""

from harness.measuring.variance_parts import variance_parts


def test_where_nothing_varies_there_is_no_share():
    parts = variance_parts([3, 3, 3], 3)
    assert (parts.within, parts.between, parts.correlation, parts.design_effect) == (
        0,
        0,
        None,
        None,
    )


def test_samples_that_are_all_alike_vary_within_alone():
    parts = variance_parts([1, 2, 1, 2], 3)
    assert parts.between == 0
    assert parts.design_effect == 1


def test_samples_that_never_disagree_with_themselves_are_worth_one_trial_each():
    parts = variance_parts([3, 0, 3, 0], 3)
    assert (parts.within, parts.correlation, parts.design_effect) == (0, 1, 3)
