"""What an agent's tools were given stands in no recorded event."""

import pytest

from harness.system.redaction import SHOWN
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


def test_what_holds_no_secret_stays_the_same_and_short_values_hide_nothing():
    recorded = []
    record = hiding(recorded.append, ["open-sesame", "on"])
    event = AssistantMessage(text="one on one")
    record(event)
    record(Step(model="open-sesame"))
    assert recorded[0] is event
    assert recorded[1] == Step(model="open-sesame")


def test_without_secrets_nothing_stands_between():
    recorded = []
    record = recorded.append
    assert hiding(record, ["short"]) is record
