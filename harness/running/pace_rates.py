"""How many requests and tokens a minute one model is asked for: by the leaky buckets of aiolimiter.

Requests are spread evenly over the minute, so that no sixty seconds hold more than the limit says.
What a reply used is known only afterwards: it is a debt, which delays the requests that follow.
"""

import asyncio

from aiolimiter import AsyncLimiter

from harness.types.suites import Limits
from harness.types.trajectories import Usage

_MINUTE = 60.0


class Rates:
    """The rates of one model, as the limits give them."""

    def __init__(self, limits: Limits) -> None:
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        self._requests = AsyncLimiter(1, _MINUTE / requests) if requests else None
        self._tokens = AsyncLimiter(tokens / _MINUTE, 1) if tokens else None
        self._debt = 0.0
        self._paying = asyncio.Lock()

    def owe(self, usage: Usage) -> None:
        """Take what a reply used; what is unknown delays nobody."""
        if self._tokens is not None:
            self._debt += (usage.input_tokens or 0) + (usage.output_tokens or 0)

    async def turn(self) -> None:
        """Wait until one more request may be sent."""
        if self._tokens is not None:
            async with self._paying:
                await self._pay(self._tokens)
        if self._requests is not None:
            await self._requests.acquire()

    async def _pay(self, tokens: AsyncLimiter) -> None:
        while self._debt > 0:
            part = min(self._debt, tokens.max_rate)
            await tokens.acquire(part)
            self._debt -= part
