"""P values adjusted for being several."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that no true "unchanged" is likely to be called changed.

    Sorted, the i-th of m becomes the running maximum of min(1, (m - i + 1) * p), i from 1; they
    come back in the order given. Ties and p = 1 stay in. Source: Holm (1979), Scand. J. Stat. 6,
    65-70.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that few of those that are called changed are not.

    Sorted, the i-th of m becomes the running minimum, from the largest down, of min(1, m / i * p);
    they come back in the order given. By hand, for scipy.stats takes most of a second to load.
    Source: Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57, 289-300.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    adjusted = [1.0] * len(p_values)
    lowest = 1.0
    for below, place in enumerate(order):
        lowest = min(lowest, len(order) / (len(order) - below) * p_values[place])
        adjusted[place] = lowest
    return adjusted
