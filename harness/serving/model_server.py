"""The scripted model server: an OpenAI-compatible endpoint that answers by a script."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from harness.serving.model_requests import ApiError, ModelRequest, parse_body, read_request
from harness.serving.reply_bodies import body_parts, cut_parts, encode, error_body, model_list
from harness.serving.rules import ScriptedReply, reply_to, slow_refusal
from harness.serving.script_records import Script
from harness.system.patterns import SlowPattern, inline_limit, time_limit
from harness.system.threads import in_thread

_MOST_BYTES = 256 * 1024 * 1024
_PATHS = "POST /v1/chat/completions and GET /v1/models"
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def scripted_server(
    script: Script, *, host: str = "127.0.0.1", port: int = 0, close: bool = False
) -> AsyncIterator[str]:
    """Serve a script in the running loop and give the base URL, which ends in `/v1`.

    Port 0 takes a free one. With `close`, every answer ends its connection: a Letta server needs
    that, for it loses track of connections that are kept alive and then stalls for a minute. On
    leaving, requests that are still being answered are cut off.

    Raises:
        OSError: the port is taken, or the host is not of this machine.
    """
    runner = web.AppRunner(
        _application(script, close=close),
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=0.05,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1"
    finally:
        await runner.cleanup()


def _application(script: Script, *, close: bool) -> web.Application:
    server = _ModelServer(script)
    application = web.Application(client_max_size=_MOST_BYTES, middlewares=[_shape_errors])
    application.router.add_post("/v1/chat/completions", server.complete)
    application.router.add_get("/v1/models", server.list_models)
    if close:
        application.on_response_prepare.append(_end_connection)
    return application


async def _end_connection(_: web.Request, response: web.StreamResponse) -> None:
    response.force_close()
    # The hook runs after aiohttp has written the header that says so.
    response.headers["Connection"] = "close"


class _ModelServer:
    """Answers by the script, and remembers how often rules with `times` have answered."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._uses: defaultdict[str, Counter[int]] = defaultdict(Counter)

    async def list_models(self, _: web.Request) -> web.Response:
        return _json(200, encode(model_list(self._script)))

    async def complete(self, request: web.Request) -> web.StreamResponse:
        asked = read_request(parse_body(await request.read()), alike=self._script.alike)
        reply = await self._reply(asked)
        if reply.rule.times is not None:
            self._uses[asked.key][reply.index] += 1
        await asyncio.sleep(reply.rule.seconds)
        if reply.rule.status is not None:
            return _refused_by_rule(reply, reply.rule.status)
        return await _send(request, reply)

    async def _reply(self, asked: ModelRequest) -> ScriptedReply:
        uses = self._uses.get(asked.key, Counter())
        try:
            with inline_limit():
                return reply_to(self._script, asked, uses)
        except SlowPattern:
            return await in_thread(_reply_in_time, self._script, asked, uses)


def _reply_in_time(script: Script, asked: ModelRequest, uses: Mapping[int, int]) -> ScriptedReply:
    try:
        with time_limit():
            return reply_to(script, asked, uses)
    except SlowPattern as slow:
        raise slow_refusal(asked, slow) from slow


def _refused_by_rule(reply: ScriptedReply, status: int) -> web.Response:
    message = reply.text or f"The script answers with status {status} ({reply.label})."
    response = _json(status, encode(error_body(ApiError(status, message, code=reply.rule.code))))
    if reply.rule.retry_after is not None:
        response.headers["Retry-After"] = f"{reply.rule.retry_after:g}"
    return response


async def _send(request: web.Request, reply: ScriptedReply) -> web.StreamResponse:
    """Send a reply; one that is cut breaks the connection, or ends as if it were whole."""
    streamed, cut = reply.request.stream, reply.rule.cut
    parts = body_parts(reply)
    sent = cut_parts(reply, parts) if cut else parts
    response = web.StreamResponse()
    response.content_type = "text/event-stream" if streamed else "application/json"
    if not streamed:
        # A body that is cut quietly has the length that its header says.
        response.content_length = sum(map(len, sent if cut == "quietly" else parts))
    await response.prepare(request)
    for part in sent:
        await response.write(part)
    if cut is True and request.transport is not None:
        request.transport.close()
    return response


@web.middleware
async def _shape_errors(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Return every refusal the shape of OpenAI's errors, aiohttp's own included."""
    try:
        return await handler(request)
    except ApiError as refusal:
        return _json(refusal.status, encode(error_body(refusal)))
    except web.HTTPException as error:
        message = f"{request.method} {request.path}: {error.reason}. Here are {_PATHS}."
        response = _json(error.status, encode(error_body(ApiError(error.status, message))))
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response


def _json(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json")
