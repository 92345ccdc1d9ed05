"""What the judges of a run share: endpoints, a bound on how many are asked at once, the cache."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from graders.judge_asking import Asking, refused_for
from graders.judge_cache import CachedReply, ReplyCache
from graders.judge_questions import Answer, Manner, Place, Question
from graders.judge_replies import ReplyError, read_verdict
from harness.endpoints.clients import make_endpoint
from harness.endpoints.endpoints import Endpoint
from harness.endpoints.keys import find_key
from harness.system.redaction import redact
from harness.system.texts import error_line
from harness.system.user_cache import cache_folder
from harness.types.errors import TargetError
from harness.types.protocols import GradingContext
from harness.types.trajectories import Usage


@asynccontextmanager
async def judge_connection(context: GradingContext) -> AsyncIterator["JudgeConnection"]:
    """Give the connection of a run's judges; its clients are closed at the end."""
    connection = JudgeConnection(context, ReplyCache(cache_folder("judges")))
    try:
        yield connection
    finally:
        await connection.close()


class JudgeConnection:
    """Asks judges; so many at once as trials are graded at once."""

    def __init__(self, context: GradingContext, cache: ReplyCache) -> None:
        self._context, self._cache = context, cache
        self._turn = asyncio.Semaphore(context.concurrency)
        self._endpoints: dict[tuple[str | None, str | None], Endpoint] = {}
        self._manners: dict[tuple[Place, str], Manner] = {}

    async def close(self) -> None:
        """Close the endpoints."""
        for endpoint in self._endpoints.values():
            await endpoint.close()

    async def ask(self, question: Question) -> Answer:
        """Ask a question, or take the reply to the same one from the cache.

        Whatever goes wrong is in the answer. Raises `GraderError` where a script cannot be served.
        """
        # A scripted model costs nothing, and its address means nothing in the next run.
        may_keep = not (question.place.is_scripted or self._context.keeps_nothing)
        cached = question.cache and may_keep
        if cached and (known := self._known(question)):
            return known
        try:
            endpoint = await self._endpoint(question.place)
        except TargetError as error:
            return refused_for(error, question.messages)
        answer = await self._asked(question, endpoint)
        if cached and answer.verdict is not None:
            self._keep(question, answer, endpoint)
        return answer

    async def _asked(self, question: Question, endpoint: Endpoint) -> Answer:
        model = (question.place, question.model)
        known = self._manners.get(model, Manner(schema=question.has_schema))
        asking = Asking(question, endpoint, manner=replace(known), turn=self._turn)
        answer = await asking.answer(self._context.max_wait_seconds)
        if answer.verdict is not None:
            self._manners[model] = asking.manner
        return self._priced(question, answer)

    def _priced(self, question: Question, answer: Answer) -> Answer:
        """Add what an answer cost, and let the run count it."""
        if answer.usage is None and answer.verdict is None:
            return answer
        url = question.place.url
        usage = self._context.prices.priced(question.model, answer.usage or Usage(), url)
        return answer if usage == Usage() else replace(answer, usage=usage)

    async def _endpoint(self, place: Place) -> Endpoint:
        """Return the endpoint of a place.

        Raises:
            TargetError: `unauthorized`, where there is no key; `bad_request`, for no address.
            GraderError: there is no script, or none that can be served.
        """
        if place.is_scripted:
            return self._made(await self._context.serve_script(place.script), None)
        return self._made(place.url, find_key(place.keys, url=place.url, option="api_key_env"))

    def _made(self, url: str | None, key: str | None) -> Endpoint:
        if (url, key) not in self._endpoints:
            made = make_endpoint(url, key, concurrency=self._context.concurrency)
            self._endpoints[url, key] = made
        return self._endpoints[url, key]

    def _known(self, question: Question) -> Answer | None:
        found = self._cache.read(question.key)
        if found is None:
            return None
        try:
            verdict = read_verdict(found.text, question.shown)
        except ReplyError:
            return None
        return Answer(
            verdict=verdict,
            messages=question.messages,
            reply=found.text,
            served=found.served,
            cached=True,
        )

    def _keep(self, question: Question, answer: Answer, endpoint: Endpoint) -> None:
        text = redact(answer.reply or "", endpoint.secrets)
        try:
            self._cache.write(question.key, CachedReply(text=text, served=answer.served))
        except OSError as error:
            self._context.warn(f"judges' answers cannot be kept for later: {error_line(error)}")
