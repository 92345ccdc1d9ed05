"""What an exception of a client library means: it comes in, a `TargetError` goes out.

Known are those of openai, httpx, aiohttp, requests and urllib, by the module that defines them, so
that none of these packages is imported here; Python's own errors of sockets and TLS; and whatever
carries a status code. Messages are one line and never hold a key.
"""

import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, cast

from harness.system.clock import now
from harness.system.redaction import redact
from harness.system.texts import one_line
from harness.targets.refusals import Refusal, code_of_refusal, read_refusal
from harness.targets.user_code import text_of
from harness.types.errors import TargetError

_WIDTH = 500
_READ = 5_000  # of what an endpoint says, this many characters are looked at
_STATUSES = frozenset({*range(100, 200), *range(300, 600)})
_CLIENTS = frozenset(
    {"aiohttp", "anthropic", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "requests"}
    | {"urllib", "urllib3"}
)
_MISTAKES = frozenset({"InvalidURL", "UnsupportedProtocol", "LocalProtocolError"})
_BROKEN = frozenset(
    {"APIResponseValidationError", "ContentTypeError", "DecodingError", "JSONDecodeError"}
)
_HINTS: Mapping[str, str] = {
    "unauthorized": "check the key in the environment variable that api_key_env names",
    "connection_refused": "check base_url, and that the server runs",
    "not_found": "check base_url and the model's name",
}


def classify(error: BaseException, *, secrets: Collection[str] = ()) -> TargetError | None:
    """Say what an exception means for an attempt; None for one that is no failure of an endpoint.

    `secrets` are values that must not stand in the message.
    """
    if isinstance(error, TargetError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return _of_group(error, secrets)
    status = _status(error)
    if status is not None:
        return _from_status(error, status, secrets)
    code = _code(error)
    if code is None:
        return None
    told = _told(error)
    return failure(f"{_address(error)}{told}", code=code, secrets=secrets)


def _of_group(
    group: BaseExceptionGroup[BaseException], secrets: Collection[str]
) -> TargetError | None:
    """Take a group for an endpoint's failure where every member is one: the first of them."""
    known = [classify(member, secrets=secrets) for member in group.exceptions]
    return known[0] if all(known) else None


def failure(
    message: str, *, code: str, secrets: Collection[str] = (), wait: float | None = None
) -> TargetError:
    """Make an error whose message is one line without secrets; `wait` is what was asked for."""
    text = one_line(redact(message[:_READ], secrets), _WIDTH)
    return TargetError(text, code=code, retry_after=wait, hint=_HINTS.get(code, ""))


def refused(refusal: Refusal, *, place: str, secrets: Collection[str] = ()) -> TargetError:
    """Make the error for what an endpoint said in the place of an answer."""
    code = code_of_refusal(refusal)
    status = f" {refusal.status}" if refusal.status else ""
    return failure(f"{place}{status}: {refusal}", code=code, secrets=secrets)


def _from_status(error: BaseException, status: int, secrets: Collection[str]) -> TargetError:
    refusal = read_refusal(_body(error), status=status, otherwise=text_of(error))
    code = code_of_refusal(refusal)
    message = f"{_address(error)}{status}: {refusal}"
    return failure(message, code=code, secrets=secrets, wait=retry_after(_headers(error)))


def _status(error: BaseException) -> int | None:
    """Find a status code: on the error, or on the response it carries."""
    carriers = (error, getattr(error, "response", None))
    told = (getattr(c, name, None) for c in carriers for name in ("status_code", "status"))
    status = next((value for value in told if type(value) is int), 0)
    # 2xx is an answer: what is wrong with it is no matter of its status.
    return status if status in _STATUSES else None


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
    return {}


def _address(error: BaseException) -> str:
    """Give `POST https://host/path: ` of the request that failed, where the error carries it."""
    try:
        request = getattr(error, "request", None) or getattr(error, "request_info", None)
    except RuntimeError:  # httpx raises where there is none
        return ""
    method, url = getattr(request, "method", None), getattr(request, "url", None)
    return f"{method} {str(url).partition('?')[0]}: " if method and url else ""


def _code(error: BaseException) -> str | None:
    """Find the code of an error without a status, looking at what caused it too."""
    chain = list(_chain(error))
    if not any(_is_of_client(link) or _is_of_network(link) for link in chain[:1]):
        return None
    names = {type(link).__name__ for link in chain}
    if any(isinstance(link, ConnectionRefusedError) for link in chain):
        return "connection_refused"
    if names & _MISTAKES:
        return "bad_request"
    if names & _BROKEN:
        return "bad_reply"
    return "connection_lost"


def _is_of_network(error: BaseException) -> bool:
    kinds = (ConnectionError, socket.gaierror, ssl.SSLError)
    timed_out = isinstance(error, TimeoutError) and error.errno is not None
    return isinstance(error, kinds) or timed_out


def _is_of_client(error: BaseException) -> bool:
    modules = (kind.__module__.partition(".")[0] for kind in type(error).__mro__)
    return any(module in _CLIENTS for module in modules)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Give the error and everything that led to it, members of groups included."""
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


def _told(error: BaseException) -> str:
    """Say what happened in the words of the error and of what caused it in the first place."""
    links = list(_chain(error))
    root = next((link for link in reversed(links) if isinstance(link, OSError)), links[-1])
    texts = [f"{type(error).__name__}: {text_of(error)}"]
    if root is not error and str(root):
        texts.append(f"{type(root).__name__}: {root}")
    return " ".join(f"({text})" if index else text for index, text in enumerate(texts))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds an endpoint asks to wait; None where it does not say so sensibly.

    `retry-after-ms` goes before `retry-after`, which holds seconds or a date of RFC 9110.
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _seconds(text)
    return _until(text) if seconds is None else seconds


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _until(text: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(text or "")
        seconds = (moment - now()).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return seconds if seconds > 0 else None
