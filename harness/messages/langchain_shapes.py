"""The spellings of a LangChain message (langchain-core 0.1 to 1.x): one plain mapping goes out.

- a constructor, as `dumps` writes: `{"lc": 1, "type": "constructor", "id": [..., "AIMessage"],
  "kwargs": {...}}`
- `{"type": "ai", "data": {...}}`, as `messages_to_dict` writes
- the fields themselves, `{"type": "ai", "content": ...}`, or with a `role`
- a message object, known by its attributes; a pair `("ai", "text")`; a text, which the user said
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from harness.messages.plain_values import plain

_FIELDS = (
    *("content", "additional_kwargs", "response_metadata", "usage_metadata", "name", "id", "role"),
    *("tool_calls", "invalid_tool_calls", "tool_call_chunks", "tool_call_id", "status", "artifact"),
)
_KINDS: Mapping[str, str] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "chat": "chat",
    "remove": "remove",
}
_OWN = ("human", "ai", "chat", "remove")
"""Types by which a message is told from one of another library."""


def is_langchain_message(value: Any) -> bool:
    """Say whether a value is a message of LangChain, and can be no other library's."""
    if isinstance(value, Mapping):
        if value.get("type") == "constructor":
            return _class_of(value) is not None
        kind = value.get("type")
        named = isinstance(kind, str) and _plain_kind(kind) in _OWN and "role" not in value
        return named and ("content" in value or isinstance(value.get("data"), Mapping))
    if isinstance(value, str | list | tuple) or value is None:
        return False
    kind = getattr(value, "type", None)
    is_object = isinstance(kind, str) and _plain_kind(kind) in _KINDS
    return is_object and hasattr(value, "content") and hasattr(value, "additional_kwargs")


def _class_of(value: Mapping[str, Any]) -> str | None:
    path = value.get("id")
    name = path[-1] if isinstance(path, list) and path else None
    is_message = isinstance(name, str) and _plain_kind(name) in _KINDS
    return name if is_message and isinstance(value.get("kwargs"), Mapping) else None


def _plain_kind(kind: str) -> str:
    """Return `ai` for `ai`, `AIMessage` and `AIMessageChunk`."""
    return kind.removesuffix("Chunk").removesuffix("Message").lower()


def plain_messages(messages: Iterable[Any]) -> Iterator[dict[str, Any] | Any]:
    """Return messages as mappings with `kind` and LangChain's fields; what is none as it is.

    `kind` is `user`, `assistant`, `system`, `tool`, or the source's own word. Chunks of one message
    that follow each other are joined.
    """
    read = (_plain_message(message) for message in messages)
    for key, group in groupby(read, key=_chunk_key):
        pieces = list(group)
        yield from pieces if key is None else [_joined(pieces)]


def _plain_message(message: Any) -> Any:
    fields = _fields(message)
    if fields is None:
        return plain(message)
    word, fields = fields[0], plain({**fields[1]})
    kind = _KINDS.get(_plain_kind(word), word)
    role = fields.get("role")
    if kind == "chat" and isinstance(role, str):
        kind = _KINDS.get(_plain_kind(role), role)
    return {**fields, "kind": kind, "is_chunk": word.endswith("Chunk")}


def _fields(message: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the word for what a message is, and its fields; None for what is none."""
    if isinstance(message, str):
        return "human", {"content": message}
    if isinstance(message, list | tuple):
        is_pair = len(message) == 2 and all(isinstance(part, str) for part in message)  # noqa: PLR2004
        return (message[0], {"content": message[1]}) if is_pair else None
    if isinstance(message, Mapping):
        return _fields_of_mapping(message)
    kind = getattr(message, "type", None)
    if not isinstance(kind, str) or not hasattr(message, "content"):
        return None
    return kind, {name: getattr(message, name) for name in _FIELDS if hasattr(message, name)}


def _fields_of_mapping(message: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    kind, role, data = message.get("type"), message.get("role"), message.get("data")
    if kind == "constructor":
        name = _class_of(message)
        return None if name is None else (name, message["kwargs"])
    if isinstance(kind, str) and isinstance(data, Mapping) and "content" in data:
        return kind, data
    word = role if isinstance(role, str) else kind
    return (word, message) if isinstance(word, str) and _is_kind(word) else None


def _is_kind(word: str) -> bool:
    return _plain_kind(word) in _KINDS


def _chunk_key(message: Any) -> Any:
    """Return the id that the chunks of one message share; None for whole messages."""
    if not isinstance(message, Mapping) or not message.get("is_chunk"):
        return None
    own = message.get("id")
    return (message["kind"], own) if isinstance(own, str) and own else None


def _joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Join the chunks of one message, whose calls come in pieces."""
    if len(chunks) == 1:
        return chunks[0]
    whole: dict[str, Any] = {}
    for chunk in chunks:
        whole |= {key: value for key, value in chunk.items() if value not in (None, "", [], {})}
    content = [chunk.get("content") for chunk in chunks]
    texts = [part for part in content if isinstance(part, str)]
    blocks = [block for part in content if isinstance(part, list) for block in part]
    calls = list(_joined_calls(chunks))
    return {
        **whole,
        "content": [*texts, *blocks] if blocks else "".join(texts),
        "tool_calls": calls or whole.get("tool_calls"),
        # The pieces of arguments are no calls that are invalid.
        "invalid_tool_calls": [],
    }


def _joined_calls(chunks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    pieces: dict[Any, list[Mapping[str, Any]]] = {}
    for chunk in chunks:
        rows = chunk.get("tool_call_chunks")
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, Mapping):
                index = row.get("index")
                place = index if isinstance(index, int | str) else row.get("id")
                pieces.setdefault(place if isinstance(place, int | str) else None, []).append(row)
    for rows in pieces.values():
        first = {key: next((r[key] for r in rows if r.get(key)), None) for key in ("id", "name")}
        args = [row["args"] for row in rows if isinstance(row.get("args"), str)]
        yield {**first, "args": "".join(args)}
