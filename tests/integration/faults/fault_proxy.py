"""A proxy on loopback between a client and a server of HTTP, which does harm by a plan.

It shares no code with Regrade. Each request is sent on as a whole and on a connection of its own;
the answer is read as a whole, and given back whole, harmed, or not at all. Connections of the
client are kept open, unless a fault breaks them.
"""

import asyncio
import socket
import struct
from collections import Counter
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time

import aiohttp
from integration.faults.fault_plans import Asked, Fault, key_of, talk_of

GARBAGE = b"\x16\x03\x01\x00\xa5 this is no HTTP \xff\xfe\r\n\r\n" * 3
PAGE = b"<!doctype html><title>502</title><h1>Bad gateway</h1>"
_INSIDE = 12  # so many bytes after the word are arguments, in all but the emptiest call
_REASONS = {200: "OK", 429: "Too Many Requests", 503: "Service Unavailable"}
_HOP = {"connection", "content-length", "keep-alive", "transfer-encoding", "host", "date", "server"}


@dataclass(frozen=True)
class Passed:
    """One request that came: what it met, whether the server heard of it, and when it came.

    `due` is the time before which the same request should not come again.
    """

    asked: Asked
    fault: Fault | None
    reached: bool
    came: float
    due: float = 0.0


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    headers: tuple
    body: bytes


@dataclass(frozen=True)
class _Reply:
    status: int
    headers: tuple
    body: bytes


class FaultProxy:
    """The running proxy: its `url` stands for the server's, `passed` is what has come so far.

    `has_come` is set from the first request on.
    """

    def __init__(self, upstream, plan):
        self._upstream = upstream.rstrip("/")
        self._plan = plan
        self._seen = Counter()
        self._server = None
        self._port = 0
        self._open = set()
        self.passed = []
        self.has_come = asyncio.Event()

    @property
    def url(self):
        """The address that a client is given in place of the server's."""
        path = self._upstream.partition("://")[2].partition("/")[2]
        return f"http://127.0.0.1:{self._port}/{path}".rstrip("/")

    @property
    def faults(self):
        """How often each kind of fault was met; `None` counts requests that met none."""
        return Counter(one.fault.kind if one.fault else None for one in self.passed)

    @property
    def early(self):
        """The requests that came before the time which their last refusal had named."""
        due, found = {}, []
        for one in self.passed:
            if one.came < due.get(one.asked.key, 0.0):
                found.append(one)
            due[one.asked.key] = one.due
        return found

    async def listen(self):
        """Begin to listen, on the port of before where there was one."""
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def leave(self):
        """Stop listening and break all connections: who connects now is refused."""
        self._server.close()
        for writer in list(self._open):
            _reset(writer)
        await self._server.wait_closed()

    async def _talk(self, reader, writer):
        self._open.add(writer)
        try:
            while (request := await _read_request(reader)) is not None:
                if not await self._serve(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left
        finally:
            self._open.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, request, writer):
        """Answer one request; say whether the connection goes on."""
        came, key = monotonic(), key_of(request.body)
        talk = talk_of(request.body)
        asked = Asked(key=key, nth=self._seen[key], number=self._seen.total(), talk=talk)
        self._seen[key] += 1
        fault = self._plan(asked)
        due = came + _seconds(fault.retry_after) if fault and fault.retry_after else 0.0
        reached = fault is None or fault.kind in {"lost_reply", "delay", "cut", "cut_call"}
        self.passed.append(Passed(asked, fault, reached, came, due))
        self.has_come.set()
        if fault is not None and fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        reply = await self._ask(request) if reached else None
        return await _answer(reply, fault, writer)

    async def _ask(self, request):
        scheme, _, rest = self._upstream.partition("://")
        url = f"{scheme}://{rest.partition('/')[0]}{request.path}"
        headers = [(n, v) for n, v in request.headers if n.lower() not in _HOP]
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method, url, headers=headers, data=request.body, allow_redirects=False
            ) as answer,
        ):
            kept = tuple((n, v) for n, v in answer.headers.items() if n.lower() not in _HOP)
            return _Reply(answer.status, kept, await answer.read())


async def _read_request(reader):
    """Read one request; None where the client has closed the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = tuple(tuple(map(str.strip, line.split(":", 1))) for line in lines)
    length = next((int(v) for n, v in headers if n.lower() == "content-length"), 0)
    return _Request(method, path, headers, await reader.readexactly(length))


async def _answer(reply, fault, writer):
    kind = fault.kind if fault else None
    if kind in {"reset", "lost_reply"}:
        _reset(writer)
        return False
    if kind == "garbage":
        writer.write(GARBAGE)
        await writer.drain()
        return False
    if kind == "page":
        reply = _Reply(200, (("content-type", "text/html"),), PAGE)
    if kind == "status":
        wait = () if fault.retry_after is None else (("retry-after", fault.retry_after),)
        reply = _Reply(fault.status, (("content-type", "application/json"), *wait), b"{}")
    if kind in {"cut", "cut_call"}:
        await _cut(reply, fault, writer)
        return False
    writer.write(_head(reply, length=len(reply.body)) + reply.body)
    await writer.drain()
    return True


async def _cut(reply, fault, writer):
    """Send the beginning of a reply; a stream that is closed looks as if it had ended."""
    streams = any(n.lower() == "content-type" and "event-stream" in v for n, v in reply.headers)
    unframed = streams and fault.end == "close"
    writer.write(_head(reply, length=None if unframed else len(reply.body)))
    writer.write(reply.body[: place_of_cut(reply.body, fault)])
    await writer.drain()
    if fault.end == "reset":
        # What was written is on its way before the connection breaks.
        await asyncio.sleep(0.02)
        _reset(writer)


def place_of_cut(body, fault):
    """Return how many bytes of a body are sent: fewer than all, unless it is empty."""
    begin, end = 0, len(body)
    found = body.find(b'"arguments"')
    if fault.kind == "cut_call" and found >= 0:
        begin = found + len(b'"arguments"')
        end = min(begin + _INSIDE, len(body))
    return min(begin + int(fault.at * (end - begin)), max(len(body) - 1, 0))


def _head(reply, *, length):
    framing = ("connection", "close") if length is None else ("content-length", str(length))
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in (*reply.headers, framing)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _reset(writer):
    """Break a connection at once, so that the other side reads a reset and no end."""
    sock = writer.get_extra_info("socket")
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _seconds(retry_after):
    """Return the seconds that a header asks to wait: a number, or a date."""
    try:
        return max(float(retry_after), 0.0)
    except ValueError:
        return max(parsedate_to_datetime(retry_after).timestamp() - time(), 0.0)


@asynccontextmanager
async def fault_proxy(upstream, plan):
    """Run a proxy before a server; `upstream` is the address that clients would be given."""
    proxy = FaultProxy(upstream, plan)
    await proxy.listen()
    try:
        yield proxy
    finally:
        await proxy.leave()
