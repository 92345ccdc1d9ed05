"""Events without the secrets that an agent's tools were given, and can print."""

from collections.abc import Collection

from harness.messages.hidden_texts import event_without, step_without
from harness.system.secret_values import Secrets
from harness.types.events import Event
from harness.types.protocols import Record
from harness.types.trajectories import Step


def hiding(record: Record, secrets: Collection[str]) -> Record:
    """Return what records events and steps without secrets; `record` where there are none."""
    hidden = Secrets(secrets)
    if not hidden:
        return record

    def record_hidden(what: Event | Step) -> None:
        if isinstance(what, Step):
            record(step_without(hidden, what))
        else:
            record(event_without(hidden, what))

    return record_hidden
