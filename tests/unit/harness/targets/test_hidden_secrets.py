"""What an agent's tools were given stands in no recorded event."""

import json

import pytest

from harness.system.secret_values import SHOWN
from harness.targets.hidden_secrets import hiding
from harness.types.events import AssistantMessage, ToolCall, ToolResult
from harness.types.trajectories import Step

EVENTS = [
    AssistantMessage(text="It is open-sesame."),
    ToolCall(name="f", call_id="1", arguments={"key": ["open-sesame"]}),
    ToolResult(name="f", call_id="1", output="env: open-sesame", ok=True, structured="open-sesame"),
]


@pytest.mark.parametrize("event", EVENTS)
def test_a_secret_is_hidden_wherever_it_stands(event):
    recorded = []
    hiding(recorded.append, ["open-sesame"])(event)
    [kept] = recorded
    assert type(kept) is type(event)
    assert "open-sesame" not in repr(kept)
    assert SHOWN in repr(kept)


def test_a_secret_is_found_that_json_writes_in_another_way():
    recorded = []
    hiding(recorded.append, ['a"b\\c\nd'])(AssistantMessage(text='It is a"b\\c\nd.'))
    assert recorded == [AssistantMessage(text=f"It is {SHOWN}.")]


@pytest.mark.parametrize("secret", ['a"b\\c\nd', "schlüssel", "back\\slash"])
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_secret_is_found_inside_of_json_texts(secret, ascii_only, times):
    text = secret
    for _ in range(times):
        text = json.dumps({"key": text}, ensure_ascii=ascii_only)
    recorded = []
    hiding(recorded.append, [secret])(ToolResult(name="f", call_id="1", output=text, ok=True))
    shown = recorded[0].output
    for _ in range(times):
        shown = json.loads(shown)["key"]
    assert shown == SHOWN


@pytest.mark.parametrize("secret", ["tool_result", "output", '","name":"'])
def test_a_secret_that_is_called_like_a_part_of_an_event_breaks_none(secret):
    recorded = []
    hiding(recorded.append, [secret])(ToolResult(name="f", call_id="1", output="x", ok=True))
    assert recorded == [ToolResult(name="f", call_id="1", output="x", ok=True)]


def test_what_holds_no_secret_stays_the_same_and_short_values_hide_nothing():
    recorded = []
    record = hiding(recorded.append, ["open-sesame", "on"])
    event = AssistantMessage(text="one on one")
    record(event)
    step = Step(model="one-on-one")
    record(step)
    assert recorded[0] is event
    assert recorded[1] is step


def test_a_model_that_is_called_by_a_secret_is_hidden():
    recorded = []
    record = hiding(recorded.append, ["open-sesame"])
    record(Step(model="open-sesame-2", stop_reason="stop"))
    assert recorded == [Step(model="[redacted]-2", stop_reason="stop")]


def test_without_secrets_nothing_stands_between():
    recorded = []
    record = recorded.append
    assert hiding(record, ["short"]) is record
