"""What could not be kept of a source as it stands: counted while it is read, told as warnings."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.system.json_reading import JsonLosses

DUPLICATE_KEYS = "duplicate keys, of which the last counts"
LONE_SURROGATES = "texts with lone surrogates, which became U+FFFD"
BAD_BYTES = "bytes that are not UTF-8, which became U+FFFD"


@dataclass(slots=True)
class SourceLosses:
    """Counts what was lost, by kind, and keeps where it was first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, place: str, kind: str, count: int = 1) -> None:
        """Count something of a kind."""
        if count:
            self.counts[kind] += count
            self.first.setdefault(kind, place)

    def add_json(self, place: str, losses: JsonLosses) -> None:
        """Count what was lost of a JSON value."""
        if losses.duplicates:
            self.add(f'"{losses.duplicates[0]}" in {place}', DUPLICATE_KEYS, len(losses.duplicates))
        self.add(place, LONE_SURROGATES, losses.surrogates)

    def decode(self, place: str, data: bytes) -> str:
        """Return bytes as text; those that are no UTF-8 become U+FFFD, and are counted."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
            was_there = data.count("\ufffd".encode())
            self.add(place, BAD_BYTES, text.count("\ufffd") - was_there)
            return text

    def warnings(self) -> Iterator[str]:
        """Return a line for each kind."""
        for kind, count in self.counts.items():
            yield f"{kind}: {count}x, first {self.first[kind]}"
