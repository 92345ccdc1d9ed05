"""What an exception of a client library means: it comes in, a `TargetError` goes out.

The libraries are known by the modules that define their exceptions, so that none of them is
imported here; beside them count Python's own errors of sockets and TLS. Whatever else is raised is
no endpoint's failure, also where it carries a status. Messages are one line and hold no key.
"""

import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from harness.endpoints.error_bodies import ErrorBody, code_of_error, read_error_body
from harness.endpoints.retry_headers import retry_after
from harness.system.redaction import redacted_line
from harness.system.texts import error_line
from harness.types.errors import TargetError

_WIDTH = 500
_TRY_AGAIN = socket.EAI_AGAIN
"""The name may have an address: its server could not be asked."""

_STATUSES = frozenset({*range(100, 200), *range(300, 600)})
_CLIENTS = frozenset(
    {"aiohttp", "anthropic", "botocore", "cohere", "groq", "http", "httpcore", "httpcore2"}
    | {"httpx", "httpx2", "letta_client", "mistralai", "ollama", "openai", "requests", "urllib"}
    | {"urllib3"}
)
"""The packages whose exceptions are known."""

_CODES: Mapping[str, str] = {
    # what cannot be sent
    "InvalidSchema": "bad_request",
    "InvalidURL": "bad_request",
    "LocalProtocolError": "bad_request",
    "LocationValueError": "bad_request",
    "MissingSchema": "bad_request",
    "UnsupportedProtocol": "bad_request",
    # what came back is no answer
    "APIResponseValidationError": "bad_reply",
    "ContentDecodingError": "bad_reply",
    "ContentTypeError": "bad_reply",
    "DecodeError": "bad_reply",
    "DecodingError": "bad_reply",
    "JSONDecodeError": "bad_reply",
    # an error inside a stream
    "APIError": "server_error",
    # nothing came back: the roots of each library's errors of the network
    "APIConnectionError": "connection_lost",  # anthropic, groq, letta_client, openai
    "ChunkedEncodingError": "connection_lost",  # requests
    "ClientConnectionError": "connection_lost",  # aiohttp
    "ClientPayloadError": "connection_lost",  # aiohttp
    "ConnectionError": "connection_lost",  # botocore, requests
    "HTTPClientError": "connection_lost",  # botocore
    "HTTPError": "connection_lost",  # urllib3
    "HTTPException": "connection_lost",  # http.client
    "NetworkError": "connection_lost",  # httpcore
    "ProtocolError": "connection_lost",  # httpcore
    "ProxyError": "connection_lost",  # httpcore
    "Timeout": "connection_lost",  # requests
    "TimeoutException": "connection_lost",  # httpcore
    "TransportError": "connection_lost",  # httpx
    "URLError": "connection_lost",  # urllib
}
_HINTS: Mapping[str, str] = {
    "unauthorized": "check the key in the environment variable that api_key_env names",
    "connection_refused": "check base_url, and that the server runs",
    "not_found": "check base_url and the model's name",
    "unknown_host": "check the host's name in base_url, and the network",
    "untrusted_certificate": "check base_url, and the certificates that this machine trusts",
    "quota_exhausted": "check the account's credit and limits",
    "forbidden": "check what the key may do",
}


def classify(error: BaseException, *, secrets: Collection[str] = ()) -> TargetError | None:
    """Return what an exception means for an attempt; None for one that is no endpoint's failure.

    `secrets` are values that the message must not hold.
    """
    if isinstance(error, TargetError):
        return error
    if isinstance(error, BaseExceptionGroup):
        # A group is an endpoint's failure where every member is one: the first of them.
        known = [classify(member, secrets=secrets) for member in error.exceptions]
        return known[0] if all(known) else None
    if _is_of_client(error) and (status := _status(error)):
        body = read_error_body(_body(error), status=status, otherwise=error_line(error))
        place = f"{_address(error)}{status}"
        return reported(body, place=place, secrets=secrets, wait=retry_after(_headers(error)))
    code = _code(error)
    if code is None:
        return None
    return failure(f"{_address(error)}{_describe(error)}", code=code, secrets=secrets)


def failure(
    message: str, *, code: str, secrets: Collection[str] = (), wait: float | None = None
) -> TargetError:
    """Make an error whose message is one line without secrets; `wait` is what was asked for."""
    text = redacted_line(message, _WIDTH, secrets)
    return TargetError(text, code=code, retry_after=wait, hint=_HINTS.get(code, ""))


def reported(
    body: ErrorBody, *, place: str, secrets: Collection[str] = (), wait: float | None = None
) -> TargetError:
    """Make the error for what an endpoint reported in place of an answer."""
    code = code_of_error(body)
    return failure(f"{place}: {body}", code=code, secrets=secrets, wait=wait)


def _is_of_client(error: BaseException) -> bool:
    modules = (str(kind.__module__).partition(".")[0] for kind in type(error).__mro__)
    return any(module in _CLIENTS for module in modules)


def _status(error: BaseException) -> int:
    """Find a status code on the error, or on the response that it carries; 0 for none."""
    carriers = (error, getattr(error, "response", None))
    values = [getattr(c, name, None) for c in carriers for name in ("status_code", "status")]
    values.append(_botocore_metadata(error).get("HTTPStatusCode"))
    status = next((value for value in values if type(value) is int), 0)
    # 2xx is an answer: what is wrong with it is no matter of its status.
    return status if status in _STATUSES else 0


def _botocore_metadata(error: BaseException) -> Mapping[str, Any]:
    response = getattr(error, "response", None)
    metadata = response.get("ResponseMetadata") if isinstance(response, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _body(error: BaseException) -> Any:
    body = getattr(error, "body", None)
    if body is not None:
        return body
    try:
        return getattr(getattr(error, "response", None), "text", None)
    except Exception:  # noqa: BLE001  (a streamed response that was not read has no text)
        return None


def _headers(error: BaseException) -> Mapping[str, str]:
    for carrier in (getattr(error, "response", None), error):
        headers = getattr(carrier, "headers", None)
        if headers is not None and hasattr(headers, "get"):
            return cast("Mapping[str, str]", headers)
    headers = _botocore_metadata(error).get("HTTPHeaders")
    return headers if isinstance(headers, dict) else {}


def _address(error: BaseException) -> str:
    """Return `POST https://host/path: ` of the request that failed, where the error carries it."""
    try:
        request = getattr(error, "request", None) or getattr(error, "request_info", None)
    except RuntimeError:  # httpx raises where there is none
        return ""
    method, url = getattr(request, "method", None), getattr(request, "url", None)
    return f"{method} {str(url).partition('?')[0]}: " if method and url else ""


def _code(error: BaseException) -> str | None:
    """Find the code of an error without a status, looking at what caused it too."""
    if not _is_of_network(error) and not (_is_of_client(error) and _codes(error)):
        return None
    chain = list(_chain(error))
    if any(isinstance(link, ConnectionRefusedError) for link in chain):
        return "connection_refused"
    if any(isinstance(link, socket.gaierror) and link.errno != _TRY_AGAIN for link in chain):
        return "unknown_host"
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in chain):
        return "untrusted_certificate"
    found = {code for link in chain for code in _codes(link)[:1]}
    own = next(iter(_codes(error)), "connection_lost")
    return next((code for code in ("bad_request", "bad_reply") if code in found), own)


def _codes(error: BaseException) -> list[str]:
    """Return the codes that its class and the classes above have, the nearest first."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return [_CODES[name] for name in names if name in _CODES]


def _is_of_network(error: BaseException) -> bool:
    kinds = (ConnectionError, socket.gaierror, ssl.SSLError)
    timed_out = isinstance(error, TimeoutError) and error.errno is not None
    return isinstance(error, kinds) or timed_out


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and everything that led to it, members of groups included."""
    waiting, seen = [error], set[int]()
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        causes = [link.__cause__, link.__context__, getattr(link, "reason", None)]
        members = link.exceptions if isinstance(link, BaseExceptionGroup) else ()
        waiting += [c for c in (*causes, *members) if isinstance(c, BaseException)]


def _describe(error: BaseException) -> str:
    """Describe an error, and the error of the operating system that caused it."""
    links = list(_chain(error))
    root = next((link for link in reversed(links) if isinstance(link, OSError)), links[-1])
    caused = f" ({error_line(root)})" if root is not error else ""
    return f"{error_line(error)}{caused}"
