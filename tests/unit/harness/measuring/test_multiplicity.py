"""P values adjusted for being several, at the edges."""

import pytest

from harness.measuring.multiplicity import benjamini_hochberg, holm


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_none_stays_none_and_one_stays_itself(adjust):
    assert adjust([]) == []
    assert adjust([0.03]) == [0.03]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_equal_p_values_stay_equal_and_none_passes_1(adjust):
    assert len(set(adjust([0.2, 0.2, 0.2]))) == 1
    assert max(adjust([0.9, 1.0, 0.4])) == 1.0


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_adjusted_p_values_come_back_in_the_order_given(adjust):
    low, high, middle = adjust([0.001, 0.9, 0.02])
    assert low < middle < high
