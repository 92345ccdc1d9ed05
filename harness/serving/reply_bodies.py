"""A reply comes in, the bodies of OpenAI's Chat Completions API go out, whole or as a stream.

Replies are made from script and request alone, so `created` is always 0. `system_fingerprint`
names the model and the rule that answered.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from harness.serving.model_requests import ApiError
from harness.serving.rules import ReplyCall, ScriptedReply
from harness.serving.script_records import Script
from harness.types.suites import SCRIPTED

_PIECES = 48
"""A text is streamed in at most so many pieces."""


def completion(reply: ScriptedReply) -> dict[str, Any]:
    """Return the body of a reply that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_tool_call(call, call.arguments) for call in reply.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
    return {**_head(reply, "chat.completion"), "choices": [choice], "usage": usage(reply)}


def chunks(reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    """Return the chunks of a streamed reply: role, pieces, why it ended, usage if asked for."""
    deltas: Iterable[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": None if reply.calls else ""}, None),
        *((delta, None) for delta in _deltas(reply)),
        ({}, reply.finish),
    ]
    head = _head(reply, "chat.completion.chunk")
    asked = {"usage": None} if reply.request.include_usage else {}
    for delta, finish in deltas:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        yield {**head, "choices": [choice], **asked}
    if asked:
        yield {**head, "choices": [], "usage": usage(reply)}


def body_parts(reply: ScriptedReply) -> list[bytes]:
    """Return what is sent: one JSON body, or the events of a stream, the last of them `[DONE]`."""
    if not reply.request.stream:
        whole = reply.garbage.encode() if reply.garbage is not None else encode(completion(reply))
        return [whole]
    if reply.garbage is not None:
        return [_event(line.encode()) for line in reply.garbage.splitlines()] + [_event(b"[DONE]")]
    return [*(_event(encode(chunk)) for chunk in chunks(reply)), _event(b"[DONE]")]


def cut_parts(reply: ScriptedReply, parts: list[bytes]) -> list[bytes]:
    """Return the first half of what would be sent.

    It ends inside an event or a value, except for a stream that is cut quietly: that one ends
    after an event.
    """
    if reply.request.stream and reply.rule.cut == "quietly":
        return parts[: len(parts) // 2]
    whole = b"".join(parts)
    return [whole[: len(whole) // 2]]


def usage(reply: ScriptedReply) -> dict[str, int]:
    """Return the token counts of a reply, one token for four characters."""
    asked, said = reply.request.prompt_tokens, reply.completion_tokens
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def error_body(refusal: ApiError) -> dict[str, Any]:
    """Return the body of an error."""
    kind = "server_error" if refusal.status >= 500 else "invalid_request_error"  # noqa: PLR2004  (HTTP)
    return {
        "error": {
            "message": str(refusal),
            "type": kind,
            "param": refusal.param,
            "code": refusal.code,
        }
    }


def model_list(script: Script) -> dict[str, Any]:
    """Return the body of the list of models."""
    ids = [f"{SCRIPTED}{name}" for name in script.models]
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "regrade"} for name in ids]
    return {"object": "list", "data": data}


def encode(value: Any) -> bytes:
    """Write a body as JSON."""
    return msgspec.json.encode(value)


def _head(reply: ScriptedReply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{reply.request.key[7:31]}",
        "object": kind,
        "created": 0,
        "model": reply.request.model,
        "system_fingerprint": reply.label,
    }


def _deltas(reply: ScriptedReply) -> Iterator[dict[str, Any]]:
    for piece in _pieces(reply.reasoning or "", 12):
        yield {"reasoning_content": piece}
    for piece in _pieces(reply.text or "", 12):
        yield {"content": piece}
    for index, call in enumerate(reply.calls):
        yield {"tool_calls": [{"index": index, **_tool_call(call, "")}]}
        for piece in _pieces(call.arguments, max(1, len(call.arguments) // 3)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _tool_call(call: ReplyCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _pieces(text: str, size: int) -> Iterator[str]:
    step = max(size, len(text) // _PIECES)
    return (text[start : start + step] for start in range(0, len(text), step))


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"
