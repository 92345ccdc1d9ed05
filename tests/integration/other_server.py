"""An OpenAI-compatible server that shares no code with Regrade, and that can misbehave.

`answer(body)` decides on each request, given its JSON body: it returns an `Answer`.
"""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@dataclass
class Answer:
    """One answer: a message, or (with `status` or `raw`) something else.

    `style` is how it streams: `plain`, `blank_ids` (later pieces of a call have an empty id and
    name) or `no_index` (whole calls without an index). `cut` ends a stream after that many events:
    `close` ends the connection as if all were sent, `reset` breaks it. `before` runs first.
    `forever` follows `raw`, again and again, until the client leaves.
    """

    content: object = None
    calls: tuple = ()
    finish: str | None = None
    extra: dict = field(default_factory=dict)
    status: int = 200
    headers: dict = field(default_factory=dict)
    raw: bytes | None = None
    kind: str = "application/json"
    style: str = "plain"
    cut: int | None = None
    end: str = "close"
    done: bool = True
    before: Callable[[], None] | None = None
    forever: bytes = b""

    @property
    def message(self):
        message = {"role": "assistant", "content": self.content, **self.extra}
        return {**message, "tool_calls": list(self.calls)} if self.calls else message

    @property
    def finish_reason(self):
        return self.finish or ("tool_calls" if self.calls else "stop")


def call(name, arguments, call_id="c1"):
    """Give a tool call; arguments that are no text are sent as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def refusal(status, body, **headers):
    """Give an error answer; `_` in the names of headers stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return Answer(status=status, raw=raw, headers=named)


class OtherServer:
    """The running server: its `url`, and the `bodies` and `headers` of the requests so far."""

    def __init__(self, answer):
        self.answer = answer
        self.bodies = []
        self.headers = []
        self.connections = set()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


def in_order(*answers):
    """Answer the requests one after the other; the last answer is given for ever."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def by_results(*answers):
    """Answer by how many assistant messages the conversation has, so that it can be held twice."""
    return lambda body: answers[sum(m["role"] == "assistant" for m in body["messages"])]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Say nothing."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        owner = self.server.owner
        owner.bodies.append(body)
        owner.headers.append({name.lower(): value for name, value in self.headers.items()})
        owner.connections.add(self.client_address)
        answer = owner.answer(body)
        if answer.before:
            answer.before()
        with contextlib.suppress(ConnectionError):
            self._send(answer, body)

    def _send(self, answer, body):
        if self.path != "/v1/chat/completions":
            answer = refusal(404, {"error": {"message": "no such path"}})
        if answer.status == 200 and answer.raw is None and body.get("stream"):
            self._stream(answer, body)
        else:
            self._whole(answer, body)

    def _whole(self, answer, body):
        raw = answer.raw
        if raw is None:
            choice = {"index": 0, "message": answer.message}
            choice["finish_reason"] = answer.finish_reason
            whole = {"id": "x", "object": "chat.completion", "model": f"{body['model']}-served"}
            raw = json.dumps({**whole, "choices": [choice], "usage": USAGE}).encode()
        cut = answer.cut is not None
        if answer.forever:
            self._start(answer, {"connection": "close"})
            self._pour(raw, answer.forever)
            return
        self._start(answer, {"content-length": str(len(raw))})
        self.wfile.write(raw[: answer.cut] if cut else raw)
        if cut:
            self._break(answer.end)

    def _pour(self, head, unit):
        self.close_connection = True
        self.wfile.write(head)
        while True:
            self.wfile.write(unit)

    def _start(self, answer, headers):
        self.send_response(answer.status)
        for name, value in {"content-type": answer.kind, **headers, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, answer, body):
        clean = answer.cut is not None and answer.end == "close"
        framing = {"connection": "close"} if clean else {"transfer-encoding": "chunked"}
        self._start(answer, {"content-type": "text/event-stream", **framing})
        events = [json.dumps(event) for event in _events(answer, body)]
        if answer.done:
            events.append("[DONE]")
        for event in events[: answer.cut]:
            self._event(event.encode(), chunked=not clean)
        if answer.cut is not None:
            self._break(answer.end)
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _event(self, data, *, chunked):
        data = b"data: " + data + b"\r\n\r\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
        self.wfile.flush()

    def _break(self, end):
        self.close_connection = True
        self.wfile.flush()
        if end == "reset":
            now = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
            self.connection.close()


def _events(answer, body):
    """Give the chunks of a streamed answer."""
    base = {"id": "x", "object": "chat.completion.chunk", "model": f"{body['model']}-served"}

    def chunk(delta, finish=None):
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for key, value in answer.extra.items():
        yield from (chunk({key: value[at : at + 4]}) for at in range(0, len(value), 4))
    text = answer.content or ""
    yield from (chunk({"content": text[at : at + 3]}) for at in range(0, len(text), 3))
    for index, made in enumerate(answer.calls):
        yield from (chunk({"tool_calls": [d]}) for d in _deltas(index, made, answer.style))
    yield chunk({}, answer.finish_reason)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": USAGE}


def _deltas(index, made, style):
    if style == "no_index":
        yield made
        return
    text = made["function"]["arguments"]
    yield {**made, "index": index, "function": {**made["function"], "arguments": ""}}
    blank = {"id": "", "type": "function"} if style == "blank_ids" else {}
    for at in range(0, len(text), 5):
        function = {"arguments": text[at : at + 5]}
        if style == "blank_ids":
            function["name"] = ""
        yield {"index": index, **blank, "function": function}
