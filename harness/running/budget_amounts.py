"""Amounts of money and tokens, and how they are shown."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.system.numbers import reaches
from harness.types.suites import Limits
from harness.types.trajectories import Usage

_ENDED = " ended the run: "


class Amount(NamedTuple):
    """US dollars and tokens."""

    usd: float = 0.0
    tokens: int = 0

    def plus(self, other: "Amount") -> "Amount":
        """Return the sum."""
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def most(self, other: "Amount") -> "Amount":
        """Return the larger of each."""
        return Amount(max(self.usd, other.usd), max(self.tokens, other.tokens))

    def times(self, number: int) -> "Amount":
        """Return so many of it."""
        return Amount(self.usd * number, self.tokens * number)

    def less(self, other: "Amount") -> "Amount":
        """Return what is left of it; 0 at least."""
        return Amount(max(self.usd - other.usd, 0.0), max(self.tokens - other.tokens, 0))


def known_amount(usage: Usage) -> Amount:
    """Return what is known of a usage; what is not counts nothing."""
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return Amount(usage.cost_usd or 0.0, tokens)


def says_enough(usage: Usage, limits: Limits) -> bool:
    """Say whether a usage tells what the limits of money and tokens need."""
    if limits.max_cost_usd is not None and usage.cost_usd is None:
        return False
    return limits.max_tokens is None or usage.output_tokens is not None


def is_limited(limits: Limits) -> bool:
    """Say whether a run may spend only so much."""
    return limits.max_cost_usd is not None or limits.max_tokens is not None


def fits(amount: Amount, limits: Limits) -> bool:
    """Say whether an amount is within the limits."""
    usd, tokens = limits.max_cost_usd, limits.max_tokens
    in_money = usd is None or reaches(usd, amount.usd)
    return in_money and (tokens is None or amount.tokens <= tokens)


def beyond(amount: Amount, limits: Limits) -> Amount:
    """Return by how much an amount is over the limits; what rounding adds is nothing."""
    if fits(amount, limits):
        return Amount()
    usd, tokens = limits.max_cost_usd, limits.max_tokens
    allowed = Amount(
        amount.usd if usd is None else usd, amount.tokens if tokens is None else tokens
    )
    return amount.less(allowed)


def shown(amount: Amount, limits: Limits) -> str:
    """Say an amount, as far as it is limited."""
    usd = [] if limits.max_cost_usd is None else [f"${amount.usd:,.4f}"]
    tokens = [] if limits.max_tokens is None else [f"{amount.tokens:,} tokens"]
    return " and ".join([*usd, *tokens])


def limits_shown(limits: Limits) -> str:
    """Name the limits of money and tokens."""
    numbers = {"max_cost_usd": limits.max_cost_usd, "max_tokens": limits.max_tokens}
    return " and ".join(f"limits.{n} {value:,}" for n, value in numbers.items() if value)


def ended_by(limits: Limits) -> str:
    """Return how the reason begins by which limits of money and tokens ended a run."""
    return f"{limits_shown(limits)}{_ENDED}"


def limits_that_ended(reasons: Iterable[str]) -> Iterator[str]:
    """Name the limits that ended a run, from the reasons by which it is incomplete."""
    for reason in reasons:
        limits, ended, _ = reason.partition(_ENDED)
        if ended and limits.startswith("limits."):
            yield limits


def spending_rule(limits: Limits) -> str:
    """Say before a run how its limits are kept, and by how much it can pass them."""
    trials = "1 trial" if limits.concurrency == 1 else f"{limits.concurrency} trials"
    return (
        f"{limits_shown(limits)}: no trial starts that might not fit into what is left, all its "
        "attempts counted; where that is passed all the same, a trial in flight ends before its "
        f"next request. At most {trials} are in flight, so that the run can go over by as many "
        "replies of the model (turns, where the agent makes its requests by itself)"
    )
