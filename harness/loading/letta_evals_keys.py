"""Keys of letta-evals put under the native ones; faults still show where the user wrote them."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from harness.documents.nodes import NOWHERE, Entry, Location, Node, Position, Scalar, Table, is_null
from harness.loading.load_context import LoadContext
from harness.system.suggestions import find_close


@dataclass(slots=True)
class NativeKeys:
    """A mapping while its keys are put where native suites have them."""

    at: Location
    context: LoadContext

    def given(self, *keys: str) -> Location | None:
        """Return the value below some keys; None where there is none, or where it is null."""
        at: Location | None = self.at
        for key in keys:
            at = at.child(key) if at else None
        return None if at is None or is_null(at.node) else at

    def take(self, *keys: str) -> Location | None:
        """Remove a key; return its value, None where there was none or where it was null."""
        found = self.given(*keys)
        self.at = Location(_without(self.at.node, keys), self.at.path)
        return found

    def move(self, source: tuple[str, ...], *goal: str) -> None:
        """Put a value under another key; a value that is there already is a fault."""
        if (found := self.take(*source)) is not None:
            self.put(found, found.node, *goal)

    def put(self, written: Location, node: Node, *goal: str) -> None:
        """Put a value under a key, as written elsewhere; one that is there already is a fault."""
        if self.given(*goal) is not None:
            names = f"`{written.path}` and `{'.'.join(goal)}`"
            self.context.findings.fault(
                written, f"{names} are both given", "one of the two: they mean the same"
            )
            return
        self._set(Entry(node=node, position=node.position, path=written.path), goal)

    def default(self, value: str | float | None, *goal: str) -> None:
        """Put a value under a key, unless there is one."""
        at: Location | None = self.at
        for key in goal:
            at = at.child(key) if at else None
        if at is None or (is_null(at.node) and value is not None):
            self._set(Entry(node=Scalar(value=value)), goal)

    def _set(self, entry: Entry, goal: tuple[str, ...]) -> None:
        self.at = Location(with_entry(self.at.node, goal, entry), self.at.path)


def correct_misspelt(
    location: Location, context: LoadContext, native: Collection[str], foreign: Collection[str]
) -> Location:
    """Return a mapping with the keys that are nearly foreign ones written right; each is a fault.

    Keys that are nearly native ones are left to the check of the mapping.
    """
    if not isinstance(location.node, Table):
        return location
    entries: dict[str, Entry] = {}
    for key, entry in location.node.entries.items():
        known = key in native or key in foreign
        close = None if known else find_close(key, [*native, *foreign])
        if close is None or close not in foreign or location.child(close):
            entries[key] = entry
            continue
        context.findings.key_fault(
            location, key, f'unknown key "{key}"', f'did you mean "{close}"?'
        )
        entries[close] = replace(entry, path=location.path_of(key))
    return Location(replace(location.node, entries=entries), location.path)


def with_entry(node: Node, keys: tuple[str, ...], entry: Entry) -> Node:
    """Return a mapping with an entry below some keys; what is no mapping stays as it is."""
    if not isinstance(node, Table):
        return node
    key, *rest = keys
    if rest:
        old = node.entries.get(key) or Entry(node=Table(position=node.position))
        inner = Table(position=old.position) if is_null(old.node) else old.node
        entry = Entry(
            node=with_entry(inner, tuple(rest), entry), position=old.position, path=old.path
        )
    return Table(entries={**node.entries, key: entry}, position=node.position)


def scalar(value: str | float | None, position: Position = NOWHERE) -> Scalar:
    """Return a value that stands for what was written at a position."""
    return Scalar(value=value, position=position)


def _without(node: Node, keys: tuple[str, ...]) -> Node:
    if not isinstance(node, Table) or keys[0] not in node.entries:
        return node
    key, *rest = keys
    entries = dict(node.entries)
    entry = entries.pop(key)
    if rest:
        inner = _without(entry.node, tuple(rest))
        # The order of keys is that in which they were written.
        entries = {
            k: Entry(node=inner, position=e.position, path=e.path) if k == key else e
            for k, e in node.entries.items()
        }
    return Table(entries=entries, position=node.position)
