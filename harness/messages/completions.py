"""A whole answer of a Chat Completions endpoint: its body comes in, one reply goes out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.messages.assistant_messages import calls_of
from harness.messages.contents import shape_error
from harness.system.json_values import compact_json
from harness.types.trajectories import Usage

_MOST_TOKENS = 10**12
_MOST_DOLLARS = 1e6  # a reply that claims more has not counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One reply of a model: its message, and its numbers.

    `message` holds what the endpoint sent, vendor fields included, without what is null or empty.
    An empty text beside calls or a refusal becomes null (endpoints that stream send one where
    others send null).
    """

    message: dict[str, Any]
    usage: Usage = Usage()  # noqa: RUF009  (a frozen record)
    model: str | None = None
    stop_reason: str | None = None


def read_completion(body: Any) -> ModelReply:
    """Read the body of a `chat.completion`; of several choices the first counts.

    Raises:
        ValueError: it is not of that shape.
    """
    choice = _first_choice(body)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise shape_error("choices[0].message must be an object", message)
    return ModelReply(
        message=normalize_message(message),
        usage=read_usage(body.get("usage")),
        model=text_or_none(body.get("model")),
        stop_reason=text_or_none(choice.get("finish_reason")),
    )


def _first_choice(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise shape_error("the reply must be an object", body)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ValueError("the reply has no choices")
    if not isinstance(choices[0], Mapping):
        raise shape_error("choices[0] must be an object", choices[0])
    return choices[0]


def read_usage(usage: Any) -> Usage:
    """Read the numbers of a reply; what is not reported, or makes no sense, is unknown.

    `cost` is what gateways that bill in dollars say a reply cost.
    """
    if not isinstance(usage, Mapping):
        return Usage()
    return Usage(
        input_tokens=_count(usage, "prompt_tokens", "input_tokens"),
        output_tokens=_count(usage, "completion_tokens", "output_tokens"),
        cost_usd=_cost(usage.get("cost")),
        cached_input_tokens=_cached(usage),
    )


def _cached(usage: Mapping[str, Any]) -> int | msgspec.UnsetType:
    for key in ("prompt_tokens_details", "input_tokens_details"):
        details = usage.get(key)
        if isinstance(details, Mapping) and (cached := _count(details, "cached_tokens")):
            return cached
    return msgspec.UNSET


def _cost(value: Any) -> float | None:
    # NaN and infinity are not in the range either.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= _MOST_DOLLARS else None


def _count(usage: Mapping[str, Any], *keys: str) -> int | None:
    values = (usage.get(key) for key in keys)
    return next((v for v in values if type(v) is int and 0 <= v <= _MOST_TOKENS), None)


def normalize_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assistant message in one shape, whatever the shape it came in."""
    kept = {key: value for key, value in message.items() if value not in (None, "", [], {})}
    calls = [_normalize_call(call) for call in calls_of(message)]
    kept.pop("function_call", None)
    kept |= {"role": "assistant", "content": message.get("content")}
    if calls:
        kept["tool_calls"] = calls
    if kept["content"] in ("", []) and (calls or "refusal" in kept):
        kept["content"] = None
    return kept


def _normalize_call(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    if isinstance(call.get("custom"), Mapping):
        return {key: value for key, value in call.items() if key != "index"}
    inner = call.get("function")
    function = dict(inner) if isinstance(inner, Mapping) else _bare(call)
    rest = {k: v for k, v in call.items() if k not in {"index", "name", "arguments"}}
    return {**rest, "type": "function", "function": function}


def as_request_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reply's message as endpoints take it back: with arguments as text."""
    calls = message.get("tool_calls")
    if not calls:
        return dict(message)
    return {**message, "tool_calls": [_with_text(call) for call in calls]}


def _with_text(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    if function is None or isinstance(function.get("arguments"), str):
        return call
    arguments = function.get("arguments")
    text = "{}" if arguments is None else compact_json(arguments)
    return {**call, "function": {**function, "arguments": text}}


def _bare(call: Mapping[str, Any]) -> dict[str, Any]:
    return {key: call[key] for key in ("name", "arguments") if key in call}


def text_or_none(value: Any) -> str | None:
    """Return a non-empty text, else None."""
    return value if isinstance(value, str) and value else None
