"""When an endpoint says that it may be asked again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from harness.endpoints.retry_headers import retry_after
from harness.system.clock import now


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "9" * 300}, float("9" * 300)),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "-1", "retry-after": "9"}, 9.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Thu, 05 Feb 1998 06:15:00 GMT"}, None),
        ({"retry-after": "Thu, 99 Feb 2037 06:15:00 GMT"}, None),
        ({"retry-after": "Thu, 05 Feb 2037 06:15:00"}, None),
    ],
)
def test_the_time_an_endpoint_asks_for_is_read_where_it_makes_sense(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_is_a_time_to_wait():
    soon = format_datetime(now() + timedelta(seconds=60), usegmt=True)
    assert 50 < retry_after({"retry-after": soon}) <= 60
    far = retry_after({"retry-after": "Thu, 05 Feb 2037 06:15:00 GMT"})
    assert far == pytest.approx(
        (datetime(2037, 2, 5, 6, 15, tzinfo=UTC) - now()).total_seconds(), 1
    )


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("20ms", 0.02),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("2m59.56s", 179.56),
        ("1d", 86_400.0),
        ("7", 7.0),
        ("2.5", 2.5),
        ("", None),
        ("soon", None),
        ("-3s", None),
        ("s", None),
        ("1998-02-05T06:15:00Z", None),
        ("2037-02-05T06:15:00", None),
        ("946684800000000", None),
        ("1" * 5000 + "s", None),
    ],
)
@pytest.mark.parametrize("kind", ["requests", "tokens"])
def test_the_reset_of_a_limit_that_is_used_up_is_a_time_to_wait(kind, reset, seconds):
    if reset == "946684800000000":
        reset = str(int(now().timestamp()) - 60)
    headers = {f"x-ratelimit-remaining-{kind}": "0", f"x-ratelimit-reset-{kind}": reset}
    assert retry_after(headers) == (None if seconds is None else pytest.approx(seconds))


def test_the_reset_may_be_a_time_of_day():
    moment = now() + timedelta(seconds=30)
    for text in (moment.isoformat(), str(moment.timestamp())):
        headers = {
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": text,
        }
        assert 20 < retry_after(headers) <= 30


def test_a_limit_that_is_not_used_up_holds_nobody_up():
    headers = {
        "x-ratelimit-remaining-requests": "4999",
        "x-ratelimit-reset-requests": "8h",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "2s",
    }
    assert retry_after(headers) == 2.0
    assert retry_after({**headers, "x-ratelimit-remaining-tokens": "12"}) is None


def test_a_word_on_when_to_come_again_goes_before_the_reset_of_limits():
    headers = {
        "retry-after": "1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "6m0s",
    }
    assert retry_after(headers) == 1.0
