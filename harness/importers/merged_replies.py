"""A reply that stands in one record with the messages it answers: it follows them, once."""

from collections.abc import Mapping, Sequence
from typing import Any


def followed_by(messages: Sequence[Any], reply: Mapping[str, Any], *told: str) -> list[Any]:
    """Return the messages with the reply behind them.

    Where the last message is the reply already, by its role and the fields that are `told`, the
    reply takes its place: it has the numbers.
    """
    last = messages[-1] if messages else None
    is_there = isinstance(last, Mapping) and all(
        last.get(name) == reply.get(name) for name in ("role", *told)
    )
    return [*(messages[:-1] if is_there else messages), reply]
