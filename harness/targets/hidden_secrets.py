"""Events without the secrets that an agent's tools were given, and can print."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import structs

from harness.system.redaction import SHOWN, spellings
from harness.types.events import Event
from harness.types.protocols import Record
from harness.types.trajectories import Step


def hiding(record: Record, secrets: Collection[str]) -> Record:
    """Return what records events without the values of secrets; `record` where there are none."""
    hidden = spellings(secrets)
    if not hidden:
        return record

    def record_hidden(what: Event | Step) -> None:
        record(what if isinstance(what, Step) else _without(hidden, what))

    return record_hidden


def _without(hidden: Sequence[str], event: Event) -> Event:
    # The values alone are looked at: an event stays one whatever a secret is.
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    kept = {name: _shown(hidden, value) for name, value in fields.items()}
    return event if kept == fields else structs.replace(event, **kept)


def _shown(hidden: Sequence[str], value: Any) -> Any:
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, SHOWN)
        return value
    if isinstance(value, Mapping):
        return {_shown(hidden, key): _shown(hidden, one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(hidden, one) for one in value]
    return value
