import asyncio
import contextlib
import dataclasses
import sqlite3
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from itertools import count, repeat
from pathlib import PurePosixPath

import msgspec
import pydantic
import pytest
from fakes.driven_samples import load_code

from harness.messages.outputs import Output
from harness.targets.tool_calls import (
    AT_ONCE,
    CallFailedError,
    failed_output,
    output_of,
    result_of,
    run_together,
    run_tool,
)
from harness.targets.toolbox import build_toolbox
from harness.types.events import ToolCall


@dataclasses.dataclass
class Point:
    x: int
    inner: object = None


class Train(msgspec.Struct):
    name: str


class Order(pydantic.BaseModel):
    at: Point


class Color(Enum):
    RED = "red"


class Broken:
    def __repr__(self):
        raise RuntimeError


def row():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    found = connection.execute("select 1 as a, 'x' as b").fetchone()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "é"], "b": None}, '{"a":[1,"é"],"b":null}'),
        ([], "[]"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ((1, 2), "[1,2]"),
        (Point(1), '{"x":1,"inner":null}'),
        (Point(1, Train("ic")), '{"x":1,"inner":{"name":"ic"}}'),
        ([Train("ic")], '[{"name":"ic"}]'),
        (Order(at=Point(2)), '{"at":{"x":2,"inner":null}}'),
        (Color.RED, '"red"'),
        (Decimal("1.10"), '"1.10"'),
        (datetime(2024, 5, 6, tzinfo=UTC), '"2024-05-06T00:00:00Z"'),
        (PurePosixPath("a/b"), '"a/b"'),
        (b"bytes", '"bytes"'),
        ({1: "one"}, '{"1":"one"}'),
    ],
)
def test_values_become_compact_json_and_stay_beside_it(value, text):
    found = output_of(value)
    assert found.text == text
    assert found.ok
    assert found.structured == msgspec.json.decode(text)


def test_rows_of_a_database_are_mappings():
    assert output_of([row()]).text == '[{"a":1,"b":"x"}]'


@pytest.mark.parametrize("text", ["", "plain", '{"a": 1}', "a\x00b", "a\nb"])
def test_a_text_is_kept_as_it_is(text):
    assert output_of(text) == Output(text)


def test_lone_surrogates_of_a_text_are_replaced():
    assert output_of("a\ud800") == Output("a\ufffd")


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {"a": float("inf")}, b"\xff", lambda: 1, iter, Broken()]
)
def test_what_has_no_json_form_is_a_failed_result_that_says_so(value):
    with pytest.raises(CallFailedError, match=r"^TypeError: the tool returned a value of type"):
        output_of(value)


def test_a_value_that_holds_itself_is_a_failed_result():
    value = []
    value.append(value)
    with pytest.raises(CallFailedError, match="one that holds itself"):
        output_of(value)


@pytest.mark.parametrize(
    "value",
    [
        count(),
        (n for n in range(3)),
        {"a": [count()]},
        Point(1, repeat(1)),
        iter([1]),
        map(str, []),
    ],
)
def test_iterators_are_refused_since_they_may_have_no_end(value):
    with pytest.raises(CallFailedError, match="an iterator may have no end; return a list"):
        output_of(value)


def test_more_values_than_a_model_reads_are_refused():
    value = []
    for _ in range(60):
        value = [value, value]
    with pytest.raises(CallFailedError, match="more than 1,000,000 values"):
        output_of(value)


def test_a_failure_holds_no_secret_also_where_it_is_cut(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-9f3a-secret")
    for before in (0, 1_985, 1_995, 2_000, 9_000, 10_000):
        text = failed_output("x" * before + "canary-9f3a-secret" * 300).text
        assert "canary" not in text
        assert len(text) <= 2_000


def test_a_failure_is_one_line():
    assert failed_output("LookupError: a\nb") == Output("LookupError: a\\nb", ok=False)


def made(number):
    return ToolCall(call_id=str(number), name="f", arguments={}, step=0)


async def test_at_most_so_many_calls_run_at_once_and_all_are_answered_in_order():
    running, most = 0, 0

    async def run(call):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return result_of(call, Output(call.call_id))

    recorded = []
    calls = [made(n) for n in range(500)]
    results = await run_together(calls, run, recorded.append)
    assert most == AT_ONCE
    assert recorded == results
    assert [result.output for result in results] == [str(n) for n in range(500)]


async def test_a_call_that_ignores_its_cancellation_is_left_to_itself():
    released = asyncio.Event()

    async def run(call):
        while call.call_id == "0" and not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()
        return result_of(call, Output("late"))

    recorded = []
    running = asyncio.ensure_future(run_together([made(0), made(1)], run, recorded.append))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [result.call_id for result in recorded] == ["1"]
    released.set()


@pytest.mark.parametrize("define", ["def", "async def"])
@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("Own('mine')", "Own: mine"),
        ("KeyboardInterrupt()", "KeyboardInterrupt"),
        ("SystemExit(3)", "SystemExit: 3"),
        ("BaseExceptionGroup('g', [SystemExit()])", "BaseExceptionGroup: g (1 sub-exception)"),
        ("Rude()", "Rude: (its message cannot be shown)"),
    ],
)
async def test_whatever_a_tool_raises_is_a_failed_result(define, raised, told):
    tools = load_code(
        "class Own(BaseException): ...\n"
        "class Rude(Exception):\n def __str__(self): raise SystemExit(7)\n"
        f"{define} f(): raise {raised}\n"
    )
    result = await run_tool(made(0), build_toolbox(tools, frozenset()), {})
    assert (result.ok, result.output) == (False, told)


@pytest.mark.parametrize(
    "body", ["\n while True: yield 1", "import itertools; return itertools.count()"]
)
async def test_a_tool_without_an_end_is_a_failed_result_that_says_so(body):
    tools = build_toolbox(load_code(f"def f(): {body}"), frozenset())
    result = await run_tool(made(0), tools, {})
    assert not result.ok
    assert "return a list of its items" in result.output
