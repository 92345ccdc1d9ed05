"""Agents behind a URL, over real HTTP: what is sent, and what becomes of the replies."""

import asyncio
import json

import pytest
from aiohttp import web
from fakes.driven_samples import connected, drive_sample
from integration.agent_server import Raw, Streamed, agent_server, says

from harness.targets.http_agent import HttpAgent
from harness.targets.http_options import HttpCall, HttpResponse, HttpSessionOptions
from harness.types.events import AssistantMessage, SystemEvent, ToolCall, ToolResult
from harness.types.trajectories import Usage

ASKS = {"q": "{{input}}"}
REPLY = HttpResponse(text="$.reply")
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"k": 1}'}}


def agent(server, path="/chat", **options):
    return HttpAgent(
        **{"url": f"{server.url}{path}", "request": ASKS, "response": REPLY, **options}
    )


def texts(driven):
    return [event.text for event in driven.of(AssistantMessage)]


async def test_a_turn_is_one_request_and_its_reply_a_message():
    async with agent_server(lambda _: says("Hello")) as server:
        request = {"q": "{{input}}", "e": "{{epoch}}", "who": "{{model}}/{{sample.id}}"}
        driven = await drive_sample(agent(server, request=request))
    assert driven.error is None
    assert texts(driven) == ["Hello"]
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/chat")
    assert seen.json == {"q": "Hi", "e": 3, "who": "some-model/s"}
    assert seen.headers["content-type"] == "application/json"
    (step,) = driven.turns[0].steps
    assert step.seconds > 0


async def test_address_headers_and_method_are_filled_in(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "key-of-a-test")
    async with agent_server(lambda _: says("Hello")) as server:
        made = agent(
            server,
            "/a/{{metadata.room}}?q={{input}}",
            method="GET",
            request=None,
            headers={"Authorization": "Bearer ${AGENT_KEY}", "X-Sample": "{{sample.id}}"},
        )
        driven = await drive_sample(made, metadata={"room": "b/../c"}, input="x & y")
    assert texts(driven) == ["Hello"]
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query) == ("GET", "/a/b%2F..%2Fc", {"q": "x & y"})
    assert seen.headers["authorization"] == "Bearer key-of-a-test"
    assert seen.headers["x-sample"] == "s"


STEPS = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
]
FORMATS = {
    "openai-chat": [*STEPS, {"role": "assistant", "content": "Done"}],
    "openai-responses": [
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"k": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "Done"}]},
    ],
    "anthropic": [
        {"role": "assistant",
         "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"k": 1}}]},
        {"role": "user",
         "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done"}]},
    ],
    "gemini": [
        {"role": "model",
         "parts": [{"functionCall": {"id": "c1", "name": "look", "args": {"k": 1}}}]},
        {"role": "user", "parts": [{"functionResponse":
         {"id": "c1", "name": "look", "response": {"output": "found"}}}]},
        {"role": "model", "parts": [{"text": "Done"}]},
    ],
    "langchain": [
        {"type": "ai", "content": "", "tool_calls": [
            {"name": "look", "args": {"k": 1}, "id": "c1", "type": "tool_call"}]},
        {"type": "tool", "content": "found", "tool_call_id": "c1"},
        {"type": "ai", "content": "Done"},
    ],
    "letta": [
        {"message_type": "tool_call_message", "id": "m1", "date": "2031-02-03T04:05:06Z",
         "tool_call": {"name": "look", "arguments": '{"k": 1}', "tool_call_id": "c1"}},
        {"message_type": "tool_return_message", "id": "m2", "date": "2031-02-03T04:05:07Z",
         "tool_return": "found", "status": "success", "tool_call_id": "c1"},
        {"message_type": "assistant_message", "id": "m3", "date": "2031-02-03T04:05:08Z",
         "content": "Done"},
    ],
    "pydantic-ai": [
        {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "look",
                                        "args": '{"k": 1}', "tool_call_id": "c1"}]},
        {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "look",
                                       "content": "found", "tool_call_id": "c1"}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "Done"}]},
    ],
    "regrade": [
        {"type": "step", "usage": {"input_tokens": 1, "output_tokens": 2}},
        {"type": "tool_call", "call_id": "c1", "name": "look", "arguments": {"k": 1}},
        {"type": "tool_result", "call_id": "c1", "output": "found"},
        {"type": "assistant_message", "text": "Done"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("stream", [None, "sse"])
@pytest.mark.parametrize("shape", FORMATS)
async def test_messages_are_read_in_every_shape(shape, stream):
    messages = FORMATS[shape]
    events = (*({"new": [message]} for message in messages), "[DONE]")
    answer = web.json_response({"new": messages}) if stream is None else Streamed(events)
    async with agent_server(lambda _: answer) as server:
        response = HttpResponse(messages="$.new", format=shape)
        driven = await drive_sample(agent(server, response=response, stream=stream))
    assert driven.error is None
    (called,) = driven.of(ToolCall)
    assert (called.call_id, called.name, called.arguments) == ("c1", "look", {"k": 1})
    (result,) = driven.of(ToolResult)
    assert (result.name, result.output, result.ok) == ("look", "found", True)
    assert texts(driven) == ["Done"]
    assert all(event.at is not None for event in driven.events)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"steps": STEPS, "answer": "Done"}, ["Done"]),
        ({"steps": [*STEPS, {"role": "assistant", "content": "Done"}], "answer": "Done"}, ["Done"]),
        ({"steps": [], "answer": [{"type": "text", "text": "Do"}, {"type": "text", "text": "ne"}]},
         ["Done"]),
        ({"answer": 1.5}, ["1.5"]),
        ({"answer": {"a": None}}, ['{"a":null}']),
        ({"steps": None, "answer": ""}, [""]),
        ({"steps": STEPS, "answer": None}, []),
    ],
)  # fmt: skip
async def test_a_text_beside_messages_is_what_the_agent_says_last(reply, said):
    async with agent_server(lambda _: web.json_response(reply)) as server:
        response = HttpResponse(messages="$.steps", text="$.answer")
        driven = await drive_sample(agent(server, response=response))
    assert driven.error is None
    assert texts(driven) == said


async def test_numbers_of_the_reply_are_those_of_its_last_step():
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "cost": 0.5}
    reply = {"steps": STEPS, "reply": "Done", "usage": usage, "served": "m-1"}
    async with agent_server(lambda _: web.json_response(reply)) as server:
        response = HttpResponse(
            messages="$.steps", text="$.reply", usage="$.usage", model="$.served"
        )
        driven = await drive_sample(agent(server, response=response))
    assert driven.trajectory.usage == Usage(input_tokens=3, output_tokens=4, cost_usd=0.5)
    assert driven.turns[0].steps[-1].model == "m-1"
    assert [event.step for event in driven.events] == [None, 0, 0, 1]


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("Grüße".encode(), "text/plain; charset=utf-8", "Grüße"),
        ("Grüße".encode("latin-1"), "text/plain; charset=latin-1", "Grüße"),
        (b"plain", "text/plain; charset=no-such-charset", "plain"),
        (b'"as JSON"', "application/json", "as JSON"),
        (b"", "text/plain", ""),
    ],
)
async def test_without_paths_a_plain_text_is_the_message(body, kind, said):
    async with agent_server(lambda _: Raw(body, kind)) as server:
        driven = await drive_sample(agent(server, response=HttpResponse()))
    assert driven.error is None
    assert texts(driven) == [said]


async def test_a_byte_order_mark_and_a_compressed_reply_are_read():
    def answer(_):
        response = web.Response(body=b'\xef\xbb\xbf{"reply": "Hello"}')
        response.enable_compression()
        return response

    async with agent_server(answer) as server:
        assert texts(await drive_sample(agent(server))) == ["Hello"]


async def test_a_huge_reply_is_read_beside_the_others():
    text = "x" * 2_000_000
    async with agent_server(lambda _: says(text)) as server:
        assert texts(await drive_sample(agent(server))) == [text]


@pytest.mark.parametrize(
    ("response", "events", "said"),
    [
        (HttpResponse(text="$.d"), ({"d": "a"}, {"ping": 1}, {"d": "b"}), ["ab"]),
        (HttpResponse(text="$.d"), ({"d": "a"}, "[DONE]", {"d": "b"}), ["a"]),
        (HttpResponse(text="$"), ("1.10", "true", ' {"', "null"), ['1.10true {"null']),
        (HttpResponse(text="$"), ('"quo"', '"ted"'), ["quoted"]),
        (HttpResponse(text="$.d", done="end"), ({"d": "a"}, ("end", "x"), {"d": "b"}), ["a"]),
        (HttpResponse(text="$", done="END"), ("a", "END"), ["a"]),
        (HttpResponse(text="$.d", done="$.last"), ({"d": "a", "last": False},
         {"d": "b", "last": True}, {"d": "c"}), ["ab"]),
        (HttpResponse(text="$.d", messages="$.m"),
         ({"d": "Let "}, {"d": "me."}, *({"m": one} for one in STEPS), {"d": "Done"}),
         ["Let me.", "Done"]),
        (HttpResponse(text="$.d"), ({"d": [{"type": "text", "text": "a"}]}, {"d": "b"}), ["ab"]),
    ],
)  # fmt: skip
async def test_pieces_of_a_stream_are_joined(response, events, said):
    async with agent_server(lambda _: Streamed((*events, "[DONE]"))) as server:
        driven = await drive_sample(agent(server, response=response, stream="sse"))
    assert driven.error is None
    assert texts(driven) == said
    assert server.seen[0].headers["accept"].startswith("text/event-stream")


async def test_the_event_that_ends_a_stream_may_hold_its_numbers():
    events = ({"d": "a"}, ("end", {"usage": {"input_tokens": 1, "output_tokens": 2}}))
    async with agent_server(lambda _: Streamed(events)) as server:
        response = HttpResponse(text="$.d", usage="$.usage", done="end")
        driven = await drive_sample(agent(server, response=response, stream="sse"))
    assert driven.trajectory.usage == Usage(input_tokens=1, output_tokens=2)


CHAT_CHUNKS = (
    {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Do"}}]},
    {"object": "chat.completion.chunk",
     "choices": [{"index": 0, "delta": {"content": "ne"}, "finish_reason": "stop"}]},
    {"object": "chat.completion.chunk", "choices": [],
     "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    "[DONE]",
)  # fmt: skip
ANTHROPIC_EVENTS = (
    {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)


@pytest.mark.parametrize("events", [CHAT_CHUNKS, ANTHROPIC_EVENTS])
async def test_a_stream_of_a_model_is_known_by_its_events(events):
    async with agent_server(lambda _: Streamed(events)) as server:
        driven = await drive_sample(agent(server, response=HttpResponse(), stream="sse"))
    assert driven.error is None
    assert texts(driven) == ["Done"]
    assert driven.trajectory.usage == Usage(input_tokens=1, output_tokens=2)


async def test_a_server_may_answer_whole_where_a_stream_is_asked_for():
    async with agent_server(lambda _: says("Hello")) as server:
        assert texts(await drive_sample(agent(server, stream="sse"))) == ["Hello"]


async def test_each_request_holds_the_conversation_so_far():
    def answer(seen):
        turns = sum(message["role"] == "user" for message in seen.json["messages"])
        steps = [*STEPS, {"role": "assistant", "content": f"Done {turns}"}]
        return web.json_response({"new": steps})

    request = {"messages": [{"role": "system", "content": "Be brief."}, "{{messages}}"]}
    history = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"})
    async with agent_server(answer) as server:
        made = agent(server, request=request, response=HttpResponse(messages="$.new"))
        driven = await drive_sample(made, input=("c", "d"), history=history)
    assert texts(driven) == ["Done 2", "Done 3"]
    roles = [message["role"] for message in server.seen[1].json["messages"]]
    assert roles == [
        *("system", "user", "assistant"),
        *("user", "assistant", "tool", "assistant"),
        "user",
    ]
    assert server.seen[1].json["messages"][4]["tool_calls"][0]["id"] == "c1"


@pytest.mark.parametrize("with_history", [True, False])
async def test_of_a_conversation_that_comes_back_whole_only_this_turn_counts(with_history):
    said = []

    def answer(seen):
        new = [{"role": "user", "content": seen.json["q"]}, *STEPS]
        said.extend([*new, {"role": "assistant", "content": f"Done {seen.json['q']}"}])
        return web.json_response({"all": said})

    history = ({"role": "user", "content": "0"}, {"role": "assistant", "content": "-"})
    said += history if with_history else ()
    request = {"q": "{{input}}", "all": "{{messages}}"}
    async with agent_server(answer) as server:
        made = agent(server, request=request, response=HttpResponse(messages="$.all"))
        sample = {"history": history} if with_history else {}
        driven = await drive_sample(made, input=("1", "2"), **sample)
    assert driven.error is None
    assert texts(driven) == ["Done 1", "Done 2"]
    assert [len(turn.events) for turn in driven.turns] == [4, 4]
    assert driven.of(SystemEvent) == []


async def test_a_session_is_started_used_and_ended():
    def answer(seen):
        if seen.path == "/threads":
            return web.json_response({"thread": {"id": f"t/{seen.json['user']}"}})
        return says(seen.path)

    async with agent_server(answer) as server:
        session = HttpSessionOptions(
            start=HttpCall(url="/threads", request={"user": "{{sample.id}}"}),
            id="$.thread.id",
            end=HttpCall(url="/threads/{{session_id}}", method="DELETE"),
        )
        made = agent(server, "/threads/{{session_id}}/messages", session=session)
        driven = await drive_sample(made, input=("a", "b"))
    assert driven.error is None
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("POST", "/threads"),
        ("POST", "/threads/t%2Fs/messages"),
        ("POST", "/threads/t%2Fs/messages"),
        ("DELETE", "/threads/t%2Fs"),
    ]
    assert driven.warnings == []


@pytest.mark.parametrize("stream", [None, "sse"])
async def test_the_first_reply_may_give_the_session_its_id(stream):
    def answer(_):
        if stream:
            return Streamed(({"reply": "o"}, {"thread": 17}, {"reply": "k"}, "[DONE]"))
        return says("ok", thread=17)

    async with agent_server(answer) as server:
        session = HttpSessionOptions(id="$.thread")
        request = {"q": "{{input}}", "thread": "{{session_id}}"}
        made = agent(server, request=request, session=session, stream=stream)
        driven = await drive_sample(made, input=("a", "b", "c"))
    assert texts(driven) == ["ok"] * 3
    assert [seen.json["thread"] for seen in server.seen] == [None, "17", "17"]


async def test_a_session_without_an_id_of_the_server_has_one_of_its_own():
    async with agent_server(lambda _: says("ok")) as server:
        made = agent(server, request={"q": "{{input}}", "s": "{{session_id}}"})
        async with connected(made) as drive:
            await asyncio.gather(*(drive(input=("a", "b")) for _ in range(3)))
    ids = [seen.json["s"] for seen in server.seen]
    assert sorted(ids.count(one) for one in set(ids)) == [2, 2, 2]


async def test_cookies_are_kept_for_one_conversation_and_shared_with_none():
    given = iter(range(100))

    def answer(seen):
        response = says(seen.cookies.get("sid", "none"))
        if "sid" not in seen.cookies:
            response.set_cookie("sid", f"s{next(given)}")
        return response

    async with agent_server(answer) as server:
        made = agent(server, session=HttpSessionOptions(cookies=True))
        async with connected(made) as drive:
            driven = [await drive(input=("a", "b", "c")) for _ in range(2)]
        assert [texts(one) for one in driven] == [["none", "s0", "s0"], ["none", "s1", "s1"]]
        async with connected(agent(server)) as drive:
            assert [texts(await drive()) for _ in range(2)] == [["none"], ["none"]]


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_to_the_same_server_is_followed(status):
    def answer(seen):
        if seen.path == "/chat":
            return web.Response(status=status, headers={"location": "/chat/"})
        return says(json.dumps(seen.json))

    async with agent_server(answer) as server:
        assert texts(await drive_sample(agent(server))) == ['{"q": "Hi"}']


@pytest.mark.parametrize("stream", [None, "sse"])
async def test_connections_are_used_again(stream):
    answer = says("ok") if stream is None else Streamed(({"reply": "ok"}, "[DONE]"))
    async with agent_server([answer]) as server, connected(agent(server, stream=stream)) as drive:
        for _ in range(5):
            assert texts(await drive()) == ["ok"]
    assert len({seen.peer for seen in server.seen}) == 1
