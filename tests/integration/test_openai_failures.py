"""What an endpoint can do wrong, over real HTTP: each failure has its code."""

import gzip
import json
import socket
import ssl
import threading
from datetime import timedelta
from email.utils import format_datetime

import pytest
import trustme
from aiohttp import web
from fakes.driven_samples import drive_sample
from integration.openai_driving import TOOLS, drive, serve
from integration.other_server import Answer, call, refusal
from integration.refusing_server import RefusingServer, reply, served

from harness.system.clock import now
from harness.targets.openai_agent import OpenAIAgent
from harness.types.errors import POLICIES
from harness.types.events import AssistantMessage, SystemEvent, ToolCall, ToolResult

ERROR = {"error": {"message": "No.", "type": "invalid_request_error", "code": None}}


def error(code, message="No."):
    return {"error": {"message": message, "type": "x", "code": code}}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(400, ERROR), "bad_request"),
        (refusal(422, "{'no': json}"), "bad_request"),
        (refusal(400, error("context_length_exceeded")), "context_length"),
        (refusal(400, error(None, "maximum context length is 8192 tokens")), "context_length"),
        (refusal(400, error("content_filter")), "content_filter"),
        (refusal(401, error("invalid_api_key")), "unauthorized"),
        (refusal(402, ERROR), "quota_exhausted"),
        (refusal(403, ERROR), "forbidden"),
        (refusal(404, error("model_not_found")), "not_found"),
        (refusal(429, error("insufficient_quota")), "quota_exhausted"),
        (refusal(429, {"error": {"type": "insufficient_quota"}}), "quota_exhausted"),
        (refusal(429, "{}"), "rate_limited"),
        (refusal(500, ERROR), "server_error"),
        (refusal(502, "<html>Bad Gateway</html>"), "server_error"),
        (refusal(504, ""), "server_error"),
        (refusal(503, ""), "overloaded"),
        (refusal(529, ""), "overloaded"),
        (Answer(raw=b"<html>", kind="text/html"), "bad_reply"),
        (Answer(raw=b'{"choices": []}'), "bad_reply"),
        (Answer(raw=b'{"choices": [{"message": {"tool_calls": [{}]}}]}'), "bad_reply"),
        (Answer(raw=b"[]"), "bad_reply"),
        (Answer(raw=b'{"error": {"message": "x", "code": 502}}'), "server_error"),
        (Answer(raw=b'{"object": "error", "message": "x", "code": 400}'), "bad_request"),
        (Answer(content="x" * 1000, cut=100), "connection_lost"),
        (Answer(content="x" * 1000, cut=0, end="reset"), "connection_lost"),
    ],
)
async def test_each_failure_has_its_code(answer, code):
    with serve(answer) as server:
        driven = await drive(server, {"wait_seconds": 0.0})
    assert driven.error.code == code
    assert driven.error.code in POLICIES
    assert "\n" not in str(driven.error)
    assert driven.of(AssistantMessage) == []


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'data: {"error": {"message": "x", "code": 429}}\n\n', "rate_limited"),
        (b'data: {"error": {"message": "x", "type": "overloaded_error"}}\n\n', "overloaded"),
        (b'data: {"error": {"message": "x"}}\n\n', "server_error"),
        (b"data: {no json}\n\n", "bad_reply"),
        (b"data: [1]\n\n", "bad_reply"),
        (b'data: {"choices": [{"del', "stream_cut"),
        (b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"code":503}}\n\n',
         "stream_cut"),
        ((b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
         b'data: {"choices":[{"finish_reason":"error","error":{"code":502,"message":"x"}}]}\n\n'),
         "server_error"),
    ],
)  # fmt: skip
async def test_an_error_told_inside_a_stream_has_its_code(raw, code):
    with serve(Answer(raw=raw, kind="text/event-stream")) as server:
        driven = await drive(server, {"wait_seconds": 0.0}, request={"stream": True})
    assert driven.error.code == code
    assert driven.of(AssistantMessage) == []


async def test_a_whole_reply_to_a_request_for_a_stream_is_taken():
    raw = b'{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}'
    with serve(Answer(raw=raw)) as server:
        driven = await drive(server, request={"stream": True})
    assert [e.text for e in driven.of(AssistantMessage)] == ["whole"]


async def test_nobody_listening_is_a_refused_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for host in ("127.0.0.1", "localhost"):
        agent = OpenAIAgent(base_url=f"http://{host}:{port}/v1")
        driven = await drive_sample(agent, wait_seconds=0.0)
        assert driven.error.code == "connection_refused"
        assert str(port) in str(driven.error)
        assert "ConnectionRefusedError" in str(driven.error)


async def test_a_host_without_an_address_is_unknown(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "key-of-a-test")
    agent = OpenAIAgent(base_url="http://no-such-host.invalid/v1", api_key_env="SOME_KEY")
    driven = await drive_sample(agent, wait_seconds=0.0)
    # Where no name server can be asked, nobody knows what is known.
    with pytest.raises(socket.gaierror) as raised:
        socket.getaddrinfo("no-such-host.invalid", 80)
    unknown = raised.value.errno != socket.EAI_AGAIN
    assert driven.error.code == ("unknown_host" if unknown else "connection_lost")
    assert "no-such-host.invalid" in driven.error.line


async def test_who_answers_without_a_trusted_certificate_is_told_apart(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "key-of-a-test")
    server, context = RefusingServer(share=0.0), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with served(server, ssl_context=context):
        agent = OpenAIAgent(base_url=server.url, api_key_env="SOME_KEY")
        driven = await drive_sample(agent, wait_seconds=0.0)
    assert driven.error.code == "untrusted_certificate"
    assert "SSLCertVerificationError" in driven.error.line
    assert server.times == []


async def test_a_server_that_speaks_no_tls_is_a_lost_connection(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "key-of-a-test")
    server = RefusingServer(share=0.0)
    async with served(server):
        url = server.url.replace("http:", "https:")
        agent = OpenAIAgent(base_url=url, api_key_env="SOME_KEY")
        driven = await drive_sample(agent, wait_seconds=0.0)
    assert driven.error.code == "connection_lost"


async def test_used_up_limits_are_waited_for_until_they_are_reset():
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "300ms"}
    server = RefusingServer(share=1.0, headers=headers)

    async def answer(request):
        if not server.refused:
            return await server.answer(request)
        return web.json_response(reply("at last"))

    async with served(server, answer):
        driven = await drive_sample(OpenAIAgent(base_url=server.url))
    assert driven.error is None
    assert driven.waited == pytest.approx(0.3)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "http://[::1/v1", "not a url"])
async def test_a_base_url_that_is_none_is_a_bad_request(url, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "key-of-a-test")
    agent = OpenAIAgent(base_url=url, api_key_env="SOME_KEY")
    driven = await drive_sample(agent, wait_seconds=0.0)
    assert driven.error.code == "bad_request"


async def test_a_refused_request_is_sent_again_after_the_time_the_endpoint_asked_for():
    date = format_datetime(now() + timedelta(seconds=2), usegmt=True)
    answers = (
        refusal(429, "{}", retry_after="0.25"),
        refusal(503, "", retry_after_ms="50", retry_after="9"),
        refusal(529, "", retry_after=date),
        Answer(content="at last"),
    )
    with serve(*answers) as server:
        driven = await drive(server, {"wait_seconds": 60.0})
    assert driven.error is None
    assert [e.text for e in driven.of(AssistantMessage)] == ["at last"]
    assert 0.3 < driven.waited <= 2.3
    assert len(driven.trajectory.turns[0].steps) == 1


@pytest.mark.parametrize("asked", ["-5", "abc", "nan", "inf", "Thu, 05 Feb 1999 06:15:00 GMT"])
async def test_a_senseless_time_to_wait_gives_a_backoff(asked):
    with serve(refusal(503, "", retry_after=asked), Answer(content="ok")) as server:
        driven = await drive(server)
    assert driven.error is None
    assert 1.0 <= driven.waited <= 2.0


async def test_an_endpoint_that_asks_for_too_long_a_wait_is_given_up_at_once():
    with serve(refusal(429, "{}", retry_after="86400")) as server:
        driven = await drive(server)
    assert driven.error.code == "rate_limited"
    assert driven.error.retry_after == 86400.0
    assert len(server.bodies) == 1


async def test_an_endpoint_that_asks_for_no_wait_is_given_up_in_the_end():
    with serve(refusal(429, "{}", retry_after="0")) as server:
        driven = await drive(server, {"wait_seconds": 0.5})
    assert driven.error.code == "rate_limited"
    assert len(server.bodies) < 20


@pytest.mark.parametrize("status", [400, 500])
async def test_what_had_an_effect_or_cannot_be_cured_is_not_sent_again(status):
    with serve(refusal(status, ERROR)) as server:
        await drive(server)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [401, 422, 500])
async def test_a_key_that_an_endpoint_echoes_is_in_no_message(status, monkeypatch):
    monkeypatch.setenv("MY_KEY", "canary-9f3a-value")
    echo = f"invalid request: {{'headers': {{'x': 'canary-9f3a-value'}}}} {'canary-9f3a-value'}"
    with serve(refusal(status, echo)) as server:
        host = server.url.removeprefix("http://")
        agent = OpenAIAgent(base_url=f"http://u:p4ss-word@{host}", api_key_env="MY_KEY")
        driven = await drive_sample(agent)
    assert "invalid request" in str(driven.error)
    assert "canary" not in str(driven.error)
    assert "p4ss" not in str(driven.error)


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_half_an_answer_is_kept_but_is_no_answer(end):
    with serve(Answer(content="The balance is 12.", cut=6, end=end)) as server:
        driven = await drive(server, request={"stream": True})
    assert driven.error.code == "stream_cut"
    assert len(server.bodies) == 1
    assert driven.of(AssistantMessage) == []
    assert [(e.kind, e.text) for e in driven.of(SystemEvent)] == [
        ("partial_reply", "The balance is ")
    ]


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_half_a_call_is_never_run(end):
    made = call("fail", {"why": "it was run"})
    with serve(Answer(calls=(made,), cut=4, end=end)) as server:
        driven = await drive(server, request={"stream": True}, tools=TOOLS)
    assert driven.error.code == "stream_cut"
    assert driven.of(ToolCall) == []
    assert driven.of(ToolResult) == []
    assert driven.of(SystemEvent)[0].data["tool_calls"][0]["function"]["name"] == "fail"


@pytest.mark.parametrize(
    ("cut", "done", "code"),
    [
        (None, False, None),  # a finish_reason, but no [DONE]
        (4, True, None),  # cut after the finish_reason
        (2, True, "stream_cut"),
        (0, True, "stream_cut"),
    ],
)
async def test_a_stream_is_whole_with_its_finish_reason_or_its_end_mark(cut, done, code):
    answer = Answer(content="abc", cut=cut, done=done)
    with serve(answer) as server:
        driven = await drive(server, request={"stream": True, "stream_options": {}})
    assert (driven.error and driven.error.code) == code


async def test_a_time_limit_in_the_middle_of_a_stream_keeps_what_had_come():
    release = threading.Event()
    raw = b'data: {"choices":[{"delta":{"content":"Half of"}}]}\n\n'
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang():
            connection, _ = listener.accept()
            connection.recv(65536)
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
            connection.sendall(head + raw)
            release.wait(10)
            connection.close()

        threading.Thread(target=hang, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        agent = OpenAIAgent(base_url=url, request={"stream": True})
        driven = await drive_sample(agent, turn_seconds=0.5)
        release.set()
    assert driven.error.code == "turn_timeout"
    assert [e.text for e in driven.of(SystemEvent)] == ["Half of"]


def endless(head, unit, **fields):
    """Return an answer that sends `head`, and then `unit` for ever."""
    return Answer(raw=head, forever=unit, **fields)


@pytest.mark.parametrize(
    ("answer", "stream", "code"),
    [
        (endless(b'{"choices": [', b"[]," * 20_000), False, "bad_reply"),
        (endless(b"", b": keep-alive\n\n" * 5_000, kind="text/event-stream"), True, "bad_reply"),
        (endless(b"data: ", b"x" * 60_000, kind="text/event-stream"), True, "bad_reply"),
        (endless(b"", b"data: x\n" * 8_000, kind="text/event-stream"), True, "bad_reply"),
        (endless(b"<html>", b"x" * 60_000, status=500), False, "server_error"),
        (endless(b"", b"x" * 60_000, status=503, kind="text/plain"), True, "overloaded"),
    ],
)
async def test_a_reply_without_an_end_is_refused(answer, stream, code):
    with serve(answer) as server:
        driven = await drive(server, {"wait_seconds": 0.0}, request={"stream": stream})
    assert driven.error.code == code
    if code == "bad_reply":
        assert str(driven.error).endswith("the reply is longer than 32 MB")


BOMB = gzip.compress(b'{"choices": [' + bytes(200_000_000))
TWICE = gzip.compress(BOMB)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("answer", "code", "problem"),
    [
        ((200, BOMB, "gzip"), "bad_reply", "the reply is longer than 32 MB"),
        ((200, TWICE, "gzip, gzip"), "bad_reply", "the reply is encoded as gzip, gzip"),
        ((200, b"x", "br"), "bad_reply", "the reply is encoded as br"),
        ((500, BOMB, "gzip"), "server_error", "/chat/completions: 500"),
        ((500, TWICE, "gzip, gzip"), "server_error", "/chat/completions: 500"),
    ],
)
async def test_what_a_few_bytes_stand_for_is_read_as_far_as_a_reply_may_go(
    answer, code, problem, stream
):
    status, body, encoding = answer
    kind = "text/event-stream" if stream else "application/json"
    answer = Answer(status=status, raw=body, headers={"Content-Encoding": encoding}, kind=kind)
    with serve(answer) as server:
        driven = await drive(server, {"wait_seconds": 0.0}, request={"stream": stream})
    assert server.headers[0]["accept-encoding"] == "gzip"
    assert driven.error.code == code
    assert problem in str(driven.error)


async def test_a_reply_with_more_calls_than_anybody_runs_is_refused():
    made = tuple(call("greet", {"name": "x"}, f"c{n}") for n in range(1_001))
    with serve(Answer(calls=made)) as server:
        driven = await drive(server, tools=TOOLS)
    assert driven.error.code == "bad_reply"
    assert "1,001 tool calls; a reply may have 1,000" in str(driven.error)
    assert [e.kind for e in driven.of(SystemEvent)] == ["partial_reply"]
    assert driven.of(ToolCall) == []


@pytest.mark.parametrize("place", range(150, 230, 3))
@pytest.mark.parametrize("stream", [False, True])
async def test_no_part_of_a_key_is_left_where_a_message_is_cut(place, stream, monkeypatch):
    monkeypatch.setenv("ODD_NAME", "canary-9f3a-secret")
    raw = b"{" + b"x" * place + b"canary-9f3a-secret" * 40
    kind = "text/event-stream" if stream else "application/json"
    raw = b"data: " + raw + b"\n\n" if stream else raw
    with serve(Answer(raw=raw, kind=kind)) as server:
        driven = await drive(server, api_key_env="ODD_NAME", request={"stream": stream})
    assert driven.error.code == "bad_reply"
    assert "canary" not in str(driven.error)


async def test_a_partial_reply_holds_no_key(monkeypatch):
    monkeypatch.setenv("ODD_NAME", "canary-9f3a-secret")
    answer = Answer(
        content="your key is canary-9f3a-secret", finish="content_filter",
        extra={"note": "canary-9f3a-secret"},
    )  # fmt: skip
    with serve(answer) as server:
        driven = await drive(server, api_key_env="ODD_NAME")
    (partial,) = driven.of(SystemEvent)
    assert partial.text == "your key is [redacted]"
    assert "canary" not in str(partial.data)


@pytest.mark.parametrize(
    "made",
    [
        call("canary-9f3a-secret", {}),
        call("fail", {"why": "x" * 1_990 + "canary-9f3a-secret"}),
        call("greet", {"name": {"x": "canary-9f3a-secret"}}),
        call("greet", "{canary-9f3a-secret"),
    ],
)
async def test_a_failed_result_holds_no_key(made, monkeypatch):
    monkeypatch.setenv("ODD_NAME", "canary-9f3a-secret")
    with serve(Answer(calls=(made,)), Answer(content="ok")) as server:
        driven = await drive(server, tools=TOOLS, api_key_env="ODD_NAME")
    (result,) = driven.of(ToolResult)
    assert not result.ok
    assert "canary" not in result.output


@pytest.mark.parametrize("usage", [{"cost": 10**400}, {"prompt_tokens": 10**400}])
async def test_a_senseless_usage_spoils_no_answer(usage):
    body = {"choices": [{"message": {"content": "ok"}}], "usage": usage}
    with serve(Answer(raw=json.dumps(body).encode())) as server:
        driven = await drive(server)
    assert driven.error is None
