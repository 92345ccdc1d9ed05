"""Server-sent events: bytes come in as they arrive, the data of each event goes out as text.

The format is that of the HTML standard, section 9.2. Lines end with CR, LF or both, and with
nothing else: the Unicode line separators are ordinary characters of the data.
"""

from collections.abc import Iterator


class EventData:
    """Decodes one event stream; `name` is that of the event that was yielded last, or empty."""

    def __init__(self) -> None:
        self.name = ""
        self._named = ""
        self._line: list[bytes] = []
        self._data: list[str] = []

    def feed(self, data: bytes) -> Iterator[str]:
        """Decode the next bytes; yield the data of every event that they complete."""
        ends = self._ends_with_cr() or b"\n" in data or b"\r" in data
        self._line.append(data)
        if not ends:
            # The pieces of a line are joined once, however many they are.
            return
        lines = b"".join(self._line).splitlines(keepends=True)
        # A CR at the end may be the first half of a CR LF.
        whole = bool(lines) and lines[-1].endswith(b"\n")
        self._line = [] if whole or not lines else [lines.pop()]
        for line in lines:
            yield from self._decode_line(line.rstrip(b"\r\n"))

    def _ends_with_cr(self) -> bool:
        return bool(self._line) and self._line[-1].endswith(b"\r")

    def end(self) -> Iterator[str]:
        """Yield the data of a last event whose blank line never came."""
        yield from self._decode_line(b"".join(self._line).rstrip(b"\r\n"))
        yield from self._decode_line(b"")

    def _decode_line(self, line: bytes) -> Iterator[str]:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" ").decode(errors="replace"))
        elif line.startswith(b"event:"):
            self._named = line[6:].removeprefix(b" ").decode(errors="replace")
        elif not line:
            self.name, self._named = self._named, ""
            if self._data:
                text = "\n".join(self._data)
                self._data.clear()
                yield text
