"""What a trial took: time, money, tokens, steps and calls; little is good."""

from collections.abc import Iterator

from harness.types.trials import Outcome

_MOST = 1e15
_MOST_USD = 1e9
"""What claims to be more, or below 0, is not believed: it is unknown."""


def amounts_of(outcome: Outcome) -> Iterator[tuple[str, float]]:
    """Return what is known of what a trial took, by the keys of `AMOUNTS`.

    Tokens are those in and out together.
    """
    usage = outcome.usage
    tokens = usage.input_tokens
    if usage.output_tokens is not None:
        tokens = usage.output_tokens + (tokens or 0)
    found = (
        # No trial takes no time: a record of another tool does not say.
        ("seconds", outcome.seconds or None, _MOST),
        ("cost_usd", usage.cost_usd, _MOST_USD),
        ("tokens", tokens, _MOST),
        ("steps", outcome.steps, _MOST),
        ("tool_calls", outcome.tool_calls, _MOST),
    )
    return ((n, value) for n, value, most in found if value is not None and 0 <= value <= most)
