"""The target `http`: an agent behind a URL, whatever it is built with."""

import os
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Literal

from harness.system.variables import VariableError, fill_variables
from harness.targets.http_options import (
    Body,
    Checked,
    HttpCall,
    HttpResponse,
    HttpSessionOptions,
    Method,
    has_user,
    url_problems,
)
from harness.targets.http_templates import (
    INPUT,
    MESSAGES,
    MODEL,
    SESSION_ID,
    placeholders_in,
    template_problems,
)
from harness.types.code import SuitePath
from harness.types.protocols import Connection, RunContext

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset({"content-length", "host", "transfer-encoding", "connection", "cookie"})


def _header_problems(headers: dict[str, str]) -> Iterator[str]:
    yield from template_problems(headers)
    seen: set[str] = set()
    for name in headers:
        if not _HEADER_NAME.fullmatch(name):
            yield f'"{name}" is no name of a header'
        elif name.lower() in _OURS:
            yield f"the header {name} cannot be set here: it is made for each request"
        elif name.lower() in seen:
            yield f"the header {name} is given twice"
        seen.add(name.lower())


@dataclass(frozen=True, kw_only=True)
class HttpAgent:
    """Drives an agent behind a URL: a turn is one request, and its reply or stream of events.

    Texts of `url`, `headers` and `request` may hold placeholders such as `{{input}}`; JSON paths in
    `response` say where in the reply the agent's text or messages are.
    """

    url: Annotated[str, Checked(url_problems)] = field(
        metadata={"description": "Address that a turn is sent to.", "pattern": "^https?://."}
    )
    method: Method = field(default="POST", metadata={"description": "Method of the request."})
    headers: Annotated[dict[str, str], Checked(_header_problems)] = field(
        default_factory=dict,
        metadata={
            # Filled in where they are sent: what is filled in is a secret, and no change of the
            # target.
            "verbatim": True,
            "description": "Headers of every request; `${NAME}` is taken from the environment, "
            "and never written anywhere.",
        },
    )
    request: Body = field(
        default=None,
        metadata={
            "description": "Body of the request, sent as JSON. Placeholders: {{input}}, "
            "{{messages}}, {{session_id}}, {{model}}, {{epoch}}, {{attempt}}, {{turn}}, "
            "{{sample.id}}, and {{metadata.x}}, {{agent_args.x}}, {{extra_vars.x}} of the sample."
        },
    )
    response: HttpResponse = field(
        default_factory=HttpResponse,
        metadata={
            "description": "JSON paths: where in the reply, or in each event of a stream, "
            "`text`, `messages` (in the shape `format`), `usage`, `model` and `error` are; "
            "`done` says what ends a stream. Without any, a plain text is the agent's message."
        },
    )
    stream: Literal["sse"] | None = field(
        default=None, metadata={"description": "`sse` if the reply is a stream of events."}
    )
    session: HttpSessionOptions = field(
        default_factory=HttpSessionOptions,
        metadata={
            "description": "How the server keeps a conversation: requests to `start` and `end` "
            "it, a path to its `id`, `cookies`."
        },
    )
    stateless: bool | None = field(
        default=None,
        metadata={
            "keyed": False,
            "description": "Whether a request that was refused may be sent again within an "
            "attempt. By default it may if each request holds all {{messages}} and the server "
            "keeps nothing.",
        },
    )
    redirects: Literal["same_origin", "refuse"] = field(
        default="same_origin",
        metadata={"description": "Where redirects are followed; none leads to another host."},
    )
    ca_file: SuitePath | None = field(
        default=None,
        metadata={
            "keyed": False,
            "description": "Certificates (PEM) of those who vouch for the server, in place of "
            "the usual ones.",
        },
    )

    def __post_init__(self) -> None:
        """Refuse options that do not go together.

        Raises:
            ValueError: with what is wrong.
        """
        if not self._asked & {INPUT, MESSAGES}:
            raise ValueError(
                "{{input}} or {{messages}} has to stand in url, headers or request: the agent "
                "would be told nothing"
            )
        urls = (self.url, *(call.url for call in self._calls))
        if "authorization" in map(str.lower, self.headers) and any(map(has_user, urls)):
            raise ValueError(
                "the header Authorization and a user in an address say twice who asks: give one"
            )
        if self.response.done is not None and self.stream is None:
            raise ValueError("response.done says what ends a stream, but there is no `stream`")

    @property
    def _asked(self) -> frozenset[str]:
        return placeholders_in([self.url, self.headers, self.request])

    @property
    def _calls(self) -> tuple[HttpCall, ...]:
        return tuple(call for call in (self.session.start, self.session.end) if call)

    @property
    def sends_all(self) -> bool:
        """Say whether each request holds the whole conversation."""
        return MESSAGES in self._asked

    @property
    def has_session(self) -> bool:
        """Say whether the server keeps a conversation."""
        return SESSION_ID in self._asked or self.session.cookies

    @property
    def takes_history(self) -> bool:
        """Say whether the agent can be told what was said before the first turn."""
        return self.sends_all

    @property
    def takes_turns(self) -> bool:
        """Say whether the agent knows in a later turn what was said in an earlier one."""
        return self.sends_all or self.has_session

    @property
    def may_resend(self) -> bool:
        """Say whether a refused request has left nothing behind that a second one would meet."""
        if self.stateless is not None:
            return self.stateless
        return self.sends_all and not self.has_session and not self._calls

    def lint(self) -> Iterator[tuple[str, str]]:
        """Yield (option, problem) for options that cannot work."""
        if self.session.id is not None and SESSION_ID not in self._all_asked:
            yield "session", "its id is read, but {{session_id}} stands nowhere"
        if self.ca_file is not None and (problem := _certificate_problem(self.ca_file)):
            yield "ca_file", problem

    @property
    def _all_asked(self) -> frozenset[str]:
        return self._asked.union(*(call.placeholders for call in self._calls))

    def lint_models(self, models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield that models are named which the agent is not told."""
        if len(models) > 1 and MODEL not in self._all_asked:
            yield "request", "it does not hold {{model}}: every model would be the same agent"

    def lint_keys(self, _models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield the variables that headers need and the environment lacks."""
        for name, text in self.headers.items():
            try:
                fill_variables(text, os.environ)
            except VariableError as error:
                yield "headers", f"{name}: {error}"

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run; nothing is asked yet.

        Raises:
            TargetError: `unauthorized`, where a header needs a variable that is not set;
                `bad_request`, where `ca_file` holds no certificate.
        """
        # The HTTP library takes long to import; `regrade --help` goes without it.
        from harness.targets.http_connection import HttpConnection  # noqa: PLC0415

        connection = HttpConnection(self, run_context)
        try:
            yield connection
        finally:
            await connection.close()


def _certificate_problem(file: SuitePath) -> str | None:
    # The module loads a shared library.
    import ssl  # noqa: PLC0415

    try:
        ssl.create_default_context(cafile=file.path)
    except (OSError, ValueError) as error:
        return f"{file.text} holds no certificates: {error}"
    return None
