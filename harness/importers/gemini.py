"""Conversations with Google's Gemini: requests of its API, and sessions of the Gemini CLI.

A request is the body of `generateContent` (v1beta): `contents`, with `system_instruction` in either
spelling; a recorded response beside it is the last reply. A session is a file that the CLI (0.8 and
newer) keeps: `sessionId` and `messages`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.record_fields import (
    ID_ENTRIES,
    MODEL_ENTRIES,
    field_text,
    named_outcomes,
    without,
)
from harness.messages.completions import read_usage, text_or_none
from harness.messages.contents import shape_error
from harness.messages.gemini_contents import GeminiConversation
from harness.types.imports import ForeignSource, Head, Imported

_INSTRUCTIONS = ("system_instruction", "systemInstruction")


@dataclass(frozen=True, slots=True)
class Gemini:
    """Gemini: bodies of requests with `contents`, and sessions of the Gemini CLI."""

    specification: ClassVar[str] = "Gemini API v1beta contents; Gemini CLI sessions, from 0.8"

    def claims(self, head: Head) -> bool:
        """Say whether the first record is a request or a session."""
        first = head.values[0] if head.values else None
        if isinstance(first, list) and first:
            first = first[0]
        return isinstance(first, Mapping) and (_is_session(first) or _contents(first) is not None)

    def read(self, source: ForeignSource) -> Iterator[Imported]:
        """Return a conversation for each record.

        Raises:
            ValueError: a record is neither.
        """
        for place, record in source.records():
            try:
                yield _read(record, place)
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from error


def _is_session(record: Mapping[str, Any]) -> bool:
    messages = record.get("messages")
    if "sessionId" not in record or not isinstance(messages, list):
        return False
    return all(isinstance(m, Mapping) and "type" in m and "role" not in m for m in messages[:1])


def _contents(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the contents of a request, which may stand in a record of it."""
    request = record.get("request")
    if isinstance(request, Mapping):
        record = request
    contents = record.get("contents")
    if not isinstance(contents, list) or not contents:
        return None
    return contents if isinstance(contents[0], Mapping) and "parts" in contents[0] else None


def _read(record: Any, place: str) -> Imported:
    if not isinstance(record, Mapping):
        raise shape_error("a record must be an object", record)
    conversation = GeminiConversation()
    if _is_session(record):
        for index, message in enumerate(record["messages"]):
            _at(f"messages[{index}]", conversation.message, message)
        return _imported(record, conversation, place)
    contents = _contents(record)
    if contents is None:
        raise ValueError("the record holds no contents, and no messages of a session")
    request = record.get("request")
    asked = request if isinstance(request, Mapping) else record
    for name in _INSTRUCTIONS:
        if asked.get(name) is not None:
            _at(name, conversation.instruct, asked[name])
    for index, content in enumerate(contents):
        _at(f"contents[{index}]", conversation.content, content)
    _answer(record.get("response"), conversation)
    return _imported(record, conversation, place)


def _at(place: str, read: Any, value: Any) -> None:
    try:
        read(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _answer(response: Any, conversation: GeminiConversation) -> None:
    """Read the first candidate of a response."""
    candidates = response.get("candidates") if isinstance(response, Mapping) else None
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    content = first.get("content") if isinstance(first, Mapping) else None
    if isinstance(content, Mapping):
        _at("response", conversation.content, {"role": "model", **content})
        told = response.get("usageMetadata")
        counts = told if isinstance(told, Mapping) else {}
        names = {"input_tokens": "promptTokenCount", "output_tokens": "candidatesTokenCount"}
        usage = read_usage({name: counts.get(theirs) for name, theirs in names.items()})
        conversation.use(usage, text_or_none(response.get("modelVersion")))


def _imported(record: Mapping[str, Any], conversation: GeminiConversation, place: str) -> Imported:
    trajectory = conversation.builder.trajectory()
    models = (step.model for turn in trajectory.turns for step in turn.steps)
    return Imported(
        place=place,
        trajectory=trajectory,
        sample_id=field_text(record, ID_ENTRIES),
        model=field_text(record, MODEL_ENTRIES) or next(filter(None, models), None),
        outcomes=named_outcomes(record),
        fields=without(record, "messages", "contents", "request", "response", *_INSTRUCTIONS),
        unread=conversation.builder.unread,
    )
