"""What went wrong at a Letta server: an exception or a record of a stream in, a `TargetError` out.

The codes follow how the server 0.16.8 behaves: failures of the language model behind it come with
an `error` or an `error_message` of their own type (`llm_rate_limit`), and with the server's word at
the beginning of their detail (`NOT_FOUND: ...`), which says more than the status. Of a turn,
which has effects on its agent, only what met nobody who listens is sent again in place.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from letta_client import APIStatusError

from harness.endpoints.error_bodies import ErrorBody, code_of_error
from harness.endpoints.failures import classify, failure
from harness.endpoints.retry_headers import retry_after
from harness.messages.letta_replies import LettaFailure, read_failure
from harness.system.json_values import compact_json
from harness.system.redaction import redacted_line
from harness.targets.letta_refusals import refused_fields
from harness.types.errors import TargetError

_WIDTH = 500
_BY_WORD: Mapping[str, str] = {
    "CONFLICT": "server_error",
    "CONTEXT_WINDOW_EXCEEDED": "context_length",
    "INTERNAL_SERVER_ERROR": "server_error",
    "INVALID_ARGUMENT": "bad_request",
    "NOT_FOUND": "not_found",
    "PAYMENT_REQUIRED": "quota_exhausted",
    "PERMISSION_DENIED": "forbidden",
    "RATE_LIMIT_EXCEEDED": "rate_limited",
    "TIMEOUT": "connection_lost",
    "UNAUTHENTICATED": "unauthorized",
}
"""The server's own words for kinds of errors."""

_BY_KIND: Mapping[str, str] = {
    "context_window_overflow_in_system_prompt": "context_length",
    "internal_error": "server_error",
    "llm_authentication": "unauthorized",
    "llm_bad_request": "bad_request",
    "llm_empty_response": "bad_reply",
    "llm_error": "server_error",
    "llm_insufficient_credits": "quota_exhausted",
    "llm_rate_limit": "rate_limited",
    "llm_timeout": "connection_lost",
    "stream_incomplete": "stream_cut",
}
_BY_STOP: Mapping[str, str] = {
    "cancelled": "server_error",
    "context_window_overflow_in_system_prompt": "context_length",
    "error": "server_error",
    "insufficient_credits": "quota_exhausted",
    "invalid_llm_response": "bad_reply",
    "llm_api_error": "server_error",
    "max_steps": "max_steps",
}
_WORD = re.compile(rf"\s*({'|'.join(_BY_WORD)}):")
_NO_CREDIT = re.compile(r"insufficient_quota|billing_hard_limit_reached|billing_not_active")
_GARBAGE = re.compile(r"\d+ validation errors? for ")
_NO_ROUTE = frozenset({"Not Found", "404 page not found"})
_MODEL = re.compile(r"handle|model", re.IGNORECASE)
_PENDING = re.compile(r"PENDING_APPROVAL|waiting for approval on a tool call")
_MODEL_HINTS: Mapping[str, str] = {
    "unauthorized": "the model's provider refuses the key that the Letta server has",
    "not_found": "the model's provider does not have the model",
    "context_length": "the agent's context is too long for its model",
}
_STOP_HINTS: Mapping[str, str] = {
    "max_steps": "raise target.max_steps if the task needs more",
}


def letta_failure(
    error: Exception, *, secrets: Collection[str] = (), key_hint: str = ""
) -> TargetError | None:
    """Return what an exception of the client means; None for one that is no server's failure.

    `key_hint` is what to say of the key where the server refuses it.
    """
    if not isinstance(error, APIStatusError) or error.status_code < 400:  # noqa: PLR2004  (RFC 9110)
        return classify(error, secrets=secrets)
    place = f"{error.request.method} {str(error.request.url).partition('?')[0]}"
    told = read_failure(error.body)
    place = f"{place}: {error.status_code}"
    if told is not None and told.kind.startswith("llm_"):
        return reported_failure(told, place=place, secrets=secrets)
    text = _text(error.body, told, str(error))
    code = _code_of_status(error.status_code, text)
    wait = retry_after(error.response.headers)
    found = failure(f"{place}: {text}", code=code, secrets=secrets, wait=wait)
    if code == "not_found":
        found.hint = _missing_hint(text)
    if error.status_code == 401 and key_hint:  # noqa: PLR2004  (RFC 9110)
        found.hint = key_hint
    return found


def _text(body: Any, told: LettaFailure | None, otherwise: str) -> str:
    detail = body.get("detail") if isinstance(body, Mapping) else body
    if refused := refused_fields(detail):
        return refused
    if told is not None and told.text:
        return told.text
    if detail is None:
        return otherwise
    return detail if isinstance(detail, str) else compact_json(detail)


def _missing_hint(text: str) -> str:
    """Say what to check where something is not there: the address, a model, or an id."""
    if text.strip() in _NO_ROUTE:
        return "check base_url: it is a Letta server's address, without a path such as /v1"
    if _MODEL.search(text):
        return "check the model's name, as the Letta server lists it"
    return "check that id, and that base_url names the server that has it"


def _code_of_status(status: int, text: str) -> str:
    if _PENDING.search(text):
        # An agent that waits for an approval waits for ever, however often it is asked.
        return "bad_request"
    if status == 400 and _GARBAGE.search(text):  # noqa: PLR2004
        # The server found that what the model answered is no reply; its own requests are 422.
        return "bad_reply"
    word = _WORD.match(text)
    code = _BY_WORD[word[1]] if word else None
    if code is not None and code != "bad_request":
        return code
    return code_of_error(ErrorBody(status=status, message=text))


def reported_failure(
    told: LettaFailure, *, place: str, secrets: Collection[str] = ()
) -> TargetError:
    """Return the error for a failure that the server tells of, such as one of its model."""
    code = _code_of_failure(told)
    text = redacted_line(f"{place}: [{told.kind}] {told.text}", _WIDTH, secrets)
    return TargetError(text, code=code, hint=_MODEL_HINTS.get(code, ""))


def _code_of_failure(told: LettaFailure) -> str:
    text = told.detail or told.message
    if _NO_CREDIT.search(text):
        return "quota_exhausted"
    if _PENDING.search(text):
        return "bad_request"
    word = _WORD.match(text)
    code = _BY_WORD[word[1]] if word else _BY_KIND.get(told.kind, "server_error")
    if code == "bad_request":
        # What exactly is bad stands in the provider's text only.
        return code_of_error(ErrorBody(status=400, message=text))
    return code


def stop_failure(
    stop_reason: str | None, *, answered: bool, place: str, secrets: Collection[str] = ()
) -> TargetError | None:
    """Return the error for how a turn ended; None for a turn that has ended well.

    A turn without a message of the agent has ended well only where a rule of its tools ends turns
    (`tool_rule`): a model that answers with garbage also ends without an error. None as the stop
    reason says that the stream was cut.
    """
    if stop_reason is None:
        return failure(f"{place}: the stream ended early", code="stream_cut", secrets=secrets)
    code = _BY_STOP.get(stop_reason)
    if code is None and (answered or stop_reason == "tool_rule"):
        return None
    said = "" if answered else ", and no message of the agent"
    text = redacted_line(f"{place}: the turn ended with {stop_reason}{said}", _WIDTH, secrets)
    code = code or "bad_reply"
    return TargetError(text, code=code, hint=_STOP_HINTS.get(code, ""))
