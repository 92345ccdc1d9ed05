"""One conversation of the target `http`: each turn is a request, its reply is recorded."""

from typing import Any
from uuid import uuid4

import httpx
from msgspec.structs import replace

from harness.endpoints.failures import failure
from harness.endpoints.resending import resend
from harness.messages.chat import read_turns
from harness.messages.chat_writing import write_messages
from harness.system.clock import monotonic
from harness.system.json_paths import select
from harness.system.json_values import load_json
from harness.targets.agent_answers import prompt_of, record_turn
from harness.targets.hidden_secrets import hiding
from harness.targets.http_agent import HttpAgent
from harness.targets.http_exchanges import HttpExchanges, Outgoing, parts_of, place_of
from harness.targets.http_options import HttpCall
from harness.targets.http_replies import ReplyFailures, WholeReply
from harness.targets.http_streams import StreamedReply
from harness.targets.http_templates import TurnValues
from harness.types.errors import TargetError
from harness.types.events import Event
from harness.types.protocols import AttemptContext, Record
from harness.types.trajectories import Step, Trajectory, Turn


class HttpSession:
    """A conversation with one agent, known to the server by its id, its cookies, or not at all."""

    paces_requests = True

    def __init__(self, agent: HttpAgent, exchanges: HttpExchanges, context: AttemptContext) -> None:
        self._agent = agent
        self._exchanges = exchanges
        self._context = context
        self._cookies = httpx.Cookies() if agent.session.cookies else None
        self._id = str(uuid4()) if agent.session.id is None else None
        self._messages: list[dict[str, Any]] = list(context.sample.history)
        self._asked = _prompts_of(context) if agent.sends_all else []
        self._turn = 0
        self._has_begun = False

    async def start(self) -> None:
        """Start the session on the server, where there is a request for that.

        Raises:
            TargetError: the server does not start it, or tells no id.
        """
        call = self._agent.session.start
        if call is None:
            return

        async def ask() -> Any:
            return await self._ask_beside(call, reads=self._agent.session.id is not None)

        value = await resend(lambda: self._context.paced(ask), wait=self._context.wait)
        self._has_begun = True
        if self._agent.session.id is not None:
            self._learn_id(value)
            self._require_id(call.url)

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: there was no answer.
        """
        record = hiding(record, self._exchanges.secrets)
        self._messages.append({"role": "user", "content": text})
        self._asked.append(text)
        outgoing = self._exchanges.turn(self._values(text))

        async def ask() -> Turn:
            return await self._ask(outgoing, record)

        try:
            turn = await resend(
                lambda: self._context.paced(ask),
                wait=self._context.wait,
                may_resend=self._may_resend,
            )
        except TargetError as error:
            raise self._lost(error) from error
        self._has_begun = True
        self._turn += 1
        self._record(turn, text, record)
        if self._agent.session.id is not None:
            self._require_id(self._agent.url)

    def _may_resend(self, refusal: TargetError) -> bool:
        """Say whether a request may be sent again: nothing must be left of the refused one.

        Where nobody listens, a conversation that has begun may be lost with its server.
        """
        if not refusal.policy.resent:
            return False
        nobody = refusal.code == "connection_refused" and not self._has_begun
        return self._agent.may_resend or nobody

    def _lost(self, error: TargetError) -> TargetError:
        """Return an error as it is, but for a session that the server knew and knows no more."""
        if error.code != "not_found" or not self._turn or not self._agent.has_session:
            return error
        return TargetError(f"{error}; the session is gone", code="connection_lost")

    def _values(self, text: str = "") -> TurnValues:
        return TurnValues(
            context=self._context,
            text=text,
            turn=self._turn,
            messages=self._messages,
            session_id=self._id,
        )

    async def _ask(self, outgoing: Outgoing, record: Record) -> Turn:
        started = monotonic()
        async with self._exchanges.answer(outgoing, self._cookies) as response:
            reply = self._reader(response)
            try:
                turn = await reply.read(response, ReplyFailures(response, self._exchanges.secrets))
            except BaseException:
                for event in reply.partial():
                    record(event)
                raise
        if len(turn.steps) != 1:
            return turn
        return replace(turn, steps=(replace(turn.steps[0], seconds=monotonic() - started),))

    def _reader(self, response: httpx.Response) -> WholeReply | StreamedReply:
        """Return what reads an answer: a server may refuse to stream, as it does for errors."""
        kind = response.headers.get("content-type", "").lower()
        is_whole = self._agent.stream is None or "json" in kind or "html" in kind
        options, asked = self._agent.response, self._asked
        return (WholeReply if is_whole else StreamedReply)(options, asked, self._learn_id_of_turn)

    def _record(self, turn: Turn, text: str, record: Record) -> None:
        said: list[Event] = []

        def keep(what: Event | Step) -> None:
            record(what)
            if not isinstance(what, Step):
                said.append(what)

        record_turn(turn, text, keep)
        written = write_messages(Trajectory(turns=(Turn(events=tuple(said)),))).messages
        self._messages += [message for message in written if message.get("role") != "system"]

    def _learn_id_of_turn(self, value: Any) -> None:
        if self._agent.session.start is None:
            self._learn_id(value)

    def _learn_id(self, value: Any) -> None:
        path = self._agent.session.id
        if path is None or self._id is not None:
            return
        found = [one for one in select(path, value) if isinstance(one, str | int) and one != ""]
        self._id = str(found[0]) if found else None

    def _require_id(self, url: str) -> None:
        if self._id is None:
            path = self._agent.session.id
            message = f"{url.partition('?')[0]}: the reply holds no id of the session at {path}"
            raise failure(message, code="bad_reply", secrets=self._exchanges.secrets)

    async def _ask_beside(self, call: HttpCall, *, reads: bool) -> Any:
        outgoing = self._exchanges.beside(call, self._values())
        async with self._exchanges.answer(outgoing, self._cookies) as response:
            data = b"".join([part async for part in parts_of(response)])
            try:
                return load_json(data) if reads else None
            except ValueError as error:
                message = f"{place_of(response)}: {error}"
                secrets = self._exchanges.secrets
                raise failure(message, code="bad_reply", secrets=secrets) from error

    async def close(self) -> None:
        """End the session on the server, where there is a request for that.

        Raises:
            TargetError: the server does not end it.
        """
        call = self._agent.session.end
        if call is not None and self._has_begun:
            await self._ask_beside(call, reads=False)


def _prompts_of(context: AttemptContext) -> list[str]:
    prompts = map(prompt_of, read_turns(context.sample.history))
    return [prompt for prompt in prompts if prompt is not None]
