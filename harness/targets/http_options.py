"""What `kind: http` may say of its requests, replies and sessions; each record checks itself."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from harness.targets.http_templates import placeholders_in, template_problems

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Template = dict[str, Any] | list[Any]
MessageFormat = Literal[
    "openai-chat", "openai-responses", "anthropic", "gemini", "langchain", "letta", "pydantic-ai",
    "regrade",
]  # fmt: skip
"""The shapes of messages that a reply may hold, by the names that the importers have."""

_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)")
_PATHS = ("text", "messages", "usage", "model", "error")


def _raise_first(record: str, problems: Iterator[str]) -> None:
    problem = next(problems, None)
    if problem is not None:
        raise ValueError(f"{record}: {problem}" if record else problem)


def path_problem(path: str | None) -> str | None:
    """Return what keeps a text from being a JSON path; None for one that is, or for none."""
    if path is None:
        return None
    # The library is imported late: a suite of another kind starts without it.
    from harness.system.json_paths import check_path  # noqa: PLC0415

    try:
        check_path(path)
    except ValueError as error:
        return f'"{path}" is no JSON path: {error}'
    return None


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


@dataclass(frozen=True, kw_only=True)
class HttpCall:
    """A request beside the turns; `url` may be relative to that of the target."""

    url: str = field(metadata={"description": "Address; may be relative to the target's."})
    method: Method = field(default="POST", metadata={"description": "Method of the request."})
    request: Template | None = field(
        default=None, metadata={"description": "Body, sent as JSON; placeholders are filled in."}
    )

    def __post_init__(self) -> None:
        """Refuse placeholders that nothing fills.

        Raises:
            ValueError: there is such a one.
        """
        _raise_first("url", url_problems(self.url))
        _raise_first("request", template_problems(self.request))

    @property
    def placeholders(self) -> frozenset[str]:
        """Return the names that it asks for."""
        return placeholders_in([self.url, self.request])


@dataclass(frozen=True, kw_only=True)
class HttpResponse:
    """Where in a reply, or in each event of a stream, things are: JSON paths (RFC 9535)."""

    text: str | None = field(
        default=None,
        metadata={"description": "What the agent says; in a stream, the next piece of it."},
    )
    messages: str | None = field(
        default=None, metadata={"description": "Messages: a list, a single one, or several."}
    )
    format: MessageFormat = field(
        default="openai-chat", metadata={"description": "The shape of these messages."}
    )
    usage: str | None = field(
        default=None, metadata={"description": "An object with the numbers of tokens."}
    )
    model: str | None = field(
        default=None, metadata={"description": "The model that was really asked."}
    )
    error: str | None = field(
        default=None,
        metadata={"description": "Where the server reports an error in a reply of status 200."},
    )
    done: str | None = field(
        default=None,
        metadata={
            "min_length": 1,
            "description": "What ends a stream: the name or the data of an event, or a path that "
            "leads to something true. By default `[DONE]`, or the end of the transmission.",
        },
    )

    def __post_init__(self) -> None:
        """Refuse what is no path.

        Raises:
            ValueError: there is such a one.
        """
        for name in _PATHS:
            if problem := path_problem(getattr(self, name)):
                raise ValueError(f"{name}: {problem}")
        if self.ends_by_path and (problem := path_problem(self.done)):
            raise ValueError(f"done: {problem}")

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
    id: str | None = field(
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

    def __post_init__(self) -> None:
        """Refuse an id that is no path.

        Raises:
            ValueError: it is none.
        """
        if problem := path_problem(self.id):
            raise ValueError(f"id: {problem}")
