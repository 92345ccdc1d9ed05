import pytest

from harness.endpoints.resending import resend
from harness.types.errors import POLICIES, TargetError


class Asking:
    """Raises the errors one after the other, then answers; remembers the waits."""

    def __init__(self, *errors, budget=1000.0):
        self.errors = list(errors)
        self.budget = budget
        self.asked = 0
        self.waits = []

    async def ask(self):
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"

    async def wait(self, seconds):
        if sum(self.waits) + seconds > self.budget:
            raise TargetError("too long", code="rate_limited", retry_after=seconds)
        self.waits.append(seconds)

    async def run(self):
        return await resend(self.ask, wait=self.wait)


def error(code, wait=None):
    return TargetError(code, code=code, retry_after=wait, hint="a hint")


async def test_an_answer_is_given_at_once():
    asking = Asking()
    assert await asking.run() == "answer"
    assert (asking.asked, asking.waits) == (1, [])


async def test_it_waits_as_long_as_the_endpoint_asks():
    asking = Asking(error("rate_limited", 2.0), error("overloaded", 5.0))
    assert await asking.run() == "answer"
    assert asking.waits == [2.0, 5.0]


async def test_without_a_word_on_time_it_waits_a_random_time_that_grows():
    asking = Asking(*(error("connection_refused") for _ in range(12)))
    assert await asking.run() == "answer"
    assert all(min(2**n, 60) <= wait <= min(2**n + 1, 60) for n, wait in enumerate(asking.waits))
    assert max(asking.waits) > 1.0


@pytest.mark.parametrize("code", [c for c, policy in POLICIES.items() if not policy.resent])
async def test_what_asking_again_does_not_cure_is_raised_at_once(code):
    asking = Asking(error(code))
    with pytest.raises(TargetError) as raised:
        await asking.run()
    assert raised.value.code == code
    assert asking.asked == 1


async def test_an_exception_that_is_no_failure_passes_through():
    with pytest.raises(ZeroDivisionError):
        await Asking(ZeroDivisionError()).run()


@pytest.mark.parametrize("code", ["rate_limited", "overloaded", "connection_refused"])
async def test_when_the_patience_is_used_up_the_refusal_is_the_error(code):
    asking = Asking(*(error(code, 40.0) for _ in range(9)), budget=100.0)
    with pytest.raises(TargetError, match=f"{code}; too long") as raised:
        await asking.run()
    assert (raised.value.code, raised.value.retry_after) == (code, 40.0)
    assert raised.value.hint == "a hint"
    assert asking.waits == [40.0, 40.0]


async def test_an_endpoint_that_asks_for_no_time_is_waited_for_all_the_same():
    asking = Asking(*(error("rate_limited", 0.0) for _ in range(1000)), budget=100.0)
    with pytest.raises(TargetError):
        await asking.run()
    assert asking.asked < 50
    assert asking.waits[0] < 0.01
