"""The target `openai` with the scripted models: they are driven as any other server is."""

from pathlib import Path

import msgspec
import pytest
from fakes.driven_samples import drive_sample, load_code
from integration.openai_driving import agent_for, serve
from integration.other_server import Answer, by_results, call

from harness.serving.model_server import scripted_server
from harness.serving.script import parse_script, read_script
from harness.targets.openai_agent import OpenAIAgent
from harness.types.events import AssistantMessage, SystemEvent

TROUBLES = Path(__file__).parents[1] / "data" / "serving" / "troubles.yaml"
TOOLS = """
async def look_up(number: str) -> str:
    return f"value {number}"


def note(text: str) -> dict:
    return {"noted": text}
"""
SCRIPT = """
models:
  steady:
    - when: {replies: 0, user: 'number (?P<n>[0-9]+)'}
      say: I look it up.
      call:
        - look_up: {number: "{n}"}
        - note: {text: "{n}"}
    - when: {results: {look_up: 'value (?P<v>[0-9]+)'}}
      say: "It is {v}."
"""
ANSWERS = (
    Answer(
        content="I look it up.",
        calls=(
            call("look_up", '{"number":"7"}', "c1"),
            call("note", '{"text":"7"}', "c2"),
        ),
    ),
    Answer(content="It is 7."),
)


def without_ids(trajectory):
    """Give the events without what every server makes up itself: ids of calls."""
    return [
        msgspec.structs.replace(event, call_id=None) if hasattr(event, "call_id") else event
        for event in trajectory.events()
    ]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_that_is_not_ours_gives_the_same_trajectory_as_ours(stream):
    told = {"input": "number 7", "model": "scripted/steady"}
    options = {"tools": TOOLS, "request": {"stream": stream}}
    with serve(*ANSWERS, choose=by_results) as server:
        agent = agent_for(server, **options)
        other = await drive_sample(agent, scripted_url=server.url, **told)
    async with scripted_server(parse_script(SCRIPT, "models.yaml")) as url:
        ours = await drive_sample(agent, scripted_url=url, **told)
    assert (other.error, ours.error) == (None, None)
    assert len(ours.events) == 7
    assert without_ids(ours.trajectory) == without_ids(other.trajectory)
    stops = [[step.stop_reason for step in turn.steps] for turn in ours.turns]
    assert stops == [["tool_calls", "stop"]]


async def meet(model, **options):
    """Say hello to a model that makes trouble."""
    agent = OpenAIAgent(tools=load_code(TOOLS), **options)
    async with scripted_server(read_script(TROUBLES)) as url:
        told = {"model": f"scripted/{model}", "scripted_url": url, "wait_seconds": 2.0}
        return await drive_sample(agent, **told)


async def test_a_model_that_is_limited_is_waited_for():
    driven = await meet("limited")
    assert driven.error is None
    assert driven.waited == 0.5


@pytest.mark.parametrize(
    ("model", "stream", "code"),
    [
        ("down", False, "overloaded"),
        ("garbled", False, "bad_reply"),
        ("torn", False, "connection_lost"),
        ("torn", True, "stream_cut"),
        ("ended", True, "stream_cut"),
        ("nobody", False, "not_found"),
    ],
)
async def test_a_model_that_makes_trouble_is_an_error_and_no_answer(model, stream, code):
    driven = await meet(model, request={"stream": stream})
    assert driven.error.code == code
    assert driven.of(AssistantMessage) == []


async def test_what_a_torn_model_had_said_is_kept():
    driven = await meet("ended", request={"stream": True})
    (partial,) = driven.of(SystemEvent)
    assert partial.kind == "partial_reply"
    assert "This sentence just ends somewhere".startswith(partial.text[:20])
    assert partial.text


async def test_without_a_scripted_server_its_models_are_not_found():
    driven = await drive_sample(OpenAIAgent(), model="scripted/careful")
    assert driven.error.code == "not_found"
    assert "target.script" in driven.error.hint
