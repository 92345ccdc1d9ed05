import json

import pytest

from harness.messages.letta_notices import read_notice, split_reminders, write_notice
from harness.types.events import SystemEvent

ALERT = {"type": "system_alert", "message": "hidden", "time": "now"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (ALERT, SystemEvent(kind="system_alert", text="hidden", data={"time": "now"})),
        ({"type": "heartbeat", "reason": "timer"},
         SystemEvent(kind="heartbeat", data={"reason": "timer"})),
        ({"type": "login", "message": 3}, SystemEvent(kind="login", data={"message": 3})),
    ],
)  # fmt: skip
def test_a_notice_of_the_server_is_told_from_a_user(fields, expected):
    assert read_notice(json.dumps(fields, indent=2), {}) == expected
    again = write_notice(expected)
    assert again is not None
    assert json.loads(again) == fields


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "",
        '{"type": "order", "about": "system_alert"}',
        '{"type": "system_alert", ',
        '["system_alert"]',
        'see: {"type": "system_alert", "message": "x"}',
        '{"system_alert": ' + "[" * 100_000,
    ],
)
def test_what_a_user_says_is_no_notice(text):
    assert read_notice(text, {}) is None


@pytest.mark.parametrize(
    "event",
    [
        SystemEvent(kind="compaction", data={}),
        SystemEvent(kind="system_alert", data=None),
        SystemEvent(kind="system_alert", data={"type": "x"}),
        SystemEvent(kind="system_alert", data={"message": "x"}),
        SystemEvent(kind="system_alert", text="a", data={"message": 1}),
    ],
)
def test_an_event_that_is_no_notice_is_not_written_as_one(event):
    assert write_notice(event) is None


@pytest.mark.parametrize(
    ("text", "said", "reminders"),
    [
        ("hello", "hello", ()),
        (" hello ", " hello ", ()),
        ("<system-reminder>\na\n</system-reminder> <system-reminder>b</system-reminder>\n\n hello",
         "hello", ("a", "b")),
        ("do it<system-reminder>a</system-reminder>\nnow", "do it\nnow", ("a",)),
        ("<system-reminder>a</system-reminder>", "", ("a",)),
        ("why <system-reminder> ?", "why <system-reminder> ?", ()),
        ("</system-reminder>", "</system-reminder>", ()),
        ("<system-reminder>" * 50_000, "<system-reminder>" * 50_000, ()),
    ],
)  # fmt: skip
def test_reminders_are_not_the_users_text(text, said, reminders):
    assert split_reminders(text) == (said, reminders)
