"""Keys that stand one level too high or too deep, taken to where they belong."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from harness.documents.findings import Findings
from harness.documents.nodes import Entry, Location, Table


def put_right(
    location: Location,
    findings: Findings,
    below: str,
    *,
    own: Collection[str],
    inner: Collection[str],
) -> Location:
    """Return a mapping with each misplaced key where it belongs; each is a fault.

    `own` are the keys that the mapping takes, `inner` those of the mapping under its key `below`.
    What is moved is not missing there, so that one mistake is one fault.
    """
    child = location.child(below)
    upper, lower = _entries(location), _entries(child)
    if upper is None or (child and lower is None):
        return location
    lower = lower or {}
    high = {key: entry for key, entry in upper.items() if key in inner and key not in own}
    deep = {key: entry for key, entry in lower.items() if key in own and key not in inner}
    if not high and not deep:
        return location
    for key in high:
        findings.key_fault(location, key, f'unknown key "{key}"', f"it belongs under `{below}`")
    for key in deep:
        allowed = f"it belongs one level up, beside `{below}`"
        findings.key_fault(child or location, key, f'unknown key "{key}"', allowed)
    moved = {**high, **{key: entry for key, entry in lower.items() if key not in deep}}
    position = (child or location).node.position
    table = Table(entries=moved, position=position)
    entries = {
        **deep,
        **{key: entry for key, entry in upper.items() if key not in high},
        below: replace(upper.get(below, Entry(node=table, position=position)), node=table),
    }
    return Location(Table(entries=entries, position=location.node.position), location.path)


def _entries(location: Location | None) -> Mapping[str, Entry] | None:
    return location.node.entries if location and isinstance(location.node, Table) else None
