"""Messages as an agent file of Letta stores them: stored messages come in, turns go out.

The shapes are those of `.af` files of the server 0.6.47 (one agent, roles of a chat) to 0.16.8
(`agents`). Each is read as the messages that the server's API would make of it.

- What the user said, and what a tool returned, may be packed in a JSON text with its time:
  `{"type": "user_message", "message": ...}`, `{"status": "OK", "message": ..., "time": ...}`.
- An agent that speaks by its tool `send_message` thinks in its text: that is reasoning.
- A result stands in `tool_returns` and, in words, in `content`: it is one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.messages.contents import read_content, shape_error
from harness.messages.letta_messages import read_letta_message
from harness.messages.letta_turns import read_letta_turns
from harness.messages.letta_voices import SEND_MESSAGE, with_sent_messages
from harness.system.json_values import compact_json, read_json
from harness.system.texts import scrub
from harness.types.trajectories import Turn

_Message = dict[str, Any]

_TALKING = ("letta_v1_agent", "react_agent")
"""Kinds of agents whose text is what the user sees."""

STORED_ROLES = frozenset({"user", "assistant", "tool", "system", "function", "approval", "summary"})
"""The roles that are understood; a message of another is kept as it is."""

_ENVELOPE = frozenset({"status", "message", "time"})


def read_stored_turns(messages: Any, agent_type: Any = None) -> tuple[Turn, ...]:
    """Read a conversation; each user message begins a turn.

    Raises:
        ValueError: a message is not of that shape; the text names its index.
    """
    if not isinstance(messages, list):
        raise shape_error("messages must be a list", messages)
    thinks_aloud = agent_type not in _TALKING and _speaks_by_tool(messages)
    written = list[_Message]()
    for index, message in enumerate(messages):
        try:
            made = list(_messages_of(message, index, thinks_aloud=thinks_aloud))
            for one in made:
                read_letta_message(one)  # so that a fault has the index of the stored message
        except ValueError as error:
            raise ValueError(f"message {index}: {error}") from error
        written += made
    return with_sent_messages(read_letta_turns(written, reminders=True, ordered=True))


def _speaks_by_tool(messages: Iterable[Any]) -> bool:
    calls = (call for message in messages for call in _calls_of(message))
    return any(call.get("name") == SEND_MESSAGE for call in calls)


def _messages_of(message: Any, index: int, *, thinks_aloud: bool) -> Iterator[_Message]:
    """Return the API's messages for a stored one."""
    if not isinstance(message, Mapping):
        raise shape_error("must be an object", message)
    role = message.get("role")
    if role in ("assistant", "approval"):
        made = _said(message, thinks_aloud=thinks_aloud)
    elif role in ("tool", "function"):
        made = iter([_returned(message)])
    else:
        made = iter([_heard(message, role)])
    step = {"step_id": f"message {index}"} if role in ("assistant", "approval") else {}
    shared = {"date": message.get("created_at"), **step}
    yield from ({**one, **shared} for one in made)


def _heard(message: Mapping[str, Any], role: Any) -> _Message:
    content = _content(message)
    if role == "user":
        return {"message_type": "user_message", "content": _unpacked(content)}
    if role == "system":
        return {"message_type": "system_message", "content": content}
    if role == "summary":
        return {"message_type": "summary_message", "summary": _text(content)}
    return {**message, "message_type": _unknown_role(role)}


def _unknown_role(role: Any) -> str:
    return f"{role if isinstance(role, str) and role else 'message'}_role"


def unknown_roles(messages: Iterable[Any]) -> set[str]:
    """Return the kinds of the events that hold messages of unknown roles."""
    roles = [m.get("role") for m in messages if isinstance(m, Mapping)]
    unknown = (r for r in roles if not (isinstance(r, str) and r in STORED_ROLES))
    return {scrub(_unknown_role(role)) for role in unknown}


def _unpacked(content: Any) -> Any:
    """Return what the user said, without the envelope that older agents put around it."""
    found = read_content(content)
    fields = _object("\n".join(found.texts)) if not found.others else None
    if fields and fields.get("type") == "user_message" and isinstance(fields.get("message"), str):
        return fields["message"]
    return content


def _said(message: Mapping[str, Any], *, thinks_aloud: bool) -> Iterator[_Message]:
    content = read_content(_content(message))
    thoughts = [block for block in content.others if _thought(block) is not None]
    yield from (made for block in thoughts if (made := _thought(block)) is not None)
    text = "".join(content.texts)
    if text and thinks_aloud:
        yield {"message_type": "reasoning_message", "reasoning": text}
    others = [b for b in content.others if b not in thoughts and b.get("type") != "tool_call"]
    asked = list(_asked(message))
    if (text and not thinks_aloud) or others or not (text or thoughts or asked):
        parts = [] if thinks_aloud else [{"type": "text", "text": text}]
        yield {"message_type": "assistant_message", "content": [*parts, *others]}
    yield from asked


def _asked(message: Mapping[str, Any]) -> Iterator[_Message]:
    calls = list(_calls_of(message))
    if message.get("role") == "approval" and not calls:
        fields = {name: message.get(name) for name in ("approvals", "approve")}
        request = message.get("approval_request_id")
        named = {"approval_request_id": request, "reason": _reason(message)}
        yield {"message_type": "approval_response_message", **fields, **named}
    elif calls:
        is_approval = message.get("role") == "approval"
        kind = "approval_request_message" if is_approval else "tool_call_message"
        yield {"message_type": kind, "tool_calls": calls}


def _reason(message: Mapping[str, Any]) -> Any:
    """Return why calls were denied; the API tells the reason of the first answer."""
    answers = message.get("approvals")
    first = answers[0] if isinstance(answers, list) and answers else None
    told = first.get("reason") if isinstance(first, Mapping) else None
    return message.get("denial_reason") or told


def _thought(block: Mapping[str, Any]) -> _Message | None:
    """Return the message for a part that holds what the model thought; None for any other."""
    kind = block.get("type")
    if kind == "reasoning":
        return {"message_type": "reasoning_message", "reasoning": block.get("reasoning")}
    if kind == "summarized_reasoning":
        parts = block.get("summary")
        said = "\n".join(_texts_of(parts) if isinstance(parts, list) else [])
        return {"message_type": "reasoning_message", "reasoning": said}
    if kind in ("redacted_reasoning", "omitted_reasoning"):
        state = kind.removesuffix("_reasoning")
        hidden = block.get("data")
        fields = {"state": state, "hidden_reasoning": hidden}
        return {"message_type": "hidden_reasoning_message", **fields}
    return None


def _texts_of(parts: Iterable[Any]) -> Iterator[str]:
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    yield from (text for text in texts if isinstance(text, str))


def _calls_of(message: Any) -> Iterator[_Message]:
    """Return the calls of a message as the API writes them; of its content if nowhere else."""
    if not isinstance(message, Mapping):
        return
    calls, content = message.get("tool_calls"), message.get("content")
    if calls is not None and not isinstance(calls, list):
        raise shape_error("tool_calls must be a list", calls)
    parts = content if isinstance(content, list) else []
    blocks = [p for p in parts if isinstance(p, Mapping) and p.get("type") == "tool_call"]
    for call in calls or blocks:
        if not isinstance(call, Mapping):
            raise shape_error("a tool call must be an object", call)
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else call
        arguments = inner.get("arguments", inner.get("input"))
        yield {"tool_call_id": call.get("id"), "name": inner.get("name"), "arguments": arguments}


def _returned(message: Mapping[str, Any]) -> _Message:
    results = message.get("tool_returns")
    if results is not None and not isinstance(results, list):
        raise shape_error("tool_returns must be a list", results)
    if not results:
        content = _content(message)
        text = content if read_content(content).others else _text(content)
        results = [{"tool_call_id": message.get("tool_call_id"), "func_response": text}]
    returns = [_return(result) for result in results]
    return {"message_type": "tool_return_message", "tool_returns": returns}


def _return(result: Any) -> _Message:
    if not isinstance(result, Mapping):
        raise shape_error("a tool return must be an object", result)
    output, status = result.get("func_response"), result.get("status")
    fields = _object(output) if isinstance(output, str) else None
    if fields and "message" in fields and fields.keys() <= _ENVELOPE:
        output = fields["message"]
        status = status or ("success" if fields.get("status", "OK") == "OK" else "error")
    text = output if output is None or isinstance(output, str | list) else compact_json(output)
    printed = {name: result.get(name) for name in ("stdout", "stderr")}
    named = {"tool_call_id": result.get("tool_call_id"), "status": status}
    return {**named, "tool_return": text, **printed}


def _content(message: Mapping[str, Any]) -> Any:
    content = message.get("content")
    # The field of agent files from before messages had parts.
    return (message.get("text") or "") if content is None else content


def _text(content: Any) -> str:
    return "\n".join(read_content(content).texts)


def _object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = read_json(text)[0]
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
