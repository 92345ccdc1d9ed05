import asyncio

import pytest

from harness.system.retrying import retry
from harness.types.errors import TargetError


class Flaky:
    """Raises the errors one after the other, then gives the number of its calls."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = 0
        self.waits = []

    async def work(self):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls

    async def pause(self, seconds, error):
        self.waits.append((error.code, seconds))

    async def run(self, **options):
        options = {"may_retry": lambda error: error.policy.retried, "pause": self.pause, **options}
        return await retry(self.work, **options)


def lost(wait=None):
    return TargetError("lost", retry_after=wait)


async def test_a_success_is_returned_at_once():
    flaky = Flaky()
    assert await flaky.run() == 1
    assert flaky.waits == []


async def test_it_waits_as_long_as_it_was_asked_to():
    flaky = Flaky(lost(2.0), TargetError("busy", code="overloaded", retry_after=5.0))
    assert await flaky.run() == 3
    assert flaky.waits == [("connection_lost", 2.0), ("overloaded", 5.0)]


async def test_it_waits_a_random_time_that_grows_where_nobody_asked():
    flaky = Flaky(*(lost() for _ in range(12)))
    assert await flaky.run() == 13
    seconds = [wait for _, wait in flaky.waits]
    assert all(min(2**n, 60) <= wait <= min(2**n + 1, 60) for n, wait in enumerate(seconds))
    assert max(seconds) > 1.0


async def test_it_waits_a_little_and_then_more_where_it_was_asked_for_no_time():
    flaky = Flaky(*(lost(0.0) for _ in range(20)))
    assert await flaky.run() == 21
    seconds = [wait for _, wait in flaky.waits]
    assert seconds[0] < 0.01
    assert seconds[-1] == 10.0


@pytest.mark.parametrize("attempts", [1, 2, 5])
async def test_the_last_error_is_raised_when_the_attempts_are_used_up(attempts):
    errors = [TargetError(f"error {n}") for n in range(1, 9)]
    flaky = Flaky(*errors)
    with pytest.raises(TargetError, match=f"error {attempts}") as raised:
        await flaky.run(attempts=attempts)
    assert raised.value is errors[attempts - 1]
    assert flaky.calls == attempts
    assert len(flaky.waits) == attempts - 1


@pytest.mark.parametrize("final", [TargetError("x", code="forbidden"), KeyError("x")])
@pytest.mark.parametrize("before", [(), (lost(),)])
async def test_what_trying_again_does_not_cure_is_raised_at_once(final, before):
    flaky = Flaky(*before, final)
    with pytest.raises(type(final)) as raised:
        await flaky.run()
    assert raised.value is final
    assert flaky.calls == len(before) + 1


async def test_a_pause_may_say_that_it_has_been_long_enough():
    async def refuse(_seconds, error):
        raise TargetError(f"enough of {error}", code="rate_limited")

    flaky = Flaky(lost())
    with pytest.raises(TargetError, match="enough of lost"):
        await flaky.run(pause=refuse)
    assert flaky.calls == 1


async def test_a_cancellation_ends_the_waiting():
    flaky = Flaky(lost(60.0))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await retry(flaky.work, may_retry=lambda _: True)
    assert flaky.calls == 1


@pytest.mark.parametrize("asked", [-5.0, float("nan"), float("inf"), "soon"])
def test_a_time_that_nobody_can_wait_for_is_refused_where_it_is_said(asked):
    with pytest.raises(ValueError, match="retry_after"):
        TargetError("busy", code="overloaded", retry_after=asked)
