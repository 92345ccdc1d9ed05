"""How many trials of one model may be in flight: half as many at each refusal, then more again.

The window follows TCP's congestion control (RFC 5681): additive increase, multiplicative decrease.
"""

import asyncio
from collections import deque
from collections.abc import Callable


def _unheard(_window: int) -> None:
    """Hear nothing."""


class Window:
    """The places of one model; `changed` hears of each new number of them.

    It begins with all places open. `halvings` counts how often it was halved.
    """

    def __init__(self, places: int, changed: Callable[[int], None] = _unheard) -> None:
        self._most = places
        self._open = float(places)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._changed = changed
        self.halvings = 0

    @property
    def size(self) -> int:
        """Return how many places there are now: 1 at least."""
        return int(self._open)

    @property
    def has_room(self) -> bool:
        """Say whether a place is free, and nobody waits for it."""
        return self._taken + 1 <= self._open and not self._waiting

    def take_now(self) -> bool:
        """Take a place where one is free; say whether that was so."""
        if self._taken + 1 <= self._open and not self._waiting:
            self._taken += 1
            return True
        return False

    async def take(self) -> None:
        """Wait for a place and take it; who came first is first."""
        if self.take_now():
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # The place was given at the very moment.
                self.leave()
            raise

    def leave(self) -> None:
        """Give a place back."""
        self._taken -= 1
        if self._waiting:
            self._fill()

    def refused(self, halvings: int) -> None:
        """Halve the window for a request that was refused.

        `halvings` is how many there had been when it was sent: what the endpoint says of requests
        from before the last halving is no news.
        """
        if halvings != self.halvings:
            return
        self.halvings += 1
        self._resize(max(self._open / 2, 1.0))

    def answered(self) -> None:
        """Widen the window by a place for as many answers as it has places."""
        if self._open < self._most:
            self._resize(min(self._open + 1 / self._open, float(self._most)))

    def _resize(self, size: float) -> None:
        before, self._open = self.size, size
        if self.size != before:
            self._changed(self.size)
            self._fill()

    def _fill(self) -> None:
        while self._waiting and self._taken + 1 <= self._open:
            place = self._waiting.popleft()
            if not place.done():
                self._taken += 1
                place.set_result(None)
