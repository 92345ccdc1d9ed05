import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import openai
import pytest
from openai import AsyncOpenAI

from harness.serving.model_server import scripted_server
from harness.serving.script import parse_script, read_script

ROOT = Path(__file__).parents[2]
TROUBLES = ROOT / "tests" / "data" / "serving" / "troubles.yaml"
BROKEN = openai.APIConnectionError
TORN = "This sentence is torn in the middle, and the rest of it is lost."


@pytest.fixture
async def url():
    async with scripted_server(read_script(TROUBLES)) as base_url:
        yield base_url


@pytest.fixture
async def client(url):
    async with AsyncOpenAI(base_url=url, api_key="unused", max_retries=0) as made:
        yield made


def question(text, model="scripted/echo", **fields):
    return {"model": model, "messages": [{"role": "user", "content": text}], **fields}


async def ask(client, **request):
    """Ask without streaming, or join what a stream gives, into (text, calls, finish, usage)."""
    if not request.get("stream"):
        answer = await client.chat.completions.create(**request)
        choice = answer.choices[0]
        calls = [
            (call.id, call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or []
        ]
        return choice.message.content or "", calls, choice.finish_reason, answer.usage
    return await join(await client.chat.completions.create(**request))


async def join(stream):
    text, calls, finish, usage = "", [], None, None
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for part in choice.delta.tool_calls or []:
                if part.id:
                    calls.append([part.id, part.function.name, ""])
                calls[part.index][2] += part.function.arguments or ""
    return text, [tuple(call) for call in calls], finish, usage


@pytest.mark.parametrize(
    ("model", "text"), [("echo", "héllo 🚀 " * 50), ("calls", "add 2 to 30"), ("cut_off", "x")]
)
async def test_the_official_client_gets_the_same_whole_and_streamed(client, model, text):
    request = question(text, f"scripted/{model}", seed=3)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    whole = await ask(client, **request)
    assert await ask(client, **request, **options) == whole
    assert whole[3].total_tokens == whole[3].prompt_tokens + whole[3].completion_tokens


async def test_replies_do_not_depend_on_order_or_on_how_many_are_asked_for_at_once(client):
    requests = [question(f"add {at} to {at}", "calls", seed=at % 3) for at in range(60)]
    one_by_one = [await ask(client, **request) for request in requests]
    at_once = await asyncio.gather(*(ask(client, **request) for request in reversed(requests)))
    assert list(reversed(at_once)) == one_by_one


async def test_models_are_listed(client):
    assert [model.id async for model in client.models.list()][:2] == [
        "scripted/echo",
        "scripted/calls",
    ]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (question("x", "scripted/nobody"), (404, "model_not_found", "it has scripted/echo, ")),
        (question("x", n=2), (400, None, "at `$.n`")),
        (question("x", "calls"), (422, "no_rule", "The last user message is 'x'.")),
        (question("x", "down"), (503, None, "The script answers with status 503 (down/0).")),
        (question("optional", "calls"), (500, "script", "no value for {x}")),
        ({"model": "echo", "messages": [{"role": "user", "content": 1}]}, (400, None, "message 0")),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_errors_reach_the_client_as_its_own(client, request_, expected, stream):
    status, code, words = expected
    with pytest.raises(openai.APIStatusError) as caught:
        await client.chat.completions.create(**{**request_, "stream": stream})
    assert caught.value.status_code == status
    assert caught.value.body["code"] == code
    assert words in caught.value.body["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/chat/completions", b"{", 400),
        ("POST", "/chat/completions", b"[]", 400),
        ("POST", "/chat/completions", b"\xff", 400),
        ("GET", "/chat/completions", None, 405),
        ("POST", "/embeddings", b"{}", 404),
    ],
)
async def test_every_error_has_the_shape_of_the_api(url, method, path, body, status):
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url + path, data=body) as response,
    ):
        assert response.status == status
        assert set((await response.json())["error"]) == {"message", "type", "param", "code"}


async def test_a_rate_limit_says_how_long_to_wait_and_is_lifted_after_its_times(client):
    for _ in range(2):
        with pytest.raises(openai.RateLimitError) as caught:
            await client.chat.completions.create(**question("x", "limited"))
        assert caught.value.response.headers["retry-after"] == "0.25"
        assert caught.value.code == "rate_limit_exceeded"
    assert (await ask(client, **question("x", "limited")))[0] == "Here you are."


async def test_times_count_for_each_conversation_by_itself(client):
    async def statuses(text):
        for _ in range(3):
            try:
                yield (await ask(client, **question(text, "limited")))[0]
            except openai.RateLimitError:
                yield 429

    every = await asyncio.gather(*(_listed(statuses(str(at))) for at in range(10)))
    assert every == [[429, 429, "Here you are."]] * 10


async def _listed(items):
    return [item async for item in items]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_cut_connection_breaks_in_the_middle_and_the_next_request_is_whole(client, stream):
    request = question("x", "torn", stream=stream)
    with pytest.raises(BROKEN):
        await ask(client, **request)
    assert (await ask(client, **request))[0] == "Whole again."


async def test_a_cut_stream_has_given_some_of_its_text_before(client):
    pieces = []

    async def read():
        stream = await client.chat.completions.create(**question("x", "torn", stream=True))
        async for chunk in stream:
            pieces.append(chunk.choices[0].delta.content or "")  # noqa: PERF401  (some arrive)

    with pytest.raises(BROKEN):
        await read()
    assert TORN.startswith("".join(pieces))
    assert 0 < len("".join(pieces)) < len(TORN)


async def test_a_stream_that_is_cut_quietly_just_ends(client):
    text, calls, finish, _ = await ask(client, **question("x", "ended", stream=True))
    assert 0 < len(text) < 60
    assert (calls, finish) == ([], None)


async def test_a_body_that_is_cut_quietly_is_half_a_json_value(url):
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/chat/completions", json=question("x", "ended")) as response,
    ):
        assert response.status == 200
        with pytest.raises(json.JSONDecodeError):
            json.loads(await response.text())


async def test_garbage_is_sent_with_status_200(client, url):
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/chat/completions", json=question("x", "garbled")) as response,
    ):
        assert (response.status, await response.text()) == (200, "<html>502 Bad Gateway</html>")
    assert (await ask(client, **question("x", "garbled")))[0] == "Clean again."


async def test_a_slow_pattern_holds_up_nobody_else(client):
    stalled = asyncio.create_task(ask(client, **question("a" * 5_000 + "c", "stalls")))
    others = await asyncio.gather(*(ask(client, **question(str(at))) for at in range(20)))
    assert [other[0] for other in others] == [f"You said: {at}" for at in range(20)]
    with pytest.raises(openai.InternalServerError, match="took longer than its time limit"):
        await stalled


async def test_the_server_closes_although_requests_and_connections_are_open():
    async with asyncio.timeout(10), scripted_server(read_script(TROUBLES)) as base_url:
        client = AsyncOpenAI(base_url=base_url, api_key="unused", max_retries=0)
        await ask(client, **question("kept alive"))
        waiting = [
            asyncio.create_task(ask(client, **question("x", "slow", stream=stream)))
            for stream in (False, True)
        ]
        async with asyncio.timeout(5):
            while len(asyncio.all_tasks()) < 4:  # noqa: ASYNC110  (the bound is the time limit)
                await asyncio.sleep(0)
    for task in waiting:
        with pytest.raises(openai.APIConnectionError):
            await task
    await client.close()
    with pytest.raises(OSError, match=r"[Cc]onnect"):
        await asyncio.open_connection("127.0.0.1", int(re.findall(r":(\d+)/", base_url)[0]))


async def test_two_servers_run_side_by_side():
    script = parse_script("models: {a: [say: hi]}", "f")
    async with scripted_server(script) as one, scripted_server(script) as two:
        assert one != two


COMMAND = [sys.executable, "-m", "harness.cli", "serve-model"]


@contextmanager
def serve_model(*arguments):
    flags = subprocess.CREATE_NEW_PROCESS_GROUP if os.name == "nt" else 0
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        creationflags=flags,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_the_command_serves_until_ctrl_c_and_says_what_to_export():
    with serve_model(TROUBLES, "--port", "0") as process:
        said = [process.stdout.readline() for _ in range(4)]
        url = re.fullmatch(r"export OPENAI_BASE_URL=(http://127\.0\.0\.1:\d+/v1)\n", said[2])[1]
        assert said[0].startswith("Serving scripted/echo, scripted/calls, ")
        assert url in said[0]
        assert said[3] == "export OPENAI_API_KEY=unused\n"
        async with AsyncOpenAI(base_url=url, api_key="unused", max_retries=0) as client:
            assert (await ask(client, **question("hi")))[0] == "You said: hi"
        process.send_signal(signal.CTRL_C_EVENT if os.name == "nt" else signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    assert (process.returncode, rest, errors) == (0, "Stopped.\n", "")


def test_the_command_tells_every_fault_of_a_script_and_exits_with_2():
    with serve_model(TROUBLES.with_name("faulty.yaml")) as process:
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert len(errors.splitlines()) == 13
    assert "faulty.yaml:4:12: models.first[0].say: no value 'servise'" in errors


def test_the_command_says_in_one_line_that_a_port_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve_model(TROUBLES, "--port", port) as process:
            _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors.startswith(f"127.0.0.1:{port}: cannot listen here: ")
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("close", [False, True])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/models", None),
        ("GET", "/nowhere", None),
        ("POST", "/chat/completions", question("x")),
        ("POST", "/chat/completions", question("x", stream=True)),
        ("POST", "/chat/completions", question("x", "limited")),
        ("POST", "/chat/completions", question("x", "garbled")),
    ],
)
async def test_connections_are_kept_for_the_next_request_unless_they_are_to_be_closed(
    method, path, body, close
):
    made = []

    async def count(*_):
        made.append(1)

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_end.append(count)
    async with (
        scripted_server(read_script(TROUBLES), close=close) as url,
        aiohttp.ClientSession(trace_configs=[tracing]) as session,
    ):
        for _ in range(2):
            async with session.request(method, url + path, json=body) as response:
                assert response.headers.get("Connection") == ("close" if close else None)
                await response.read()
    assert len(made) == (2 if close else 1)


async def test_requests_of_the_same_prompts_are_alike_where_the_script_says_so():
    script = parse_script(
        "alike: prompts\n"
        "models: {m: [{status: 429, times: 2, when: {replies: 1}}, {say: Here you are.}]}",
        "f",
    )
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}

    def second_step(at, asked="hello"):
        return [
            {"role": "system", "content": f"agent {at}"},
            {"role": "user", "content": asked},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": f"at {at} o'clock"},
        ]

    async def status(client, messages):
        try:
            await client.chat.completions.create(model="m", messages=messages)
        except openai.RateLimitError:
            return 429
        return 200

    async with (
        scripted_server(script) as url,
        AsyncOpenAI(base_url=url, api_key="unused", max_retries=0) as client,
    ):
        assert [await status(client, second_step(at)) for at in range(3)] == [429, 429, 200]
        assert await status(client, second_step(9, asked="something else")) == 429
