"""The text of an event: what a grade's refs point into."""

from harness.system.json_values import compact_json, storable_json
from harness.types.events import ErrorEvent, Event, ToolCall, ToolResult


def event_text(event: Event) -> str:
    """Return the text of an event, into which `start` and `end` of a ref count.

    It is the output of a result, the arguments of a call as they were sent (as compact JSON where
    the source held no text), the message of an error, and the `text` of any other event.
    """
    if isinstance(event, ToolResult):
        return event.output
    if isinstance(event, ToolCall):
        return sent_arguments(event)
    return event.message if isinstance(event, ErrorEvent) else event.text


def sent_arguments(call: ToolCall) -> str:
    """Return the arguments of a call as they were sent, or as compact JSON.

    Numbers that are not finite, which only an agent in the same process can give, are null there,
    as they are where the trial is stored.
    """
    if call.arguments_text is not None:
        return call.arguments_text
    try:
        return compact_json(call.arguments)
    except ValueError:
        return compact_json(storable_json(call.arguments))
