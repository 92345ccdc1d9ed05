import msgspec
import pytest

from harness.messages.event_texts import event_text
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)

SENT = '{"q": 1}'


@pytest.mark.parametrize(
    "event",
    [
        UserMessage(text=SENT),
        AssistantMessage(text=SENT),
        Reasoning(text=SENT),
        SystemEvent(kind="compaction", text=SENT),
        ErrorEvent(kind="refused", message=SENT),
        ToolResult(call_id="c", name="t", output=SENT, structured={"text": "other"}),
        ToolCall(call_id="c", name="t", arguments={"q": 1}, arguments_text=SENT),
    ],
    ids=lambda event: type(event).__name__,
)
def test_every_event_has_a_text(event):
    assert event_text(event) == SENT


def test_arguments_that_were_no_text_are_shown_as_compact_json():
    call = ToolCall(call_id="c", name="t", arguments={"q": ["\u00e9", 1]})
    assert event_text(call) == '{"q":["\u00e9",1]}'


def test_arguments_that_were_sent_as_nothing_stay_nothing():
    assert event_text(ToolCall(call_id="c", name="t", arguments={}, arguments_text="")) == ""


@pytest.mark.parametrize("arguments", [float("inf"), {"q": [float("nan"), 1]}])
def test_numbers_of_arguments_that_json_has_no_form_for_are_shown_as_they_are_stored(arguments):
    shown = event_text(ToolCall(call_id="c", name="t", arguments=arguments))
    assert shown == msgspec.json.encode(arguments).decode()
