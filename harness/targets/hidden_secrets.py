"""Events without the secrets that an agent's tools were given, and can print."""

from collections.abc import Collection

import msgspec

from harness.system.redaction import SHOWN
from harness.types.events import Event
from harness.types.protocols import Record
from harness.types.trajectories import Step

_SHORTEST = 6  # a shorter value is found in half of all texts


def hiding(record: Record, secrets: Collection[str]) -> Record:
    """Return what records events without the values of secrets; `record` where there are none."""
    # As they stand inside a JSON text.
    hidden = [msgspec.json.encode(one)[1:-1] for one in secrets if len(one) >= _SHORTEST]
    if not hidden:
        return record

    def record_hidden(what: Event | Step) -> None:
        record(what if isinstance(what, Step) else _without(hidden, what))

    return record_hidden


def _without(secrets: Collection[bytes], event: Event) -> Event:
    shown = kept = msgspec.json.encode(event)
    for secret in secrets:
        kept = kept.replace(secret, SHOWN.encode())
    return event if kept == shown else msgspec.json.decode(kept, type=Event)
