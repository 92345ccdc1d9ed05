"""How many of so many successes come."""

from harness.measuring.lattice_sums import Lattice, lattice, sum_of


def binomial(count: int, chance: float) -> Lattice:
    """Return the distribution of successes in `count` >= 0 tries, each with a chance in 0..1."""
    return sum_of([(lattice(0, [1 - chance, chance]), count)])


def poisson_binomial(chances: dict[float, int]) -> Lattice:
    """Return the distribution of successes where so many tries have each chance in 0..1."""
    return sum_of((lattice(0, [1 - q, q]), count) for q, count in sorted(chances.items()))
