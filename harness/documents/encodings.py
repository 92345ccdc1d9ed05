"""Bytes to text: UTF-8, with or without a byte order mark; anything else is one clear fault."""

from harness.types.errors import Fault

BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_ALLOWED = "save the file as UTF-8"


def decode_utf8(data: bytes, file: str) -> str | Fault:
    """Return the text without its byte order mark, or the fault that says why it cannot be read."""
    if other := find_other_encoding(data, file):
        return other
    body = data.removeprefix(BOM)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n") + 1
        return bad_byte(file, line, before[before.rfind(b"\n") + 1 :], body[error.start])


def find_other_encoding(start: bytes, file: str) -> Fault | None:
    """Return the fault of a file whose first bytes are those of UTF-16 or UTF-32."""
    if start.startswith(_UTF16) or b"\0" in start[:4]:
        return Fault(file=file, problem="the file is UTF-16 or UTF-32", allowed=_ALLOWED)
    return None


def bad_byte(file: str, line: int, before: bytes, byte: int) -> Fault:
    """Return the fault of a byte that is not UTF-8; `before` is what the line holds before it."""
    return Fault(
        file=file,
        line=line,
        column=len(before.decode(errors="replace")) + 1,
        problem=f"the byte 0x{byte:02X} is not UTF-8",
        allowed=_ALLOWED,
    )
