"""How endpoints are reached: an address and a key in, an `Endpoint` out.

Its HTTP client sends each request once: what is sent again is decided in one place, and never here.
"""

from contextlib import aclosing, suppress
from typing import Any

import openai

from harness.endpoints.compressed_replies import ACCEPTED, inflated
from harness.endpoints.endpoints import Endpoint
from harness.endpoints.failures import failure
from harness.types.errors import TargetError

_NO_KEY = "none"  # the SDK wants a key, also where the endpoint needs none
_CONNECT_SECONDS = 30.0  # an address that does not answer is an outage, not a slow model
_MOST_OF_ERROR = 100_000  # bytes; what an endpoint says of an error is shorter
_PROXY_FREE = ("all://localhost", "all://127.0.0.1", "all://[::1]")


def make_endpoint(url: str | None, key: str | None, *, concurrency: int) -> Endpoint:
    """Make an endpoint without time limits but for connecting; its maker closes it.

    `url` is None for OpenAI's own address, `key` for an endpoint that needs none. So many
    connections as `concurrency` says are kept open.

    Raises:
        TargetError: `bad_request`, where `url` is no address.
    """
    secrets = () if key is None else (key,)
    try:
        return Endpoint(_client(url, key or _NO_KEY, concurrency), secrets)
    except Exception as error:
        # What a client cannot be made with is an option of the suite.
        raise failure(f"base_url {url}: {error}", code="bad_request", secrets=secrets) from error


def _client(url: str | None, key: str, concurrency: int) -> openai.AsyncOpenAI:
    # The limits' class is that of the HTTP library which the SDK uses, whichever it is.
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(
        max_connections=None, max_keepalive_connections=max(concurrency, 1)
    )
    timeout = openai.Timeout(None, connect=_CONNECT_SECONDS)
    http = openai.DefaultAsyncHttpxClient(
        headers=dict(ACCEPTED),
        limits=limits,
        timeout=timeout,
        mounts=dict.fromkeys(_PROXY_FREE),
        event_hooks={"response": [_read_error]},
    )
    return openai.AsyncOpenAI(
        base_url=url, api_key=key, max_retries=0, timeout=timeout, http_client=http
    )


async def _read_error(response: Any) -> None:
    """Read the beginning of an error's body: the SDK would read it to its end, if it has one."""
    if not response.is_error:
        return
    data = bytearray()
    # What cannot be decoded is no reason to know nothing of the error.
    with suppress(TargetError):
        async with aclosing(inflated(response.aiter_raw(), response.headers, "")) as parts:
            async for part in parts:
                data += part
                if len(data) > _MOST_OF_ERROR:
                    break
    await response.aclose()
    response._content = bytes(data[:_MOST_OF_ERROR])  # noqa: SLF001  (nothing else keeps a part)
