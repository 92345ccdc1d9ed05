"""A request of a Chat Completions client comes in, what the rules look at goes out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import msgspec

from harness.messages.chat import read_turns
from harness.system.hashing import sha256_of
from harness.system.json_values import scrub_json
from harness.system.texts import one_line
from harness.types.events import UserMessage
from harness.types.suites import SCRIPTED
from harness.types.trajectories import Turn


class ApiError(Exception):
    """A request is answered by an error: an HTTP status and the fields of OpenAI's error body."""

    def __init__(
        self, status: int, message: str, *, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What a client asks.

    `model` is the name as it was asked for, `name` the same without `scripted/`. `turns` is the
    conversation so far and `replies` how many replies of the model the last turn holds. `key`
    hashes name, seed and conversation, or only the prompts where the script says so: requests of
    one key are answered alike.
    `prompt_tokens` counts one token for four characters of the messages' JSON.
    """

    model: str
    name: str
    turns: tuple[Turn, ...]
    replies: int
    key: str
    prompt_tokens: int
    stream: bool
    include_usage: bool


class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class _Body(msgspec.Struct):
    """The fields of a request that are looked at; the others may be anything."""

    model: str
    messages: list[dict[str, Any]]
    seed: int | None = None
    n: Literal[1] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    tools: list[dict[str, Any]] | None = None


def parse_body(raw: bytes) -> dict[str, Any]:
    """Read the JSON of a request; lone surrogates become U+FFFD.

    Raises:
        ApiError: it is no JSON object.
    """
    try:
        value = scrub_json(json.loads(raw, parse_constant=_no_number))
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"The body is not JSON: {one_line(str(error), 200)}") from error
    if not isinstance(value, dict):
        raise ApiError(400, "The body is not a JSON object.")
    return value


def read_request(
    body: Mapping[str, Any], *, alike: Literal["conversation", "prompts"] = "conversation"
) -> ModelRequest:
    """Read what a client asks; `alike` is the script's word for what its key hashes.

    Raises:
        ApiError: the body is not a request of this API.
    """
    try:
        asked = msgspec.convert(body, _Body)
        turns = read_turns(asked.messages)
    except msgspec.ValidationError as error:
        raise ApiError(400, f"The request is malformed: {error}") from error
    except ValueError as error:
        message = f"The messages are malformed: {one_line(str(error), 300)}"
        raise ApiError(400, message, param="messages") from error
    if not asked.messages:
        raise ApiError(400, "The request holds no messages.", param="messages")
    name = asked.model.removeprefix(SCRIPTED)
    replies = _replies(asked.messages)
    same: Any = turns if alike == "conversation" else (_prompts(turns), replies)
    return ModelRequest(
        model=asked.model,
        name=name,
        turns=turns,
        replies=replies,
        key=sha256_of(name, asked.seed, same),
        prompt_tokens=len(json.dumps(asked.messages, ensure_ascii=False)) // 4 + 1,
        stream=bool(asked.stream),
        include_usage=bool(asked.stream_options and asked.stream_options.include_usage),
    )


def _prompts(turns: tuple[Turn, ...]) -> list[str]:
    events = (event for turn in turns for event in turn.events)
    return [event.text for event in events if isinstance(event, UserMessage)]


def _replies(messages: list[dict[str, Any]]) -> int:
    roles = [message.get("role") for message in messages]
    asked = max((at for at, role in enumerate(roles) if role == "user"), default=-1)
    return roles[asked + 1 :].count("assistant")


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")
