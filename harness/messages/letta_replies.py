"""How a reply of Letta ended: its last records come in, the stop reason, usage and failure go out.

A blocking reply is one object (`messages`, `stop_reason`, `usage`). A stream ends with a record
`stop_reason` and one `usage_statistics`; a failure in it is a record `error_message` behind the
stop reason, although the status of the response is 200.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import shape_error
from harness.system.texts import scrub
from harness.types.trajectories import Usage

NEEDS_APPROVAL = "requires_approval"
"""The stop reason of a reply that waits for the answer to its calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LettaFailure:
    """A failure that the server tells of: `kind` is its word for it, such as `llm_rate_limit`.

    `retryable` is what Letta Code thinks of it, None where it does not say.
    """

    kind: str
    message: str = ""
    detail: str = ""
    run_id: str | None = None
    retryable: bool | None = None

    @property
    def text(self) -> str:
        """Return the message, and the detail where that says more."""
        more = "" if self.detail in self.message else self.detail
        return " ".join(filter(None, [self.message, more]))


@dataclass(frozen=True, slots=True, kw_only=True)
class LettaReply:
    """How a reply ended; `stop_reason` is None for one that was cut before its end.

    `usage` sums all steps of this reply; `run_id` is that of its last message.
    """

    stop_reason: str | None = None
    usage: Usage = Usage()  # noqa: RUF009  (a frozen record)
    failure: LettaFailure | None = None
    run_id: str | None = None

    @property
    def needs_approval(self) -> bool:
        """Say whether the agent waits for the answer to its calls."""
        return self.stop_reason == NEEDS_APPROVAL


def read_failure(body: Any) -> LettaFailure | None:
    """Read a failure: an `error_message`, or the body of an error response; None for neither.

    An error response holds it as `error` (`type`, `message`, `detail`) or as `detail` alone.
    """
    if not isinstance(body, Mapping):
        return None
    error = body.get("error")
    fields = error if isinstance(error, Mapping) else body
    kind = text_or_none(fields.get("error_type")) or text_or_none(fields.get("type"))
    message, detail = _said(fields.get("message")), _said(fields.get("detail"))
    if not (kind or message or detail):
        return None
    retryable = fields.get("retryable")
    return LettaFailure(
        kind=scrub(kind or "error"),
        message=message,
        detail=detail,
        run_id=text_or_none(fields.get("run_id")) or text_or_none(body.get("run_id")),
        retryable=retryable if isinstance(retryable, bool) else None,
    )


def _said(value: Any) -> str:
    return scrub(value) if isinstance(value, str) else ""


def read_stop_reason(value: Any) -> str | None:
    """Read a stop reason: a text, or a record `stop_reason`; None for neither."""
    found = value.get("stop_reason") if isinstance(value, Mapping) else value
    text = text_or_none(found)
    return None if text is None else scrub(text)


def messages_of(body: Any) -> list[Any]:
    """Return the messages of a blocking reply.

    Raises:
        ValueError: it holds none.
    """
    if not isinstance(body, Mapping):
        raise shape_error("the reply must be an object", body)
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise shape_error("messages must be a list", messages)
    return messages


def read_letta_reply(body: Any) -> LettaReply:
    """Read how a blocking reply ended; its messages are read by `harness.messages.letta_turns`.

    Raises:
        ValueError: it is not of that shape.
    """
    messages = messages_of(body)
    runs = [m.get("run_id") for m in messages if isinstance(m, Mapping)]
    return LettaReply(
        stop_reason=read_stop_reason(body.get("stop_reason")),
        usage=read_usage(body.get("usage")),
        run_id=next(filter(None, map(text_or_none, reversed(runs))), None),
    )
