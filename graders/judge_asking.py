"""Asking a judge until there is a verdict: a question goes out, an answer comes back.

All trying again is done here, by the one retry layer: of what was refused for now, of outages, and
of replies without a verdict. A judge is stateless, so each try asks the same question again.
"""

import asyncio
from collections.abc import Iterable

from graders.judge_prompts import Message
from graders.judge_questions import Answer, Manner, Question
from graders.judge_replies import ReplyError, Verdict, read_verdict
from harness.endpoints.endpoints import Endpoint
from harness.endpoints.failures import failure
from harness.messages.completions import ModelReply
from harness.messages.contents import read_content
from harness.system.clock import wait_text
from harness.system.redaction import redact
from harness.system.retrying import retry
from harness.system.time_limits import limited
from harness.types.errors import TargetError
from harness.types.trajectories import Usage


class Asking:
    """One question while it is asked; `manner` is how it was put last, and `usage` what it took."""

    def __init__(
        self, question: Question, endpoint: Endpoint, *, manner: Manner, turn: asyncio.Semaphore
    ) -> None:
        self._question, self._endpoint, self._turn = question, endpoint, turn
        self._usage: list[Usage] = []
        self._reply: ModelReply | None = None
        self._text: str | None = None
        self._waited = 0.0
        self.manner = manner

    async def answer(self, most_seconds: float) -> Answer:
        """Ask until there is a verdict or trying again is over.

        All waits together take `most_seconds` at most.
        """

        async def pause(seconds: float, error: TargetError) -> None:
            # Nothing has to recover after a reply that came and held no verdict.
            if error.code != "judge_reply":
                await self._wait(seconds, error, most_seconds)

        try:
            verdict = await retry(
                self._once,
                may_retry=lambda error: error.policy.retried,
                attempts=self._question.max_retries + 1,
                pause=pause,
            )
        except TargetError as error:
            return self._answer(error=error)
        return self._answer(verdict=verdict)

    async def _wait(self, seconds: float, error: TargetError, most: float) -> None:
        if self._waited + seconds > most:
            raise TargetError(
                f"{error}; asking again would take {wait_text(seconds)} more of waiting, after "
                f"{self._waited:g} s; retries.max_wait_seconds is {most:g}",
                code=error.code,
                retry_after=error.retry_after,
            ) from error
        self._waited += seconds
        await asyncio.sleep(seconds)

    async def _once(self) -> Verdict:
        self._reply = self._text = None
        self._reply = await self._sent()
        self._usage.append(self._reply.usage)
        try:
            self._text = _text_of(self._reply)
            return _verdict_in(self._reply, self._text, self._question.shown)
        except ValueError as error:
            # Told once more what form is wanted, most judges heed it.
            self.manner.json_asked = True
            secrets = self._endpoint.secrets
            raise failure(str(error), code="judge_reply", secrets=secrets) from error

    async def _sent(self) -> ModelReply:
        """Send the question, without what the endpoint refuses to hear of."""
        while True:
            try:
                return await self._within_limits()
            except TargetError as error:
                if error.code != "bad_request" or not self.manner.drop_refused(str(error)):
                    raise

    async def _within_limits(self) -> ModelReply:
        body, seconds = self.manner.body(self._question), self._question.timeout
        async with self._turn:
            try:
                return await limited(self._endpoint.ask(body, _forget), seconds)
            except TimeoutError as error:
                message = f"no answer within {seconds:g} s"
                raise TargetError(message, code="connection_lost") from error

    def _answer(
        self, *, verdict: Verdict | None = None, error: TargetError | None = None
    ) -> Answer:
        code, cause, message = ("", "", "") if error is None else _explained(error)
        secrets = self._endpoint.secrets
        return Answer(
            verdict=verdict and Verdict(verdict.score, redact(verdict.rationale, secrets)),
            code=code,
            cause=cause,
            message=message,
            messages=self.manner.messages(self._question),
            reply=None if self._text is None else redact(self._text, secrets),
            served=self._reply.model if self._reply else None,
            usage=_sum(self._usage),
        )


def refused_for(error: TargetError, messages: tuple[Message, ...]) -> Answer:
    """Return the answer to a question that could not even be sent."""
    code, cause, message = _explained(error)
    return Answer(code=code, cause=cause, message=message, messages=messages)


def _explained(error: TargetError) -> tuple[str, str, str]:
    """Return the code of the grade, the endpoint's own code, and what happened."""
    message = f"{error}; {error.hint}" if error.hint else str(error)
    if error.code == "judge_reply":
        return error.code, "", message
    code = "judge_unreachable" if error.policy.retried else "judge_refused"
    return code, error.code, f"{error.code}: {message}"


def _verdict_in(reply: ModelReply, text: str, shown: str) -> Verdict:
    """Read the verdict of a reply that was not cut.

    Raises:
        ValueError: there is none.
    """
    if reply.stop_reason == "length":
        raise ReplyError("the reply was cut at its token limit")
    if reply.stop_reason == "content_filter":
        raise ReplyError("the provider's filter stopped the reply")
    if not text.strip():
        refusal = reply.message.get("refusal")
        raise ReplyError(f"the judge declined: {refusal}" if refusal else "the reply is empty")
    return read_verdict(text, shown)


def _text_of(reply: ModelReply) -> str:
    content = reply.message.get("content")
    return "" if content is None else "".join(read_content(content).texts)


def _sum(usage: Iterable[Usage]) -> Usage | None:
    total = sum(usage, Usage())
    return None if total == Usage() else total


def _forget(_part: ModelReply) -> None:
    """Take the beginning of a reply that was cut: a verdict it is not."""
