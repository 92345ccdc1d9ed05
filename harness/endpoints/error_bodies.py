"""What an endpoint sends in place of an answer: an error body comes in, an error code goes out.

The bodies are those of OpenAI-compatible endpoints: `{"error": {"message", "type", "code"}}`, the
same without `error`, in a list, or plain text.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BY_STATUS: Mapping[int, str] = {
    401: "unauthorized",
    402: "quota_exhausted",
    403: "forbidden",
    404: "not_found",
    408: "connection_lost",
    409: "server_error",
    425: "server_error",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_BY_WORD: Mapping[str, str] = {
    "authentication_error": "unauthorized",
    "billing_hard_limit_reached": "quota_exhausted",
    "billing_not_active": "quota_exhausted",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "context_length_exceeded": "context_length",
    "insufficient_quota": "quota_exhausted",
    "invalid_api_key": "unauthorized",
    "model_not_found": "not_found",
    "not_found_error": "not_found",
    "overloaded_error": "overloaded",
    "permission_error": "forbidden",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "request_too_large": "context_length",
    "responsibleaipolicyviolation": "content_filter",
}
_READ = 5_000  # of a message, this many characters are looked at
_REQUEST_REFUSED = frozenset({400, 403, 413, 422})
_BUSY = frozenset({"overloaded", "rate_limited"})
_BY_TEXT: Mapping[str, re.Pattern[str]] = {
    code: re.compile("|".join(texts), re.IGNORECASE)
    for code, texts in {
        "context_length": (
            r"max(imum|imum model| model)? (context )?(length|window)",
            r"context[ _](length|window|size)",
            r"prompt is too long",
            r"input is too long",
            r"too many (input )?tokens",
            r"reduce the length",
        ),
        "content_filter": (
            r"content management policy",
            r"content[ _]filter",
            r"content polic",
            r"safety system",
            r"was flagged",
        ),
        "quota_exhausted": (r"credit balance is too low", r"insufficient balance"),
        "unauthorized": (r"(invalid|incorrect) api key", r"api key not valid"),
    }.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """An error as an endpoint reported it; `words` are its code and type, `status` 0 for none."""

    status: int = 0
    message: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the words and the message."""
        return " ".join([*(f"[{word}]" for word in self.words), self.message])


def read_error_body(body: Any, *, status: int = 0, otherwise: str = "") -> ErrorBody:
    """Read an error body, parsed or as text; `otherwise` is the message of one that is empty."""
    if isinstance(body, str):
        body = _parse(body)
    if isinstance(body, list) and body:
        body = body[0]
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(inner, Mapping):
        return ErrorBody(status=status, message=str(inner or otherwise))
    # Some put a status code where others put a word.
    names = [inner.get("code"), inner.get("type"), inner.get("status")]
    number = next((n for n in map(_number, names) if n), 0)
    words = tuple(dict.fromkeys(w for w in names if isinstance(w, str) and w and not _number(w)))
    message = inner.get("message") or inner.get("detail") or inner.get("error")
    return ErrorBody(status=status or number, message=str(message or otherwise), words=words)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(value: Any) -> int:
    text = str(value)
    return int(text) if re.fullmatch(r"[1-9]\d\d", text) else 0


def code_of_error(error: ErrorBody) -> str:
    """Return the code of the error table for an endpoint's error: by word, by text, by status."""
    for word in error.words:
        code = _BY_WORD.get(word.lower())
        if code is not None:
            # A 5xx is the server's failure, whatever the words beside it say of the request.
            broke = error.status >= 500 and code not in _BUSY  # noqa: PLR2004
            return _by_status(error.status) if broke else code
    # Of a 429 only the words count: a text about tokens means their rate there.
    if error.status in _REQUEST_REFUSED or not error.status:
        for code, pattern in _BY_TEXT.items():
            if pattern.search(error.message[:_READ]):
                return code
    return _by_status(error.status)


def _by_status(status: int) -> str:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 400 <= status < 500:  # noqa: PLR2004  (the client's fault, by RFC 9110)
        return "bad_request"
    if status and status < 400:  # noqa: PLR2004  (no error at all)
        return "bad_reply"
    return "server_error"
