"""One question to a judge: where it is asked, what is sent, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.judge_prompts import Message, with_json_asked
from graders.judge_replies import Verdict
from harness.system.hashing import sha256_of
from harness.types.trajectories import Usage

_SCHEMA: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "judgement",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "score": {"type": "number", "description": "The score, from 0.0 to 1.0."},
                "rationale": {"type": "string", "description": "Why, in one or two sentences."},
            },
            "required": ["score", "rationale"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a judge is asked.

    `url` is None for OpenAI's own address; `keys` are the variables that may hold the key.
    `script` is that of a scripted model, None for the target's script, where `is_scripted`.
    """

    url: str | None = None
    keys: tuple[str, ...] = ()
    is_scripted: bool = False
    script: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a judge is asked; `has_schema` says that the endpoint is to hold it to our JSON."""

    place: Place
    model: str
    messages: tuple[Message, ...]
    temperature: float
    has_schema: bool = True
    max_tokens: int | None = None
    max_retries: int
    timeout: float
    cache: bool

    @property
    def shown(self) -> str:
        """Return all that the judge is told."""
        return "\n".join(message["content"] for message in self.messages)

    @property
    def key(self) -> str:
        """Hash the question and where it is asked, never a key."""
        asked = [dict(message) for message in self.messages]
        schema = _SCHEMA if self.has_schema else None
        return sha256_of(self.place.url, self.model, asked, self.temperature, schema)


@dataclass(slots=True)
class Manner:
    """How a question is put; a judge that does not take or heed it is asked more plainly."""

    schema: bool
    temperature: bool = True
    json_asked: bool = False

    def body(self, question: Question) -> dict[str, Any]:
        """Return the body of the request."""
        return {
            "model": question.model,
            "messages": [dict(message) for message in self.messages(question)],
            **({"temperature": question.temperature} if self.temperature else {}),
            **({"response_format": _SCHEMA} if self.schema else {}),
            **({"max_tokens": question.max_tokens} if question.max_tokens else {}),
        }

    def messages(self, question: Question) -> tuple[Message, ...]:
        """Return the messages that are sent."""
        plain = not self.schema or self.json_asked
        return with_json_asked(question.messages) if plain else question.messages

    def drop_refused(self, message: str) -> bool:
        """Leave out what an endpoint may have refused; false where nothing is left to leave out."""
        if self.temperature and "temperature" in message.lower():
            self.temperature = False
            return True
        if self.schema:
            self.schema = False
            return True
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a question: a verdict, or the error in its place.

    `code` is one of the table of errors and `cause` the endpoint's own, both empty for a verdict.
    `reply` is the last reply, None where there was none; `usage` sums all replies that were made.
    """

    verdict: Verdict | None = None
    code: str = ""
    cause: str = ""
    message: str = ""
    messages: tuple[Message, ...] = ()
    reply: str | None = None
    served: str | None = None
    cached: bool = False
    usage: Usage | None = None
