"""Conversations with Google's Gemini: requests of its API, and sessions of the Gemini CLI.

A request is the body of `generateContent` (v1beta): `contents`, with `system_instruction` in either
spelling; a recorded response beside it, or its `candidates`, are the last reply. A session is a
file that the CLI (0.8 and newer) keeps: `sessionId` and `messages`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.importers.merged_replies import followed_by
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
from harness.system.json_values import clean_json
from harness.types.imports import ForeignSource, Head, Imported

_READ = ("messages", "contents", "request", "response", "candidates")
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
    response = record if record.get("response") is None else record["response"]
    reply = _first_content(response)
    told = contents if reply is None else followed_by(contents, reply, "parts")
    for index, content in enumerate(told):
        place_of_it = f"contents[{index}]" if index < len(contents) else "response"
        _at(place_of_it, conversation.content, content)
    _close(response, conversation, is_read=reply is not None)
    return _imported(record, conversation, place)


def _at(place: str, read: Any, value: Any) -> None:
    try:
        read(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _candidates(response: Any) -> list[Any]:
    candidates = response.get("candidates") if isinstance(response, Mapping) else None
    return candidates if isinstance(candidates, list) else []


def _first_content(response: Any) -> dict[str, Any] | None:
    """Return what the first candidate of a response says."""
    first = next(iter(_candidates(response)), None)
    content = first.get("content") if isinstance(first, Mapping) else None
    return {"role": "model", **content} if isinstance(content, Mapping) else None


def _close(response: Any, conversation: GeminiConversation, *, is_read: bool) -> None:
    """Add the numbers of a response, and keep what of it is not the reply."""
    if is_read:
        told = response.get("usageMetadata")
        counts = told if isinstance(told, Mapping) else {}
        names = {"input_tokens": "promptTokenCount", "output_tokens": "candidatesTokenCount"}
        usage = read_usage({name: counts.get(theirs) for name, theirs in names.items()})
        conversation.use(usage, text_or_none(response.get("modelVersion")))
    for other in _candidates(response)[1 if is_read else 0 :]:
        conversation.builder.keep_unread("candidate", clean_json(other))
    if not _candidates(response) and not (isinstance(response, Mapping) and "contents" in response):
        conversation.builder.keep_unread("response", clean_json(response))


def _imported(record: Mapping[str, Any], conversation: GeminiConversation, place: str) -> Imported:
    trajectory = conversation.builder.trajectory()
    models = (step.model for turn in trajectory.turns for step in turn.steps)
    return Imported(
        place=place,
        trajectory=trajectory,
        sample_id=field_text(record, ID_ENTRIES),
        model=field_text(record, MODEL_ENTRIES) or next(filter(None, models), None),
        outcomes=named_outcomes(record),
        fields=without(record, *_READ, *_INSTRUCTIONS),
        unread=conversation.builder.unread,
    )
