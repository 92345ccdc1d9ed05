"""What can go wrong with an agent behind a URL, over real HTTP: each failure has its code."""

import asyncio
import gzip
import json
import socket
import ssl

import pytest
import trustme
from aiohttp import web
from fakes.driven_samples import connected, drive_sample
from integration.agent_server import Raw, Streamed, agent_server, says

from harness.targets.http_agent import HttpAgent
from harness.targets.http_options import HttpCall, HttpResponse, HttpSessionOptions
from harness.types.code import SuitePath
from harness.types.errors import POLICIES, TargetError
from harness.types.events import AssistantMessage, SystemEvent, ToolCall, ToolResult

ASKS = {"q": "{{input}}"}
ALL = {"q": "{{messages}}"}
REPLY = HttpResponse(text="$.reply")
DELTAS = HttpResponse(text="$.d", messages="$.m")
CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}


def agent(server, **options):
    return HttpAgent(**{"url": f"{server.url}/chat", "request": ASKS, "response": REPLY, **options})


def texts(driven):
    return [event.text for event in driven.of(AssistantMessage)]


def refusal(status, body="", **headers):
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=status, text=text, headers=named)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(400, {"error": "No."}), "bad_request"),
        (refusal(401), "unauthorized"),
        (refusal(403, "no"), "forbidden"),
        (refusal(404, {"detail": "Not Found"}), "not_found"),
        (refusal(405), "bad_request"),
        (refusal(422, {"detail": [{"loc": ["body"], "msg": "Field required"}]}), "bad_request"),
        (refusal(429), "rate_limited"),
        (refusal(429, {"error": {"code": "insufficient_quota"}}), "quota_exhausted"),
        (refusal(500, "<html>broken</html>"), "server_error"),
        (refusal(502), "server_error"),
        (refusal(503), "overloaded"),
        (refusal(529), "overloaded"),
        (refusal(304), "bad_reply"),
        (refusal(302, location="/other"), "bad_request"),
        (refusal(307, location="http://example.com/chat"), "bad_request"),
        (refusal(307, location="/chat"), "bad_request"),
        (refusal(204), "bad_reply"),
        (Raw(b"<html>Sign in</html>", "text/html"), "bad_reply"),
        (Raw(b'{"reply": "cut', "application/json"), "bad_reply"),
        (Raw(b'{"reply": "cut', length=100), "connection_lost"),
        (Raw(b'{"text": "elsewhere"}'), "bad_reply"),
        (Raw(b'"a text"'), "bad_reply"),
        (Raw(b"[" * 1_000 + b"]" * 1_000), "bad_reply"),
        (Raw(b'{"reply": NaN}'), "bad_reply"),
        (Raw(b" " * 1_000_000, forever=True), "bad_reply"),
    ],
)
async def test_each_failure_has_its_code(answer, code):
    async with agent_server([answer]) as server:
        driven = await drive_sample(agent(server), wait_seconds=0.0)
    assert driven.error.code == code
    assert driven.error.code in POLICIES
    assert str(driven.error).startswith(f"POST {server.url}/chat")
    assert "\n" not in driven.error.line
    assert driven.of(AssistantMessage) == []


BOMB = gzip.compress(b'{"reply": "' + bytes(200_000_000))
BOMBS = {
    "a reply": (200, BOMB, "gzip", "the reply is longer than 32 MB"),
    "a reply that is compressed twice": (200, gzip.compress(BOMB), "gzip, gzip", "encoded as"),
    "an error": (500, BOMB, "gzip", "500"),
    "an error that is compressed twice": (500, gzip.compress(BOMB), "gzip, gzip", ": 500"),
    "another encoding": (200, b"x", "br", "the reply is encoded as br; gzip was asked for"),
    "half of one": (200, gzip.compress(b'{"reply": "ok"}')[:-9], "gzip", "amid its compressed"),
}


@pytest.mark.parametrize("what", BOMBS)
@pytest.mark.parametrize("stream", [None, "sse"])
async def test_what_a_few_bytes_stand_for_is_read_as_far_as_a_reply_may_go(what, stream):
    status, body, encoding, problem = BOMBS[what]
    kind = "text/event-stream" if stream else "application/json"
    headers = {"content-encoding": encoding, "content-type": kind}

    async with agent_server(lambda _: web.Response(status=status, body=body, headers=headers)) as s:
        driven = await drive_sample(agent(s, stream=stream), turn_seconds=10.0)
    assert s.seen[0].headers["accept-encoding"] == "gzip"
    assert problem in driven.error.line
    assert driven.error.code in {"bad_reply", "server_error", "connection_lost", "stream_cut"}


async def test_a_redirect_does_not_say_who_asks():
    def answer(seen):
        if seen.path == "/chat":
            leads = server.url.replace("http://", "http://other:word@") + "/new"
            return refusal(307, Location=leads)
        return says("ok")

    async with agent_server(answer) as server:
        driven = await drive_sample(agent(server, headers={"Authorization": "Bearer mine"}))
    assert texts(driven) == ["ok"]
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer mine"] * 2


@pytest.mark.parametrize("headers", [{}, {"X-Other": "x"}])
async def test_a_user_in_the_address_is_who_asks(headers):
    async with agent_server([says("ok")]) as server:
        url = server.url.replace("http://", "http://me:word@") + "/chat"
        assert texts(await drive_sample(agent(server, url=url, headers=headers))) == ["ok"]
    assert server.seen[0].headers["authorization"] == "Basic bWU6d29yZA=="


async def test_an_error_without_end_is_read_as_far_as_its_beginning():
    async def answer(_):
        return Raw(b"no " * 100_000, "text/plain", forever=True)

    async with agent_server(answer) as server:
        driven = await drive_sample(agent(server), turn_seconds=10.0)
    assert driven.error.code == "bad_reply"


@pytest.mark.parametrize(
    ("events", "end", "code"),
    [
        (({"d": "a"},), "reset", "stream_cut"),
        (({"d": "a"}, {"x": 1}), "close", "stream_cut"),
        (({"d": "a"}, {"x": 1}), "whole", "stream_cut"),
        (({"d": "a"}, "[DONE]"), "close", None),
        ((), "whole", "bad_reply"),
        (({"x": 1},), "whole", "bad_reply"),
        (({"d": "a"}, '{"d": '), "whole", "stream_cut"),
        ((("error", {"message": "No."}),), "whole", "server_error"),
        ((("error", {"type": "overloaded_error"}),), "whole", "overloaded"),
        (({"d": "a"}, ("error", {"type": "overloaded_error"})), "whole", "stream_cut"),
        (({"d": "a"}, ("error", "broken")), "whole", "server_error"),
        (({"m": {"role": "nobody"}}, "[DONE]"), "whole", "bad_reply"),
    ],
)
async def test_each_failure_of_a_stream_has_its_code(events, end, code):
    async with agent_server([Streamed(events, end)]) as server:
        made = agent(server, response=DELTAS, stream="sse")
        driven = await drive_sample(made, wait_seconds=0.0)
    assert (driven.error.code if driven.error else None) == code
    assert texts(driven) == ([] if code else ["a"])


MARKS = {
    "the end of Chat Completions": "[DONE]",
    "a named event": ("done", {}),
    "another name, with words": ("end", "Bye."),
    "a name in capitals": ("RUN_FINISHED", {}),
    "a type": {"type": "message_stop"},
    "a flag": {"done": True},
    "a flag beside the last piece": {"d": "", "finished": True},
    "a finish_reason": {"choices": [{"delta": {}, "finish_reason": "length"}]},
    "a stop_reason": {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    "Gemini's": {"candidates": [{"finishReason": "STOP"}]},
}
NO_MARKS = {
    "none": {"x": 1},
    "an empty reason": {"choices": [{"finish_reason": None}]},
    "a reason to go on": {"choices": [{"finish_reason": "tool_calls"}]},
    "a flag that is not set": {"done": False},
    "the end of a part": {"type": "content_block_stop"},
    "what a tool said": {"output": {"done": True}},
}


@pytest.mark.parametrize("what", [*MARKS, *NO_MARKS])
@pytest.mark.parametrize("end", ["whole", "close"])
async def test_a_stream_is_whole_where_a_common_mark_says_so(what, end):
    events = ({"d": "It is 12"}, {**MARKS, **NO_MARKS}[what], {"usage": 3})
    async with agent_server([Streamed(events, end)]) as server:
        driven = await drive_sample(agent(server, response=DELTAS, stream="sse"))
    if what in MARKS:
        assert driven.error is None
        assert texts(driven) == ["It is 12"]
    else:
        assert driven.error.code == "stream_cut"
        assert "target.response.done" in driven.error.line
        assert texts(driven) == []
        assert [event.text for event in driven.of(SystemEvent)] == ["It is 12"]


@pytest.mark.parametrize("more", [{"d": "2"}, {"m": {"role": "assistant", "content": "2"}}])
async def test_what_is_said_after_a_mark_takes_it_back(more):
    answer = Streamed(({"d": "It is 1"}, {"finish_reason": "stop"}, more), "close")
    async with agent_server([answer]) as server:
        driven = await drive_sample(agent(server, response=DELTAS, stream="sse"))
    assert driven.error.code == "stream_cut"


@pytest.mark.parametrize("piece", [{"d": "a"}, CHUNK])
async def test_a_server_may_end_its_streams_by_closing_where_the_suite_says_so(piece):
    response = HttpResponse(text="$.d" if "d" in piece else None, done="close")
    async with agent_server([Streamed((piece,), "close")]) as server:
        driven = await drive_sample(agent(server, response=response, stream="sse"))
    assert driven.error is None
    assert texts(driven) == ["a"]


@pytest.mark.parametrize("done", ["end", "$.end", "END"])
@pytest.mark.parametrize("end", ["whole", "close", "reset"])
async def test_a_stream_without_the_end_that_is_named_is_cut(done, end):
    async with agent_server([Streamed(({"d": "a"}, {"d": "b"}), end)]) as server:
        response = HttpResponse(text="$.d", done=done)
        driven = await drive_sample(agent(server, response=response, stream="sse"))
    assert driven.error.code == "stream_cut"
    assert driven.of(AssistantMessage) == []
    assert [event.text for event in driven.of(SystemEvent)] == ["ab"]


async def test_a_stream_that_is_cut_after_its_end_is_whole():
    answer = Streamed(({"d": "a"}, ("end", {})), "reset")
    async with agent_server([answer]) as server:
        response = HttpResponse(text="$.d", done="end")
        driven = await drive_sample(agent(server, response=response, stream="sse"))
    assert driven.error is None
    assert texts(driven) == ["a"]


async def test_a_stream_that_hangs_after_its_end_holds_nobody_up():
    async with agent_server([Streamed(({"d": "a"}, ("end", {})), "hang")]) as server:
        response = HttpResponse(text="$.d", done="end")
        made = agent(server, response=response, stream="sse")
        driven = await drive_sample(made, turn_seconds=5.0)
    assert driven.error is None
    assert texts(driven) == ["a"]


@pytest.mark.parametrize(
    ("events", "end", "code"),
    [
        ((CHUNK,), "whole", "stream_cut"),
        ((CHUNK,), "reset", "stream_cut"),
        ((CHUNK, {"error": {"message": "No.", "code": 429}}), "whole", "stream_cut"),
        (({"error": {"message": "No.", "code": 429}},), "whole", "rate_limited"),
        (({"unknown": 1},), "whole", "bad_reply"),
        ((), "whole", "bad_reply"),
    ],
)
async def test_each_failure_of_a_model_stream_has_its_code(events, end, code):
    async with agent_server([Streamed(events, end)]) as server:
        made = agent(server, response=HttpResponse(), stream="sse")
        driven = await drive_sample(made, wait_seconds=0.0)
    assert driven.error.code == code
    assert driven.of(AssistantMessage) == []


TWO = ({"id": "c1", "function": {"name": "look", "arguments": "{}"}},)


async def test_what_was_done_before_a_time_limit_is_kept_and_a_half_text_is_no_answer():
    events = (
        {"m": {"role": "assistant", "content": None, "tool_calls": TWO}},
        {"m": {"role": "tool", "tool_call_id": "c1", "content": "found"}},
        {"d": "It is "},
    )
    async with agent_server([Streamed(events, "hang")]) as server:
        made = agent(server, response=DELTAS, stream="sse")
        driven = await drive_sample(made, turn_seconds=0.5)
    assert driven.error.code == "turn_timeout"
    assert [call.name for call in driven.of(ToolCall)] == ["look"]
    assert [result.name for result in driven.of(ToolResult)] == ["look"]
    assert driven.of(AssistantMessage) == []
    assert [(e.kind, e.text) for e in driven.of(SystemEvent)] == [("partial_reply", "It is ")]


@pytest.mark.parametrize("value", [{"message": "No.", "type": "overloaded_error"}, "overloaded"])
async def test_an_error_that_the_reply_holds_is_one(value):
    reply = {"reply": "", "failed": value}
    async with agent_server(lambda _: web.json_response(reply)) as server:
        response = HttpResponse(text="$.reply", error="$.failed")
        driven = await drive_sample(agent(server, response=response), wait_seconds=0.0)
    assert driven.error.code in {"overloaded", "server_error"}


@pytest.mark.parametrize("none", [None, False, "", [], {}])
async def test_an_error_that_is_none_is_none(none):
    async with agent_server(lambda _: says("ok", failed=none)) as server:
        response = HttpResponse(text="$.reply", error="$.failed")
        assert texts(await drive_sample(agent(server, response=response))) == ["ok"]


@pytest.mark.parametrize(
    ("request_body", "attempts", "asked"), [(ALL, 1, 3), (ASKS, 3, 3), (ASKS, 2, 2)]
)
async def test_a_refused_request_is_sent_again_in_place_or_by_a_new_attempt(
    request_body, attempts, asked
):
    answers = [refusal(429, Retry_After="0"), refusal(503, Retry_After="0"), says("ok")]
    async with agent_server(answers) as server:
        made = agent(server, request=request_body)
        driven = await drive_sample(made, attempts=attempts)
    assert len(server.seen) == asked
    assert (driven.error is None) == (asked == 3)


async def test_the_wait_is_as_long_as_the_server_says():
    times = []
    loop = asyncio.get_running_loop()

    def answer(_):
        times.append(loop.time())
        return says("ok") if len(times) > 1 else refusal(429, Retry_After="1")

    async with agent_server(answer) as server:
        driven = await drive_sample(agent(server, request=ALL))
    assert texts(driven) == ["ok"]
    assert times[1] - times[0] >= 1.0
    assert driven.waited >= 1.0


@pytest.mark.parametrize("stateless", [True, False])
async def test_a_wait_that_is_too_long_ends_the_attempt_at_once_and_says_until_when(stateless):
    async with agent_server([refusal(429, Retry_After="1000")]) as server:
        made = agent(server, request=ALL, stateless=stateless)
        driven = await drive_sample(made, attempts=3)
    assert driven.error.code == "rate_limited"
    assert driven.error.retry_after == 1000.0
    assert str(driven.error).count("would take 1,000 s (until 2") == 1
    assert len(server.seen) == 1


async def test_each_attempt_has_a_session_of_its_own():
    def answer(seen):
        return says("ok") if seen.json["n"] == 1 else refusal(500)

    async with agent_server(answer) as server:
        request = {"q": "{{input}}", "s": "{{session_id}}", "n": "{{attempt}}"}
        driven = await drive_sample(agent(server, request=request), attempts=3)
    assert driven.error is None
    assert len({seen.json["s"] for seen in server.seen}) == len(server.seen) == 2


async def test_a_conversation_that_fails_later_begins_again_from_the_start():
    failed = []

    def answer(seen):
        if seen.json["turn"] == 1 and not failed:
            failed.append(seen)
            return refusal(503)
        return says(f"ok {seen.json['turn']}")

    async with agent_server(answer) as server:
        request = {"q": "{{input}}", "s": "{{session_id}}", "turn": "{{turn}}"}
        driven = await drive_sample(agent(server, request=request), attempts=2, input=("a", "b"))
    assert texts(driven) == ["ok 0", "ok 1"]
    assert [seen.json["turn"] for seen in server.seen] == [0, 1, 0, 1]


async def test_a_session_that_the_server_has_lost_begins_again():
    known, lost = set(), []

    def answer(seen):
        session = seen.json["s"]
        if seen.json["turn"] == 0:
            known.add(session)
        elif not lost:
            lost.append(session)
            known.clear()
        return says("ok") if session in known else refusal(404, "no such session")

    async with agent_server(answer) as server:
        request = {"q": "{{input}}", "s": "{{session_id}}", "turn": "{{turn}}"}
        made = agent(server, request=request)
        driven = await drive_sample(made, attempts=2, input=("a", "b"))
    assert texts(driven) == ["ok", "ok"]
    assert len(known) == len(lost) == 1


async def test_an_address_that_was_never_right_is_not_tried_again():
    async with agent_server([refusal(404)]) as server:
        request = {"q": "{{input}}", "s": "{{session_id}}"}
        driven = await drive_sample(agent(server, request=request), attempts=3)
    assert driven.error.code == "not_found"
    assert len(server.seen) == 1


async def test_a_session_that_cannot_be_started_is_an_error_and_nothing_else_is_asked():
    async with agent_server([refusal(500)]) as server:
        session = HttpSessionOptions(start=HttpCall(url="/s"), end=HttpCall(url="/e"))
        driven = await drive_sample(agent(server, session=session))
    assert driven.error.code == "server_error"
    assert [seen.path for seen in server.seen] == ["/s"]


@pytest.mark.parametrize("reply", ['{"other": 1}', '{"id": null}', '{"id": ""}', "no JSON"])
async def test_a_session_without_its_id_is_an_error(reply):
    async with agent_server(lambda _: Raw(reply.encode())) as server:
        session = HttpSessionOptions(start=HttpCall(url="/s"), id="$.id")
        request = {"q": "{{input}}", "s": "{{session_id}}"}
        driven = await drive_sample(agent(server, session=session, request=request))
    assert driven.error.code == "bad_reply"


async def test_a_session_that_cannot_be_ended_is_a_warning():
    def answer(seen):
        return refusal(500) if seen.path == "/e" else says("ok")

    async with agent_server(answer) as server:
        session = HttpSessionOptions(end=HttpCall(url="/e"))
        driven = await drive_sample(agent(server, session=session))
    assert texts(driven) == ["ok"]
    assert "/e: 500" in driven.warnings[0]


async def test_nobody_listening_is_a_refused_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    made = HttpAgent(url=f"http://127.0.0.1:{port}/chat", request=ASKS, response=REPLY)
    driven = await drive_sample(made, wait_seconds=0.0)
    assert driven.error.code == "connection_refused"
    assert "check target.url" in driven.error.line


async def test_a_header_that_a_sample_breaks_is_a_bad_request():
    async with agent_server(lambda _: says("ok")) as server:
        made = agent(server, headers={"X-Name": "{{metadata.name}}"})
        async with connected(made) as drive:
            for name in ("a\r\nX-Other: b", "é"):
                driven = await drive(metadata={"name": name})
                assert driven.error.code == "bad_request"
    assert server.seen == []


async def test_a_key_is_neither_in_errors_nor_in_what_is_recorded(monkeypatch):
    monkeypatch.setenv("AGENT_ACCESS", "canary-9f3a-value")
    headers = {"X-Access": "Custom ${AGENT_ACCESS}"}
    echo = {"error": {"message": "wrong: canary-9f3a-value"}}
    answers = [refusal(401, echo), says("your key is canary-9f3a-value")]
    async with (
        agent_server(answers) as server,
        connected(agent(server, headers=headers)) as drive,
    ):
        refused, said = await drive(), await drive()
    assert server.seen[0].headers["x-access"] == "Custom canary-9f3a-value"
    assert refused.error.code == "unauthorized"
    assert "canary" not in refused.error.line
    assert "check target.headers" in refused.error.line
    assert texts(said) == ["your key is [redacted]"]


async def test_a_header_without_its_variable_ends_the_run_before_any_trial(monkeypatch):
    monkeypatch.delenv("AGENT_ACCESS", raising=False)
    made = HttpAgent(url="http://127.0.0.1:1/", request=ASKS, headers={"X": "${AGENT_ACCESS}"})
    with pytest.raises(TargetError, match="AGENT_ACCESS is not set") as raised:
        await drive_sample(made)
    assert raised.value.code == "unauthorized"


async def test_redirects_can_be_refused():
    async with agent_server([refusal(307, location="/other")]) as server:
        driven = await drive_sample(agent(server, redirects="refuse"))
    assert driven.error.code == "bad_request"
    assert "307 leads to POST" in driven.error.line
    assert len(server.seen) == 1


async def test_a_certificate_is_checked_against_those_of_the_suite(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with agent_server(lambda _: says("ok"), ssl_context=context) as server:
        path = SuitePath(text="ca.pem", path=tmp_path / "ca.pem")
        assert texts(await drive_sample(agent(server, ca_file=path))) == ["ok"]
        refused = await drive_sample(agent(server))
    assert refused.error.code == "untrusted_certificate"
    assert "target.ca_file" in refused.error.line


async def test_a_file_without_certificates_ends_the_run_before_any_trial(tmp_path):
    path = tmp_path / "ca.pem"
    path.write_text("nothing", encoding="utf-8")
    made = HttpAgent(
        url="https://127.0.0.1:1/", request=ASKS, ca_file=SuitePath(text="ca.pem", path=path)
    )
    with pytest.raises(TargetError, match=r"ca\.pem") as raised:
        await drive_sample(made)
    assert raised.value.code == "bad_request"
