"""How a Letta server is asked over HTTP, where it misbehaves; real sockets, no Letta."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace

import httpx
import pytest
from letta_client import AsyncLetta

from harness.targets import letta_server
from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_clients import FactoryClient, MadeAgents, make_client
from harness.targets.letta_connection import LettaConnection
from harness.targets.letta_inline import InlineAgent
from harness.targets.letta_leftovers import Leftovers, MadeAgent, delete_agent, delete_run
from harness.targets.letta_model_choice import check_models
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_server_tools import ServerTool, put_tools
from harness.targets.letta_session import LettaSession
from harness.targets.letta_shapes import Thing
from harness.targets.letta_turn_taking import Manners
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext
from harness.types.samples import Sample

JSON = "Content-Type: application/json\r\n"


def answer(body, *, status="200 OK", headers=JSON):
    data = body.encode()
    head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


CLOSED = b""


@asynccontextmanager
async def listening(*answers, port=0):
    """Serve answers one after another (the last one for ever); give the port and the requests."""
    requests, left = [], list(answers)

    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = [
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                ]
                body = await reader.readexactly(length[0]) if length else b""
                requests.append((head.split(b"\r\n")[0].decode(), body.decode()))
                reply = left.pop(0) if len(left) > 1 else left[0]
                writer.write(reply)
                await writer.drain()
                if reply is CLOSED or b"Content-Length" not in reply:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield listener.sockets[0].getsockname()[1], requests
    finally:
        listener.close()
        await listener.wait_closed()


@asynccontextmanager
async def served(*answers, kind=AsyncLetta, secrets=()):
    """Serve answers; give a server that is asked, and the requests that it received."""
    async with listening(*answers) as (port, requests):
        url = f"http://127.0.0.1:{port}"
        client = make_client(kind, url=url, key="open-sesame", project=None, concurrency=2)
        server = LettaServer(client, secrets)
        try:
            yield server, requests
        finally:
            await server.close()


async def test_reading_is_tried_twice_where_the_connection_is_lost():
    async with served(CLOSED, answer('{"id": "a"}')) as (server, requests):
        assert await server.get(path_of("agents", "a")) == {"id": "a"}
        assert len(requests) == 2


async def test_nothing_else_is_sent_twice():
    async with served(CLOSED, answer("{}")) as (server, requests):
        with pytest.raises(TargetError) as raised:
            await server.post(path_of("agents", ""), {"name": "A"})
        assert raised.value.code == "connection_lost"
        assert len(requests) == 1


@pytest.mark.parametrize(
    "status", ["429 Too Many", "500 Internal", "503 Unavailable", "409 Conflict"]
)
async def test_a_refusal_is_not_asked_again_by_the_client_library(status):
    async with served(answer('{"detail": "no"}', status=status)) as (server, requests):
        with pytest.raises(TargetError):
            await server.get(path_of("agents", "a"))
        assert len(requests) == 1


async def test_lists_are_paged_oldest_first_and_each_item_comes_once():
    first = [f'{{"id": "i{n}"}}' for n in range(100)]
    second = [f'{{"id": "i{n}"}}' for n in range(90, 130)]
    pages = [answer(f"[{','.join(page)}]") for page in (first, second)]
    async with served(*pages) as (server, requests):
        query = {"tags": ["regrade", "x"], "match_all_tags": True}
        found = [item["id"] async for item in server.pages("/v1/agents/", query)]
    assert found == [f"i{n}" for n in range(130)]
    assert "order=asc" in requests[0][0]
    assert "tags=regrade&tags=x&match_all_tags=true" in requests[0][0]
    assert "after=i99" in requests[1][0]


async def test_a_server_that_repeats_its_pages_for_ever_is_left():
    page = answer("[" + ",".join(f'{{"id": "i{n}"}}' for n in range(100)) + "]")
    async with served(page) as (server, requests):
        assert len([item async for item in server.pages("/v1/agents/")]) == 100
        assert len(requests) == 2


@pytest.mark.parametrize("body", ["<html>proxy open-sesame</html>", '{"id": ', "NaN"])
async def test_a_reply_that_is_no_json_is_none(body):
    async with served(answer(body), secrets=["open-sesame"]) as (server, _):
        with pytest.raises(TargetError) as raised:
            await server.get(path_of("models", ""))
    assert raised.value.code == "bad_reply"
    assert "open-sesame" not in str(raised.value)


async def test_what_is_gone_already_is_deleted():
    async with served(answer('{"detail": "gone"}', status="404 Not Found")) as (server, _):
        await server.delete(path_of("agents", "a"))


async def receive(server, received):
    async with server.message("agent-1", {"messages": []}, streaming=True) as parts:
        async for data in parts:
            received += [data]


async def test_a_stream_without_its_end_is_an_outage():
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    part = b"data: {}\n\n"
    cut = head + b"%x\r\n%s\r\n" % (len(part), part)
    received = []
    async with served(cut) as (server, requests):
        with pytest.raises(TargetError) as raised:
            await receive(server, received)
        assert raised.value.code == "connection_lost"
        assert len(requests) == 1
    assert b"".join(received) == part


async def test_a_reply_has_a_bound(monkeypatch):
    monkeypatch.setattr(letta_server, "MOST_BYTES", 100)
    async with served(answer("x" * 101)) as (server, _):
        with pytest.raises(TargetError, match="longer than"):
            await receive(server, [])


async def test_an_id_cannot_lead_to_another_path():
    async with served(answer("{}")) as (server, requests):
        await server.get(path_of("agents", "a/../../x?y#z"))
    assert requests[0][0].startswith("GET /v1/agents/a%2F..%2F..%2Fx%3Fy%23z")


async def test_a_factorys_client_tags_what_it_makes_and_tells_of_it():
    state = answer('{"id": "agent-1"}')
    async with served(state, kind=FactoryClient) as (server, requests):
        server.client.agent_tags = ["regrade", "regrade-run:r"]
        with MadeAgents() as made:
            await server.client.agents.create(model="m", tags=["mine"])
            await server.client.agents.retrieve("agent-2")
        await server.client.agents.create(model="m")
        assert made.ids == ["agent-1"]
    assert '"tags":["mine","regrade","regrade-run:r"]' in requests[0][1].replace(", ", ",").replace(
        ": ", ":"
    )


async def test_what_cannot_be_deleted_fails_no_trial_and_is_told_with_the_command_that_does_it():
    warnings = []
    async with served(answer('{"detail": "no"}', status="500 Internal")) as (server, _):
        leftovers = Leftovers(server, "run-7", warnings.append)
        await leftovers.discard(MadeAgent(id="agent-1"))
        assert warnings == []
        await leftovers.sweep(everything=True)
    [warning] = warnings
    assert "`regrade clean run-7`" in warning


async def test_nothing_is_deleted_that_is_not_ours():
    async with served(answer("[]")) as (server, requests):
        await Leftovers(server, "r", print).discard(MadeAgent(id="agent-1", is_ours=False))
    assert requests == []


NO_AGENTS = [
    "null",
    "[]",
    "7",
    '"agent-1"',
    "{}",
    '{"id": 7}',
    '{"id": "a", "blocks": 7}',
    '{"id": "a", "blocks": [{}]}',
    '{"id": "a", "blocks": ["human"]}',
    '{"id": "a", "tags": "mine"}',
    '{"id": "a", "tags": [{"a": 1}]}',
    '{"id": "a", "tools": {"name": "t"}}',
    '{"id": "a", "sources": [{"id": null}]}',
]
NO_LISTS = ["null", '"x"', '{"object": "list", "data": []}', "[null]", "[[]]", "[1]"]
DEEP = "[" * 5_000 + "]" * 5_000


async def ask_for_models(server):
    await check_models(server, ["m"])


async def ask_for_agent(server):
    await server.get("/v1/agents/a", shape=Thing)


async def make_agent(server):
    await server.post("/v1/agents/", {}, shape=Thing)


async def change_agent(server):
    await server.patch("/v1/agents/a", {}, shape=Thing)


async def list_agents(server):
    assert not [one async for one in server.pages("/v1/agents/")]


async def clean_up(server):
    await delete_run(server, "r")


async def delete_one(server):
    await delete_agent(server, MadeAgent(id="a"))


async def import_one(server):
    await server.import_agent(b"{}", {})


async def put_tool(server):
    await put_tools(server, [ServerTool("t", "", {"description": ""})], "r")


async def see_end(server):
    session = LettaSession(server, MadeAgent(id="a"), MANNERS, SimpleNamespace(wait=None), None)
    await session.final_state()


MANNERS = Manners(stream="off", approvals="fail", max_steps=1, tools={}, keeps_state=False)
MISSHAPEN = [
    *((ask, reply) for ask in (ask_for_agent, make_agent, change_agent) for reply in NO_AGENTS),
    *((see_end, reply) for reply in [*NO_AGENTS, DEEP]),
    *((ask_for_models, reply) for reply in [*NO_LISTS, '[{"handle": 7}]', DEEP]),
    *((list_agents, reply) for reply in [*NO_LISTS, "[{}]", '[{"id": 7}]', DEEP]),
    *((clean_up, reply) for reply in [*NO_LISTS, '[{"id": "a", "tags": 7}]']),
    *((put_tool, reply) for reply in [*NO_LISTS, "[{}]"]),
    *((import_one, reply) for reply in ["null", "[]", "{}", '{"agent_ids": []}', DEEP]),
    *((import_one, f'{{"agent_ids": {ids}}}') for ids in ("null", "7", '"a"', "[7]", "[null]")),
    *((delete_one, reply) for reply in ['"x"', "7", "[7]", "[{}]"]),
]


@pytest.mark.parametrize(("ask", "reply"), MISSHAPEN)
async def test_a_reply_of_another_shape_is_none(ask, reply):
    async with served(answer(reply)) as (server, _):
        with pytest.raises(TargetError) as raised:
            await ask(server)
    assert raised.value.code == "bad_reply"
    assert server.url in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("reply", ["null", "[]", "7", "{}", '{"agent_ids": 7}', '{"id": [1]}', "{"])
async def test_a_factorys_agent_without_an_id_is_not_noted(reply):
    async with served(answer(reply), kind=FactoryClient) as (server, _):
        with MadeAgents() as made:
            await server.client.post("/v1/agents/", cast_to=httpx.Response, body={})
    assert made.ids == []


@pytest.mark.parametrize("tags", [7, "mine", [{"a": 1}], [7], {"a": "b"}])
async def test_tags_that_are_none_are_left_to_the_server_to_refuse(tags):
    async with served(answer('{"id": "a"}'), kind=FactoryClient) as (server, requests):
        server.client.agent_tags = ["regrade"]
        body = {"tags": tags, "memory_blocks": [{"label": "l", "tags": tags}, 7]}
        await server.client.post("/v1/agents/", cast_to=httpx.Response, body=body)
    assert json.loads(requests[0][1]) == body


BLOCKING = '{"messages": [{"message_type": "assistant_message", "content": "Yes."}], %s}'
REPLY = BLOCKING % '"stop_reason": {"stop_reason": "end_turn"}, "usage": {}'
STEPS = [
    (lambda connection, _, context: connection.open(context), '{"id": "agent-1"}'),
    (lambda _, session, __: session.start_session(), "{}"),
    (lambda _, session, __: session.final_state(), '{"id": "agent-1"}'),
    (lambda _, session, __: session.send("Well?", [].append), REPLY),
]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def connected(port):
    """Give a connection to a port."""
    target = LettaAgent(
        base_url=f"http://127.0.0.1:{port}", agent=InlineAgent(model="m"), stream="off"
    )
    context = RunContext(
        scripted_url=None, fixture_names=frozenset(), concurrency=1, run_id="run-1"
    )
    return LettaConnection(target, context)


def attempt(wait):
    sample = Sample(id="s", input="")
    return AttemptContext(
        sample=sample, model="default", epoch=0, attempt=0, fixtures={}, wait=wait
    )


@pytest.mark.parametrize(("take", "reply"), STEPS)
async def test_a_server_that_is_restarted_is_waited_for_at_every_step_of_a_trial(take, reply):
    port, waited = free_port(), []
    connection = connected(port)
    async with AsyncExitStack() as stack:

        async def wait(seconds):
            waited.append(seconds)
            if len(waited) == 3:
                asked = listening(answer(reply), port=port)
                requests.append((await stack.enter_async_context(asked))[1])

        requests, context = [], attempt(wait)
        session = LettaSession(connection._server, MadeAgent(id="agent-1"), MANNERS, context, None)
        await take(connection, session, context)
        await connection.close()
    assert len(waited) == 3
    assert requests[0]


async def test_a_server_that_stays_away_is_waited_for_as_long_as_the_suite_allows():
    async def wait(_seconds):
        raise TargetError("120 s are over", code="rate_limited")

    connection = connected(free_port())
    with pytest.raises(TargetError, match="120 s are over") as raised:
        await connection.open(attempt(wait))
    await connection.close()
    assert raised.value.code == "connection_refused"


async def test_a_tool_that_another_run_deletes_meanwhile_is_put_there_again():
    tool = ServerTool("t", "def t(): ...", {"description": "T."})
    there = {"id": "tool-1", "name": "t", "source_code": tool.source, "json_schema": tool.schema}
    gone = answer('{"detail": "gone"}', status="404 Not Found")
    replies = [answer(json.dumps([{**there, "tags": ["regrade", "regrade-run:a"]}])), gone]
    async with served(*replies, answer("[]"), answer('{"id": "tool-2"}')) as (server, requests):
        assert await put_tools(server, [tool], "b") == ["tool-2"]
    methods = [head.split()[0] for head, _ in requests]
    assert methods == ["GET", "PATCH", "GET", "POST"]
