"""The target `openai` over real HTTP, against a server that is not ours."""

import asyncio
import subprocess
import sys
import threading
from contextlib import nullcontext

import msgspec
import pytest
from fakes.driven_samples import connected, drive_sample
from integration.openai_driving import TOOLS, agent_for, drive, serve
from integration.other_server import Answer, by_results, call

from harness.messages.chat import read_turns
from harness.targets.openai_agent import OpenAIAgent
from harness.types.errors import TargetError
from harness.types.events import (
    AssistantMessage,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
)
from harness.types.protocols import RunContext
from harness.types.trajectories import Trajectory

CONVERSATION = (
    Answer(
        content="I look it up.",
        calls=(call("look_up", {"key": "a"}), call("greet", {"name": "Zoë\u2028"}, "c2")),
        extra={"reasoning_content": "Two tools at once."},
    ),
    Answer(calls=(call("look_up", {"key": "b"}, "c3"),)),
    Answer(content="It is rt_a, or rt_b."),
    Answer(content="You are welcome."),
)


@pytest.mark.parametrize("style", ["plain", "blank_ids", "no_index"])
async def test_a_streamed_conversation_gives_the_trajectory_of_a_whole_one(style):
    told = {"input": ("Which?", "Thanks"), "history": ({"role": "user", "content": "before"},)}
    streamed = [Answer(**{**vars(answer), "style": style}) for answer in CONVERSATION]
    with serve(*CONVERSATION, choose=by_results) as server:
        whole = await drive(server, told, tools=TOOLS)
    with serve(*streamed, choose=by_results) as server:
        other = await drive(server, told, tools=TOOLS, request={"stream": True})
    assert whole.error is None
    assert len(whole.trajectory.turns) == 2
    assert other.trajectory == whole.trajectory
    assert whole.trajectory.usage.input_tokens == 28
    assert {step.model for turn in whole.trajectory.turns for step in turn.steps} == {
        "some-model-served"
    }


async def test_what_is_recorded_is_what_the_messages_say():
    with serve(*CONVERSATION, choose=by_results) as server:
        driven = await drive(server, {"input": ("Which?", "Thanks")}, tools=TOOLS)
    messages = [*server.bodies[-1]["messages"], CONVERSATION[-1].message]
    read = Trajectory(turns=read_turns(messages))
    plain = [msgspec.structs.replace(e, structured=None) if isinstance(e, ToolResult) else e
             for e in driven.trajectory.events()]  # fmt: skip
    assert list(read.events()) == plain


async def test_instructions_history_and_request_reach_the_model():
    history = ({"role": "user", "content": "q"}, {"role": "assistant", "content": "a"})
    with serve(Answer(content="ok")) as server:
        await drive(
            server, {"history": history}, instructions="Be ${brief}.",
            request={"temperature": 0, "vendor_option": {"x": 1}},
        )  # fmt: skip
    (body,) = server.bodies
    assert body["temperature"] == 0
    assert body["vendor_option"] == {"x": 1}
    assert body["model"] == "some-model"
    assert "tools" not in body
    assert [m["content"] for m in body["messages"]] == ["Be ${brief}.", "q", "a", "Hi"]


async def test_a_stream_is_asked_for_its_usage_unless_the_suite_says_otherwise():
    with serve(Answer(content="ok")) as server:
        told = await drive(server, request={"stream": True})
        untold = await drive(server, request={"stream": True, "stream_options": {}})
    assert [body["stream_options"] for body in server.bodies] == [{"include_usage": True}, {}]
    assert told.trajectory.usage.output_tokens == 5
    assert untold.trajectory.usage.output_tokens is None


async def test_a_stream_leaves_its_connection_to_the_next_request():
    with serve(*CONVERSATION, choose=by_results) as server:
        await drive(server, {"input": ("a", "b")}, tools=TOOLS, request={"stream": True})
    assert len(server.bodies) == 4
    assert len(server.connections) == 1


async def test_fixtures_are_filled_in_and_hidden_from_the_model():
    with serve(Answer(calls=(call("look_up", {"key": "k"}),)), Answer(content="ok")) as server:
        driven = await drive(server, {"fixtures": {"store": {"k": "from the store"}}}, tools=TOOLS)
    assert driven.of(ToolResult)[0].output == "from the store"
    schema = server.bodies[0]["tools"][0]["function"]
    assert schema == {
        "name": "look_up",
        "description": "Look a key up.",
        "parameters": {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "which one"}},
            "required": ["key"],
            "additionalProperties": False,
        },
    }


@pytest.mark.parametrize(
    ("made", "output"),
    [
        (call("no_such", {}), "unknown tool no_such; the tools are: look_up, greet, fail"),
        (call("greet", '{"name": "x"'), 'wrong arguments: no JSON: {"name": "x"'),
        (call("greet", "[1]"), "wrong arguments: must be a JSON object"),
        (call("greet", {}), "wrong arguments: name: Field required"),
        (
            call("greet", {"name": "x", "y": 1}),
            "wrong arguments: y: Extra inputs are not permitted",
        ),
        (call("slow", {"seconds": "long"}), "wrong arguments: seconds: Input should be a valid"),
        (call("fail", {"why": "gone\nfor good"}), "LookupError: gone\\nfor good"),
        (call("leave", {}), "SystemExit: 3"),
    ],
)
async def test_a_call_that_goes_wrong_is_a_failed_result_that_the_agent_sees(made, output):
    with serve(Answer(calls=(made,)), Answer(content="I see.")) as server:
        driven = await drive(server, tools=TOOLS)
    (result,) = driven.of(ToolResult)
    assert driven.error is None
    assert not result.ok
    assert result.output.startswith(output)
    assert server.bodies[1]["messages"][-1]["content"] == result.output
    assert driven.of(AssistantMessage)[-1].text == "I see."


async def test_twenty_calls_of_one_reply_run_together_and_are_answered_in_their_order():
    meeting = threading.Barrier(20, timeout=10)
    made = tuple(call("meet", {"n": n}, f"c{n}") for n in range(20))
    tools = "def meet(n: int, meeting) -> int:\n    meeting.wait()\n    return n\n"
    with serve(Answer(calls=made), Answer(content="done")) as server:
        driven = await drive(server, {"fixtures": {"meeting": meeting}}, tools=tools)
    assert [result.output for result in driven.of(ToolResult)] == [str(n) for n in range(20)]
    assert [m["tool_call_id"] for m in server.bodies[1]["messages"][2:]] == [
        f"c{n}" for n in range(20)
    ]


async def test_results_that_are_there_are_kept_when_an_earlier_call_hangs_past_the_limit():
    made = (call("slow", {"seconds": 60}), call("greet", {"name": "x"}, "c2"))
    with serve(Answer(calls=made)) as server:
        driven = await drive(server, {"turn_seconds": 0.5}, tools=TOOLS)
    assert driven.error.code == "turn_timeout"
    assert [(result.call_id, result.output) for result in driven.of(ToolResult)] == [
        ("c2", "Hello x")
    ]


async def test_a_tool_that_blocks_its_thread_does_not_hold_up_the_time_limit():
    with serve(Answer(calls=(call("block", {"seconds": 3}),))) as server:
        driven = await drive(server, {"turn_seconds": 0.3}, tools=TOOLS)
    assert driven.error.code == "turn_timeout"
    assert len(driven.of(ToolCall)) == 1


async def test_a_tool_that_swallows_its_cancellation_does_not_let_the_agent_go_on():
    released = asyncio.Event()
    source = """
async def stubborn(released):
    while not released.is_set():
        try:
            await released.wait()
        except BaseException:
            pass
    return "late"
"""
    with serve(Answer(calls=(call("stubborn", {}),)), Answer(content="on")) as server:
        told = {"turn_seconds": 0.2, "fixtures": {"released": released}}
        driven = await drive(server, told, tools=source)
        released.set()
        await asyncio.sleep(0)
    assert driven.error.code == "turn_timeout"
    assert len(server.bodies) == 1
    assert driven.of(ToolResult) == []


async def test_missing_and_repeated_ids_of_calls_are_made_up():
    made = (call("greet", {"name": "a"}, ""), call("greet", {"name": "b"}, "x"),
            call("greet", {"name": "c"}, "x"))  # fmt: skip
    with serve(Answer(calls=made), Answer(content="ok")) as server:
        driven = await drive(server, tools=TOOLS)
    ids = [made.call_id for made in driven.of(ToolCall)]
    assert ids == ["call_0_0_0", "x", "call_0_0_2"]
    assert [(r.call_id, r.output[-1]) for r in driven.of(ToolResult)] == list(
        zip(ids, "abc", strict=True)
    )
    sent = server.bodies[1]["messages"]
    assert [made["id"] for made in sent[1]["tool_calls"]] == ids
    assert [message["tool_call_id"] for message in sent[2:]] == ids


async def test_an_agent_that_never_answers_has_used_up_its_steps():
    with serve(Answer(calls=(call("greet", {"name": "x"}),))) as server:
        driven = await drive(server, tools=TOOLS, max_steps=3)
    assert driven.error.code == "max_steps"
    assert len(server.bodies) == 3
    assert len(driven.of(ToolResult)) == 2


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("content", [None, ""])
async def test_a_reply_without_text_and_calls_is_an_empty_text(content, stream):
    with serve(Answer(content=content)) as server:
        driven = await drive(server, request={"stream": stream})
    assert [event.text for event in driven.of(AssistantMessage)] == [""]
    assert driven.error is None


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_ends_the_turn_and_is_no_assistant_text(stream):
    with serve(Answer(extra={"refusal": "I will not."})) as server:
        driven = await drive(server, request={"stream": stream})
    assert [(e.kind, e.text) for e in driven.of(SystemEvent)] == [("refusal", "I will not.")]
    assert driven.of(AssistantMessage) == []
    assert driven.error is None


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_stopped_by_the_content_filter_is_no_answer(stream):
    with serve(Answer(content="Some of", finish="content_filter")) as server:
        driven = await drive(server, request={"stream": stream})
    assert driven.error.code == "content_filter"
    assert [(e.kind, e.text) for e in driven.of(SystemEvent)] == [("partial_reply", "Some of")]
    assert driven.of(AssistantMessage) == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_cut_at_its_token_limit_counts_but_its_half_call_is_not_run(stream):
    made = (call("greet", {"name": "x"}), call("look_up", '{"key": "a', "c2"))
    with serve(Answer(calls=made, finish="length"), Answer(content="ok")) as server:
        driven = await drive(server, request={"stream": stream}, tools=TOOLS)
    assert [(r.ok, r.output) for r in driven.of(ToolResult)] == [
        (True, "Hello x"),
        (False, "not run: the reply was cut at its token limit, inside this call"),
    ]
    assert driven.trajectory.turns[0].steps[0].stop_reason == "length"


async def test_an_endpoint_on_loopback_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serve(Answer(content="ok")) as server:
        driven = await drive(server)
    assert driven.error is None


async def test_an_endpoint_elsewhere_needs_a_key_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for url in (None, "https://example.invalid/v1"):
        driven = await drive_sample(OpenAIAgent(base_url=url))
        assert driven.error.code == "unauthorized"
        assert "OPENAI_API_KEY" in str(driven.error)
        assert "api_key_env" in driven.error.hint


@pytest.mark.parametrize(
    ("url", "models", "refused"),
    [
        (None, ("some-model", "other"), True),
        ("https://example.invalid/v1", ("some-model",), True),
        ("http://127.0.0.1:9/v1", ("some-model",), False),
        (None, ("some-model", "scripted/careful"), False),
        (None, (), False),
    ],
)
async def test_a_missing_key_is_said_once_where_no_model_goes_without(
    url, models, refused, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    context = RunContext(scripted_url=None, fixture_names=frozenset(), concurrency=1, models=models)
    expected = pytest.raises(TargetError, match="OPENAI_API_KEY") if refused else nullcontext()
    with expected as raised:
        async with OpenAIAgent(base_url=url).connect(context):
            pass
    if refused:
        assert raised.value.code == "unauthorized"
        assert "api_key_env" in raised.value.hint


@pytest.mark.parametrize("key", ["sk-\u2026", "sk-1\nsk-2"])
async def test_a_key_that_can_be_none_is_not_sent(key, monkeypatch):
    monkeypatch.setenv("MY_KEY", key)
    agent = OpenAIAgent(base_url="https://example.invalid/v1", api_key_env="MY_KEY")
    driven = await drive_sample(agent)
    assert driven.error.code == "unauthorized"
    assert "sk-" not in str(driven.error)


async def test_base_url_and_key_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("MY_KEY", "canary-9f3a-value")
    with serve(Answer(content="ok")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        driven = await drive_sample(OpenAIAgent(api_key_env="MY_KEY"))
    assert driven.error is None
    assert server.headers[0]["authorization"] == "Bearer canary-9f3a-value"


async def test_a_proxy_of_the_environment_is_not_asked_for_loopback(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with serve(Answer(content="ok")) as server:
        driven = await drive(server, {"wait_seconds": 0.0})
    assert driven.error is None


async def test_scripted_models_are_asked_at_the_scripted_server_with_the_epoch_as_seed():
    with serve(Answer(content="ok")) as server:
        told = {"model": "scripted/careful", "scripted_url": server.url}
        agent = OpenAIAgent(base_url="http://127.0.0.1:9/v1", api_key_env="NOT_SET")
        first = await drive_sample(agent, **told)
        seeded = OpenAIAgent(request={"seed": 99})
        await drive_sample(seeded, **told)
    assert first.error is None
    assert [(b["model"], b["seed"]) for b in server.bodies] == [
        ("scripted/careful", 3),
        ("scripted/careful", 99),
    ]


async def test_lone_surrogates_and_control_characters_of_a_reply_are_kept_safe():
    raw = rb'{"choices": [{"message": {"content": "a\ud800b\u0000\u001b[31m\ud83d\ude00"}}]}'
    with serve(Answer(raw=raw)) as server:
        driven = await drive(server)
    assert [e.text for e in driven.of(AssistantMessage)] == ["a\ufffdb\x00\x1b[31m\U0001f600"]


async def test_arguments_sent_as_an_object_are_kept_as_one_and_sent_back_as_text():
    made = call("greet", {"name": "x"})
    made["function"]["arguments"] = {"name": "x"}
    with serve(Answer(calls=(made,)), Answer(content="ok")) as server:
        driven = await drive(server, tools=TOOLS)
    (recorded,) = driven.of(ToolCall)
    assert (recorded.arguments, recorded.arguments_text) == ({"name": "x"}, None)
    sent = server.bodies[1]["messages"][1]["tool_calls"][0]
    assert sent["function"]["arguments"] == '{"name":"x"}'
    assert driven.of(ToolResult)[0].ok


async def test_fields_of_the_endpoint_s_own_go_back_to_it():
    made = {**call("greet", {"name": "x"}), "extra_content": {"signature": "abc"}}
    with serve(Answer(calls=(made,)), Answer(content="ok")) as server:
        await drive(server, tools=TOOLS)
        await drive(server, tools=TOOLS, request={"stream": True})
    sent = server.bodies[1]["messages"][1]["tool_calls"][0]
    assert sent["extra_content"] == {"signature": "abc"}


async def test_reasoning_is_recorded_apart_from_what_is_said():
    with serve(Answer(content="ok", extra={"reasoning": "hm"})) as server:
        driven = await drive(server, request={"stream": True})
    assert [e.text for e in driven.of(Reasoning)] == ["hm"]
    assert [e.text for e in driven.of(AssistantMessage)] == ["ok"]


async def test_many_sessions_at_once_are_not_throttled_by_the_client():
    meeting = threading.Barrier(120, timeout=20)
    with serve(Answer(content="ok", before=meeting.wait)) as server:
        agent = agent_for(server)
        async with connected(agent) as drive_one:
            driven = await asyncio.gather(*(drive_one() for _ in range(120)))
    assert {e.text for one in driven for e in one.of(AssistantMessage)} == {"ok"}
    assert all(one.error is None for one in driven)


def test_naming_the_targets_loads_none_of_the_heavy_packages():
    code = (
        "import sys; from harness.targets.catalogue import TARGETS; "
        "print(sorted({'openai', 'pydantic', 'aiohttp', 'docstring_parser'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout.strip() == "[]"
