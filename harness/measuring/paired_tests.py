"""One-sided tests of two runs: is the candidate worse, or better, than chance explains?"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from harness.measuring.lattice_sums import Lattice, coin_flips, lattice, sum_of
from harness.measuring.paired_differences import Spread
from harness.measuring.paired_outcomes import Pairs

_FINEST = 10_000
"""Differences are taken for fractions with denominators up to this."""

_MOST_CELLS = 4_000_000
_DECIMALS = 10
_RESAMPLES = 99_999
_MOST_DRAWN = 200_000_000


@dataclass(frozen=True, slots=True)
class ExactP:
    """One-sided p values of an exact test, in 0..1.

    `regress` is the chance of a result as bad as that seen or worse, had nothing changed,
    `improve` of one as good or better, `seen` of exactly this one. `least` is the smallest
    `regress` that could have come out.
    """

    regress: float
    improve: float
    seen: float
    least: float

    @property
    def two_sided(self) -> float:
        """Return twice the smaller of both, 1 at most."""
        return min(1.0, 2 * min(self.regress, self.improve))

    @property
    def mid_regress(self) -> float:
        """Return the mid-p, which counts half of what was seen; it may be listed, never decides."""
        return self.regress - self.seen / 2

    @property
    def mid_two_sided(self) -> float:
        """Return the two-sided mid-p: 2 * the smaller - the chance of what was seen.

        Where both sides are equal, 1 - half of that chance, and 1 where nothing else could be.
        Source: Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13, 91.
        """
        if self.seen >= 1:
            return 1.0
        if math.isclose(self.regress, self.improve, rel_tol=1e-12):
            return 1 - self.seen / 2
        return 2 * min(self.regress, self.improve) - self.seen


UNMOVED = ExactP(1.0, 1.0, 1.0, 1.0)
"""What every test says where no sample could move."""


def stratified_exact(pairs: Pairs) -> ExactP:
    """Test whether the passes of unchanged samples fall so on two runs by chance.

    For a fixed suite, any number of epochs, also unequal ones. Sample j has t_j passes in both
    runs together; had it not changed, the candidate's share of them is
    Hypergeometric(K_Aj + K_Bj, t_j, K_Bj). S is their sum over samples: regress = P(S <= seen),
    improve = P(S >= seen). Equals McNemar's test at one epoch, Fisher's for one sample; the exact
    conditional (Cochran-Mantel-Haenszel) test.
    """
    kinds: Counter[tuple[int, int, int]] = Counter()
    for pair, count in pairs:
        passes = round(pair.baseline_total + pair.candidate_total)
        kinds[(pair.baseline_trials, pair.candidate_trials, passes)] += count
    whole = sum_of((_passes_of_candidate(*kind), count) for kind, count in sorted(kinds.items()))
    return _tails(whole, sum(round(pair.candidate_total) * count for pair, count in pairs))


def mcnemar(regressed: int, improved: int) -> ExactP:
    """Test whether too many of the samples that changed regressed, for one trial a side.

    regress = P(Bin(r + g, 1/2) >= r). No change gives 1. Source: McNemar (1947), Psychometrika 12,
    153-157, in its exact form.
    """
    changed = regressed + improved
    return _tails(_moved(coin_flips(1, changed), changed), 2 * improved) if changed else UNMOVED


def sign_flip(pairs: Pairs, *, seed: int = 0) -> ExactP:
    """Test whether the samples' differences lean to one side, each being as likely to have either.

    For a population of samples. regress is the share of the 2^n patterns of signs with a mean <=
    the mean seen. Exact where the differences are fractions with denominators up to 10,000 (means
    over epochs are), and for 16 samples or fewer; else by up to 99,999 patterns drawn by the seed.
    """
    counted: Counter[float] = Counter()
    for pair, count in pairs:
        counted[round(pair.difference, _DECIMALS)] += count
    counted.pop(0.0, None)
    if not counted:
        return UNMOVED
    whole = _whole_numbers(counted)
    return _drawn(counted, seed) if whole is None else _flipped(whole)


def paired_t(spread: Spread) -> ExactP | None:
    """Test whether the mean difference over samples is below, or above, 0, by Student's t.

    None for fewer than two samples. All differences 0 give 1; all equal but not 0 show no spread,
    and give None too. Not exact: `seen` and `least` are 0.
    """
    if spread.samples < 2:  # noqa: PLR2004 - one difference has no spread
        return None
    if spread.error == 0:
        return UNMOVED if spread.mean == 0 else None
    from scipy.special import stdtr  # noqa: PLC0415 - it loads slowly

    t = spread.mean / spread.error
    below, above = (float(stdtr(spread.samples - 1, side)) for side in (t, -t))
    return ExactP(below, above, 0.0, 0.0)


def _passes_of_candidate(baseline: int, candidate: int, passes: int) -> Lattice:
    """Return how the passes of one sample fall on the candidate's trials."""
    first = max(0, passes - baseline)
    last = min(candidate, passes)
    ways = math.comb(baseline + candidate, candidate)
    chances = [
        math.comb(passes, b) * math.comb(baseline + candidate - passes, candidate - b) / ways
        for b in range(first, last + 1)
    ]
    return lattice(first, chances)


def _tails(whole: Lattice, seen: int) -> ExactP:
    least = float(whole.chances[0])
    return ExactP(whole.at_most(seen), whole.at_least(seen), whole.exactly(seen), least)


def _moved(whole: Lattice, by: int) -> Lattice:
    return Lattice(whole.first + by, whole.chances)


def _whole_numbers(counted: Counter[float]) -> Counter[int] | None:
    """Return the differences as whole numbers of their common step; None where that is too fine."""
    exact = {value: Fraction(value).limit_denominator(_FINEST) for value in counted}
    if any(abs(value - one) > 10**-_DECIMALS for value, one in exact.items()):
        return None
    step = math.lcm(*(one.denominator for one in exact.values()))
    if sum(abs(one) * counted[value] for value, one in exact.items()) * step > _MOST_CELLS:
        return None
    return Counter({int(one * step): counted[value] for value, one in exact.items()})


def _flipped(counted: Counter[int]) -> ExactP:
    sizes: Counter[int] = Counter()
    for value, count in counted.items():
        sizes[abs(value)] += count
    whole = sum_of((coin_flips(size, count), 1) for size, count in sorted(sizes.items()))
    return _tails(whole, sum(value * count for value, count in counted.items()))


def _drawn(counted: Counter[float], seed: int) -> ExactP:
    import numpy as np  # noqa: PLC0415 - it loads slowly
    from scipy.stats import permutation_test  # noqa: PLC0415 - it loads slowly

    values = np.array(sorted(counted.elements()))
    sides = {
        side: permutation_test(
            (values,),
            np.mean,
            permutation_type="samples",
            alternative=side,
            n_resamples=min(_RESAMPLES, _MOST_DRAWN // len(values)),
            batch=max(1, 1_000_000 // len(values)),
            rng=np.random.default_rng(seed),
        ).pvalue
        for side in ("less", "greater")
    }
    least = 0.5 ** len(values)
    regress, improve = float(sides["less"]), float(sides["greater"])
    return ExactP(regress, improve, max(regress + improve - 1, 0.0), least)
