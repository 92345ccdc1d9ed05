"""The proxy does what its plan says, and nothing else."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random

import httpx
import pytest
from aiohttp import web
from integration.agent_server import Streamed, agent_server
from integration.faults.fault_plans import (
    KINDS,
    Asked,
    Fault,
    Listed,
    Seeded,
    Storm,
    first_of,
    key_of,
    talk_of,
)
from integration.faults.fault_proxy import fault_proxy, place_of_cut

CALL = {"id": "c1", "function": {"name": "look", "arguments": '{"what": "a long text"}'}}
REPLY = {"choices": [{"message": {"content": None, "tool_calls": [CALL]}}]}
STREAM = ({"n": 1}, {"n": 2}, {"n": 3}, "[DONE]")


def body(said, **fields):
    return {"model": "m", "messages": [{"role": "user", "content": said}], **fields}


@pytest.fixture
async def server():
    async with agent_server(lambda _: web.json_response(REPLY)) as server:
        yield server


@pytest.fixture
async def client():
    async with httpx.AsyncClient(timeout=10) as client:
        yield client


async def met(server, client, fault, count=1):
    """Send requests through a proxy whose first one meets a fault; give what came of each."""
    found = []
    async with fault_proxy(f"{server.url}/v1", Listed((fault,))) as proxy:
        for number in range(count):
            try:
                found.append(await client.post(f"{proxy.url}/chat", json=body(str(number))))
            except httpx.HTTPError as error:
                found.append(error)
    return found, proxy


async def test_without_a_fault_all_passes_as_it_is(server, client):
    (one, two), proxy = await met(server, client, None, count=2)
    assert one.json() == two.json() == REPLY
    assert [seen.path for seen in server.seen] == ["/v1/chat"] * 2
    assert server.seen[0].json == body("0")
    assert proxy.faults == {None: 2}
    assert all(passed.reached for passed in proxy.passed)


@pytest.mark.parametrize(
    ("fault", "error", "reached"),
    [
        (Fault(kind="reset"), (httpx.ReadError, httpx.RemoteProtocolError), False),
        (Fault(kind="lost_reply"), (httpx.ReadError, httpx.RemoteProtocolError), True),
        (Fault(kind="garbage"), httpx.RemoteProtocolError, False),
        (Fault(kind="cut"), httpx.RemoteProtocolError, True),
        (Fault(kind="cut", at=0.0), httpx.RemoteProtocolError, True),
        (Fault(kind="cut", at=1.0), httpx.RemoteProtocolError, True),
        (Fault(kind="cut", end="reset"), (httpx.ReadError, httpx.RemoteProtocolError), True),
        (Fault(kind="cut_call"), httpx.RemoteProtocolError, True),
    ],
)
async def test_a_fault_breaks_its_own_request_and_no_other(server, client, fault, error, reached):
    (broken, whole), proxy = await met(server, client, fault, count=2)
    assert isinstance(broken, error)
    assert whole.json() == REPLY
    assert len(server.seen) == 1 + reached
    assert [passed.reached for passed in proxy.passed] == [reached, True]
    assert proxy.faults == {fault.kind: 1, None: 1}


async def test_a_page_and_a_status_are_answers(server, client):
    (page,), _ = await met(server, client, Fault(kind="page"))
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html")
    (refused,), _ = await met(server, client, Fault(kind="status", status=429, retry_after="7"))
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
    assert server.seen == []


async def test_a_delay_lets_others_pass(server, client):
    plan = Listed((Fault(kind="delay", seconds=0.3),))
    async with fault_proxy(server.url, plan) as proxy:
        late = asyncio.create_task(client.post(proxy.url, json=body("late")))
        await asyncio.wait_for(proxy.has_come.wait(), 10)
        await client.post(proxy.url, json=body("soon"))
        assert (await late).json() == REPLY
    assert [seen.json["messages"][0]["content"] for seen in server.seen] == ["soon", "late"]


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_stream_is_cut_in_its_middle(client, end):
    async with agent_server(lambda _: Streamed(STREAM)) as server:
        plan = Listed((Fault(kind="cut", at=0.5, end=end),))
        async with fault_proxy(server.url, plan) as proxy:
            came, broken = b"", False
            try:
                async with client.stream("POST", proxy.url, json=body("a")) as response:
                    async for part in response.aiter_raw():
                        came += part
            except httpx.HTTPError:
                broken = True
            whole = await client.post(proxy.url, json=body("b"))
    assert broken is (end == "reset")
    assert came.startswith(b'data: {"n": 1}')
    assert whole.content.startswith(came)
    assert b"[DONE]" not in came
    assert b"[DONE]" in whole.content


@pytest.mark.parametrize("at", [0.0, 0.3, 0.99, 1.0])
def test_a_call_is_cut_inside_its_arguments(at):
    data = json.dumps(REPLY).encode()
    sent = data[: place_of_cut(data, Fault(kind="cut_call", at=at))]
    assert b'"arguments"' in sent
    assert b"a long text" not in sent
    with pytest.raises(json.JSONDecodeError):
        json.loads(sent)


@pytest.mark.parametrize("data", [b"", b"x", b"no call in it"])
def test_a_cut_always_leaves_something_out(data):
    for at in (0.0, 0.5, 1.0):
        for kind in ("cut", "cut_call"):
            assert place_of_cut(data, Fault(kind=kind, at=at)) < max(len(data), 1)


async def test_nobody_listens_while_the_proxy_has_left(server, client):
    async with fault_proxy(server.url, Listed()) as proxy:
        url = proxy.url
        assert (await client.post(url, json=body("a"))).json() == REPLY
        await proxy.leave()
        with pytest.raises(httpx.TransportError):
            # The connection that was kept open is broken.
            await client.post(url, json=body("b"))
        with pytest.raises(httpx.ConnectError):
            await client.post(url, json=body("b"))
        await proxy.listen()
        assert proxy.url == url
        assert (await client.post(url, json=body("c"))).json() == REPLY


@pytest.mark.parametrize("dated", [True, False])
async def test_requests_that_come_before_their_time_are_found(server, client, dated):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=5), usegmt=True)
    fault = Fault(kind="status", status=429, retry_after=date if dated else "5")
    async with fault_proxy(server.url, Listed((fault,))) as proxy:
        for said in ("a", "b", "a", "a"):
            await client.post(proxy.url, json=body(said))
    assert [passed.asked.number for passed in proxy.early] == [2]


def test_a_plan_says_the_same_in_whatever_order_requests_come():
    plan = Seeded(seed=3, share=0.5)
    asked = [
        Asked(key=key_of(json.dumps(body(str(n))).encode()), nth=nth, number=n)
        for n in range(200)
        for nth in range(3)
    ]
    found = {(one.key, one.nth): plan(one) for one in asked}
    shuffled = Random(1).sample(asked, len(asked))
    assert {(one.key, one.nth): Seeded(seed=3, share=0.5)(one) for one in shuffled} == found
    faults = [fault for fault in found.values() if fault is not None]
    assert {fault.kind for fault in faults} == set(KINDS)
    assert 120 < len(faults) < 280
    assert not any(found[one.key, one.nth] for one in asked if one.nth == 2)
    assert [Seeded(seed=4, share=0.5)(one) for one in asked] != list(found.values())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (body("a"), body("a"), True),
        (body("a"), body("b"), False),
        (body("a", seed=1), body("a", seed=2), False),
        (body("a"), body("a", temperature=1), True),
        (body("a"), {**body("a"), "model": "n"}, False),
        ({"x": 1}, {"x": 1}, True),
        ({"x": 1}, {"x": 2}, False),
    ],
)
def test_a_request_is_known_by_what_is_asked(one, other, same):
    assert (key_of(json.dumps(one).encode()) == key_of(json.dumps(other).encode())) is same


def test_what_a_tool_gave_back_makes_no_other_request():
    first, second = (
        {**body("a"), "messages": [*body("a")["messages"], {"role": "tool", "content": said}]}
        for said in ("x", "y")
    )
    assert key_of(json.dumps(first).encode()) == key_of(json.dumps(second).encode())
    assert key_of(json.dumps(first).encode()) != key_of(json.dumps(body("a")).encode())


def test_a_conversation_is_known_by_its_model_and_its_beginning():
    first = body("a")
    later = {**first, "messages": [*first["messages"], {"role": "user", "content": "b"}]}
    assert {talk_of(json.dumps(one).encode()) for one in (first, later)} == {("m", "a")}
    assert talk_of(json.dumps(body("b")).encode()) == ("m", "b")
    assert talk_of(b"no JSON") is talk_of(b"[]") is talk_of(b"{}") is None


def test_a_storm_refuses_a_number_of_requests_and_plans_stand_beside_each_other():
    plan = first_of(Storm(first=2, count=2), Listed((Fault(kind="page"),)))
    kinds = [plan(Asked(key="k", nth=n, number=n)) for n in range(5)]
    assert [fault and (fault.kind, fault.status) for fault in kinds] == [
        ("page", 503),
        None,
        ("status", 429),
        ("status", 429),
        None,
    ]
