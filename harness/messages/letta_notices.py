"""What Letta writes into user messages: a user's text comes in, the notices in it go out.

The server leaves notices as JSON (a compaction's `system_alert`), Letta Code puts blocks
`<system-reminder>...</system-reminder>` around what the user said.
"""

from collections.abc import Mapping
from typing import Any

from harness.system.json_values import compact_json, read_json
from harness.types.events import SystemEvent

NOTICES = ("system_alert", "heartbeat", "login")
"""The types of the server's notices."""

SYSTEM_REMINDER = "system_reminder"
"""The kind of the system event that holds a reminder of Letta Code."""

_BEGIN, _END = "<system-reminder>", "</system-reminder>"


def read_notice(text: str, shared: Mapping[str, Any]) -> SystemEvent | None:
    """Return the notice that a user message consists of, None for what a user said.

    Its `text` is the notice's message, its `data` the other fields.
    """
    if not text.lstrip().startswith("{") or not any(f'"{kind}"' in text for kind in NOTICES):
        return None
    try:
        fields = read_json(text)[0]
    except ValueError:
        return None
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in NOTICES:
        return None
    message = fields.pop("message") if isinstance(fields.get("message"), str) else ""
    return SystemEvent(kind=kind, text=message, data=fields, **shared)


def write_notice(event: SystemEvent) -> str | None:
    """Return the user text that reads as the event, None for an event that is no notice."""
    fields = event.data
    if event.kind not in NOTICES or not isinstance(fields, dict) or "type" in fields:
        return None
    if "message" in fields and (event.text or isinstance(fields["message"], str)):
        return None
    message = {"message": event.text} if event.text else {}
    return compact_json({"type": event.kind, **message, **fields})


def split_reminders(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a user message of Letta Code into what the user said, and the reminders around it.

    A block that is never closed is the user's text. White space around what is left is dropped,
    if any block was taken out.
    """
    kept: list[str] = []
    reminders: list[str] = []
    position = 0
    while (begin := text.find(_BEGIN, position)) >= 0:
        end = text.find(_END, begin)
        if end < 0:
            break
        kept.append(text[position:begin])
        reminders.append(text[begin + len(_BEGIN) : end].strip())
        position = end + len(_END)
    if not reminders:
        return text, ()
    kept.append(text[position:])
    return "".join(kept).strip(), tuple(reminders)
