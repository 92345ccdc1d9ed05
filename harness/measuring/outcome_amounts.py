"""What a trial took: time, money, tokens, steps and calls; little is good."""

from harness.types.trials import Outcome

_MOST = 1e15
_MOST_USD = 1e9
"""What claims to be more, or below 0, is not believed: it is unknown."""


def amounts_of(outcome: Outcome) -> tuple[float | None, ...]:
    """Return what a trial took, in the order of `AMOUNTS`; None for what is not known.

    Tokens are those in and out together.
    """
    usage = outcome.usage
    cost, tokens, output = usage.cost_usd, usage.input_tokens, usage.output_tokens
    if output is not None:
        tokens = output + (tokens or 0)
    return (
        # No trial takes no time: a record of another tool does not say.
        outcome.seconds if 0 < outcome.seconds <= _MOST else None,
        cost if cost is not None and 0 <= cost <= _MOST_USD else None,
        tokens if tokens is not None and 0 <= tokens <= _MOST else None,
        outcome.steps,
        outcome.tool_calls,
    )
