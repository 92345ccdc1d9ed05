"""What `kind: http` may say of its requests, replies and sessions.

Each option is checked where it is bound, so that every fault of a suite is told at its place.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from harness.targets.http_templates import placeholders_in, template_problems

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Template = dict[str, Any] | list[Any]
"""JSON in whose texts placeholders are filled in."""

MessageFormat = Literal[
    "openai-chat", "openai-responses", "anthropic", "gemini", "langchain", "letta", "pydantic-ai",
    "regrade",
]  # fmt: skip
"""The shapes of messages that a reply may hold, by the names that the importers have."""

_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)")


class Checked:
    """Marks an option whose values are looked at when a suite is loaded.

    `problems` yields what is wrong with a value; None is never wrong.
    """

    def __init__(self, problems: Callable[[Any], Iterable[str]]) -> None:
        self._problems = problems

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        # Pydantic asks for this where it checks options; this module must stay light without it.
        from pydantic_core import core_schema  # noqa: PLC0415

        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: Any) -> Any:
        found = "; ".join(self._problems(value)) if value is not None else ""
        if found:
            raise ValueError(found)
        return value


def path_problems(path: str) -> Iterator[str]:
    """Yield what keeps a text from being a JSON path."""
    # The library is imported late: a suite of another kind starts without it.
    from harness.system.json_paths import check_path  # noqa: PLC0415

    try:
        check_path(path)
    except ValueError as error:
        yield f'"{path}" is no JSON path: {error}'


def _end_problems(done: str) -> Iterator[str]:
    return path_problems(done) if done.startswith("$") else iter(())


def url_problems(url: str) -> Iterator[str]:
    """Yield what is wrong with an address and its placeholders."""
    yield from template_problems(url)
    host = _HOST.match(url)
    if host is not None and "{{" in host[1]:
        yield "no placeholder can stand for a host: a dataset would say where keys are sent"
        return
    try:
        if urlsplit(url).port == 0 or (host is not None and re.search(r"\s", host[1])):
            yield "this is no address: its host or its port is none"
    except ValueError as error:
        yield f"this is no address: {error}"


def has_user(url: str) -> bool:
    """Say whether an address names a user, which becomes a header Authorization."""
    host = _HOST.match(url)
    return host is not None and "@" in host[1]


Body = Annotated[Template | None, Checked(template_problems)]
JsonPath = Annotated[str | None, Checked(path_problems)]


@dataclass(frozen=True, kw_only=True)
class HttpCall:
    """A request beside the turns; `url` may be relative to that of the target."""

    url: Annotated[str, Checked(url_problems)] = field(
        metadata={"description": "Address; may be relative to the target's."}
    )
    method: Method = field(default="POST", metadata={"description": "Method of the request."})
    request: Body = field(
        default=None, metadata={"description": "Body, sent as JSON; placeholders are filled in."}
    )

    @property
    def placeholders(self) -> frozenset[str]:
        """Return the names that it asks for."""
        return placeholders_in([self.url, self.request])


@dataclass(frozen=True, kw_only=True)
class HttpResponse:
    """Where in a reply, or in each event of a stream, things are: JSON paths (RFC 9535)."""

    text: JsonPath = field(
        default=None,
        metadata={"description": "What the agent says; in a stream, the next piece of it."},
    )
    messages: JsonPath = field(
        default=None, metadata={"description": "Messages: a list, a single one, or several."}
    )
    format: MessageFormat = field(
        default="openai-chat", metadata={"description": "The shape of these messages."}
    )
    usage: JsonPath = field(
        default=None, metadata={"description": "An object with the numbers of tokens."}
    )
    model: JsonPath = field(
        default=None, metadata={"description": "The model that was really asked."}
    )
    error: JsonPath = field(
        default=None,
        metadata={"description": "Where the server reports an error in a reply of status 200."},
    )
    done: Annotated[str | None, Checked(_end_problems)] = field(
        default=None,
        metadata={
            "min_length": 1,
            "description": "What ends a stream: the name or the data of an event, or a path that "
            "leads to something true; `close` for the end of the transmission. By default the "
            "usual marks, such as `[DONE]`, an event `done` or a finish_reason.",
        },
    )

    @property
    def ends_by_path(self) -> bool:
        """Say whether a path tells that a stream is over."""
        return self.done is not None and self.done.startswith("$")

    @property
    def reads_parts(self) -> bool:
        """Say whether a path leads to what the agent says or does."""
        return self.text is not None or self.messages is not None


@dataclass(frozen=True, kw_only=True)
class HttpSessionOptions:
    """How the server keeps a conversation.

    Without `start` and `id`, `{{session_id}}` is a random UUID, a new one for each attempt.
    """

    start: HttpCall | None = field(
        default=None, metadata={"description": "A request that precedes the first turn."}
    )
    id: JsonPath = field(
        default=None,
        metadata={
            "description": "JSON path to the session's id, in the reply to `start`, else in that "
            "to the first turn."
        },
    )
    end: HttpCall | None = field(
        default=None, metadata={"description": "A request that follows the last turn."}
    )
    cookies: bool = field(
        default=False,
        metadata={"description": "Keep the server's cookies for the rest of the conversation."},
    )
