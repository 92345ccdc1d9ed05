"""The text of an event: what a grade's refs point into."""

from harness.system.json_values import compact_json
from harness.types.events import ErrorEvent, Event, ToolCall, ToolResult


def event_text(event: Event) -> str:
    """Return the text of an event, into which `start` and `end` of a ref count.

    It is the output of a result, the arguments of a call as they were sent (as compact JSON where
    the source held no text), the message of an error, and the `text` of any other event.
    """
    if isinstance(event, ToolResult):
        return event.output
    if isinstance(event, ToolCall):
        sent = event.arguments_text
        return compact_json(event.arguments) if sent is None else sent
    return event.message if isinstance(event, ErrorEvent) else event.text
