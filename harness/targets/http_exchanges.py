"""One request to an agent behind a URL: what is sent goes out, the server's answer comes in."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx

from harness.endpoints.compressed_replies import inflated
from harness.endpoints.error_bodies import read_error_body
from harness.endpoints.failures import classify, failure, reported
from harness.endpoints.retry_headers import retry_after
from harness.system.json_values import compact_json
from harness.targets.http_agent import HttpAgent
from harness.targets.http_options import HttpCall, Method, Template
from harness.targets.http_templates import TurnValues, fill_json, fill_text, fill_url
from harness.types.errors import TargetError

MOST_BYTES = 32_000_000
"""How long a reply may be, in bytes."""

_MOST_OF_ERROR = 100_000  # bytes; what a server says of an error is shorter
_MOST_REDIRECTS = 5
_FIRST_REDIRECT = 300
_HINTS: Mapping[str, str] = {
    "unauthorized": "check target.headers",
    "forbidden": "check target.headers",
    "connection_refused": "check target.url, and that the server runs",
    "not_found": "check target.url",
    "unknown_host": "check target.url",
    "untrusted_certificate": "name the certificates of those who vouch for it as target.ca_file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request whose placeholders are filled in; `body` is None for one without."""

    method: Method
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class HttpExchanges:
    """Sends requests over one client; messages about them hold none of the `secrets`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        agent: HttpAgent,
        headers: Mapping[str, str],
        secrets: frozenset[str],
    ) -> None:
        self._client = client
        self._agent = agent
        self._headers = headers
        self.secrets = secrets

    def turn(self, values: TurnValues) -> Outgoing:
        """Make the request of a turn.

        Raises:
            TargetError: `bad_request`, where the sample lacks what it asks for.
        """
        agent = self._agent
        return self._outgoing(agent.url, agent.method, agent.request, values)

    def beside(self, call: HttpCall, values: TurnValues) -> Outgoing:
        """Make a request beside the turns, such as one that starts a session.

        Raises:
            TargetError: `bad_request`, where the sample lacks what it asks for.
        """
        url = urljoin(self._agent.url, call.url)
        return self._outgoing(url, call.method, call.request, values)

    def _outgoing(
        self, url: str, method: Method, template: Template | None, values: TurnValues
    ) -> Outgoing:
        streams = self._agent.stream is not None
        headers = {"accept": "text/event-stream, */*" if streams else "application/json, */*"}
        headers |= {name.lower(): self._header(name, values) for name in self._headers}
        body = None if template is None else compact_json(fill_json(template, values)).encode()
        if body is not None:
            headers.setdefault("content-type", "application/json")
        return Outgoing(method=method, url=fill_url(url, values), headers=headers, body=body)

    def _header(self, name: str, values: TurnValues) -> str:
        value = fill_text(self._headers[name], values)
        if not value.isascii() or not value.isprintable():
            message = f"the header {name} would hold characters that are invalid in one"
            raise failure(message, code="bad_request", secrets=self.secrets)
        return value

    @asynccontextmanager
    async def answer(
        self, outgoing: Outgoing, cookies: httpx.Cookies | None
    ) -> AsyncIterator[httpx.Response]:
        """Send a request; the context gives the answer, whose body is still to be read.

        `cookies` are sent, and take up those of the answer; None keeps none.

        Raises:
            TargetError: there is no answer, or one that refuses; also what breaks inside.
        """
        try:
            async with aclosing(await self._send(outgoing, cookies)) as response:
                await self._require_success(response)
                yield response
        except TargetError:
            raise
        except Exception as error:
            known = classify(error, secrets=self.secrets)
            if known is None:
                raise
            raise _hinted(known) from error

    async def _send(self, outgoing: Outgoing, cookies: httpx.Cookies | None) -> httpx.Response:
        request = self._client.build_request(
            outgoing.method, outgoing.url, headers=outgoing.headers, content=outgoing.body
        )
        for _ in range(_MOST_REDIRECTS):
            response = await self._send_once(request, cookies)
            following = response.next_request
            if following is None:
                return response
            await response.aclose()
            self._require_followable(response, following)
            request = following
        message = f"{outgoing.method} {outgoing.url.partition('?')[0]}: too many redirects"
        raise failure(message, code="bad_request", secrets=self.secrets)

    async def _send_once(
        self, request: httpx.Request, cookies: httpx.Cookies | None
    ) -> httpx.Response:
        if cookies is not None:
            cookies.set_cookie_header(request)
        # A user in the address of a redirect takes no place of the header that the suite gives.
        given = "authorization" in request.headers
        auth = httpx.Auth() if given else httpx.USE_CLIENT_DEFAULT
        response = await self._client.send(request, auth=auth, stream=True, follow_redirects=False)
        if cookies is not None:
            cookies.extract_cookies(response)
        return response

    def _require_followable(self, response: httpx.Response, following: httpx.Request) -> None:
        """Check that a redirect leads to the same server, with the same request.

        Raises:
            TargetError: `bad_request`.
        """
        request = response.request
        same = _origin(request.url) == _origin(following.url)
        if same and following.method == request.method and self._agent.redirects != "refuse":
            return
        leads = f"{following.method} {str(following.url).partition('?')[0]}"
        message = f"{place_of(response)}: {response.status_code} leads to {leads}"
        error = failure(message, code="bad_request", secrets=self.secrets)
        error.hint = "set target.url to where the agent is"
        raise error

    async def _require_success(self, response: httpx.Response) -> None:
        status = response.status_code
        if status < _FIRST_REDIRECT:
            return
        text = await _beginning(response)
        body = read_error_body(text, status=status, otherwise=response.reason_phrase)
        wait = retry_after(response.headers)
        place = f"{place_of(response)}: {status}"
        raise _hinted(reported(body, place=place, secrets=self.secrets, wait=wait))


def _hinted(error: TargetError) -> TargetError:
    """Return an error with the hint of this target: the usual ones name options of others."""
    error.hint = _HINTS.get(error.code, "")
    return error


def _origin(url: httpx.URL) -> tuple[Any, ...]:
    ports = {"http": 80, "https": 443}
    return url.scheme, url.host, url.port or ports.get(url.scheme)


def place_of(response: httpx.Response) -> str:
    """Return `POST https://host/path` of the request that an answer is to."""
    request = response.request
    return f"{request.method} {str(request.url).partition('?')[0]}"


async def parts_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the bytes of an answer as they come.

    Raises:
        TargetError: `bad_reply`, where they are more than a reply may have.
    """
    length = 0
    async with aclosing(_bytes_of(response)) as parts:
        async for part in parts:
            length += len(part)
            if length > MOST_BYTES:
                most = f"{MOST_BYTES // 1_000_000} MB"
                message = f"{place_of(response)}: the reply is longer than {most}"
                raise failure(message, code="bad_reply")
            yield part


async def _bytes_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    raw = response.aiter_raw()
    async with aclosing(inflated(raw, response.headers, place_of(response))) as parts:
        async for part in parts:
            yield part


async def _beginning(response: httpx.Response) -> str:
    """Return the beginning of an error's body: it may have no end."""
    data = bytearray()
    # What cannot be decoded is no reason to know nothing of the error.
    with suppress(TargetError):
        async with aclosing(_bytes_of(response)) as parts:
            async for part in parts:
                data += part
                if len(data) > _MOST_OF_ERROR:
                    break
    return bytes(data[:_MOST_OF_ERROR]).decode(errors="replace")
