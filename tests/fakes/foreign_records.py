"""Records of other tools, read as `regrade grade` reads them, and seen as plain rows."""

from fakes.factories import DATA

from harness.importers.catalogue import IMPORTERS
from harness.importers.format_finding import find_format, read_source
from harness.importers.source_files import open_source
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    SystemEvent,
    ToolCall,
    ToolResult,
)

FOREIGN = DATA / "importers"


def find_foreign(path):
    """Name the format that claims a file; None where none does."""
    found = find_format(open_source(path), IMPORTERS)
    return found and found[0]


def read_foreign(path, named=None):
    """Read the conversations of a file."""
    return list(read_source(open_source(path), IMPORTERS, named))


def read_one(path, named=None):
    """Read a file that holds one conversation."""
    (record,) = read_foreign(path, named)
    return record


def rows(record):
    """Show every event in short: its type, and what it says."""
    return [_row(event) for event in record.trajectory.events()]


def _row(event):
    match event:
        case ToolCall():
            return ("call", event.call_id, event.name, event.arguments)
        case ToolResult():
            return ("result" if event.ok else "failed", event.call_id, event.name, event.output)
        case SystemEvent():
            return ("system", event.kind, event.text)
        case ErrorEvent():
            return ("error", event.kind, event.message)
        case AssistantMessage():
            return ("assistant", event.text)
    return (type(event).__name__.removesuffix("Message").lower(), event.text)


def said(record):
    """Give what the agent said to the user."""
    return [e.text for e in record.trajectory.events() if isinstance(e, AssistantMessage)]
