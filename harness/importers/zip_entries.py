"""An entry of a ZIP archive, unpacked within bounds: also one that Zstandard packed.

Python reads those by itself from 3.14; before, the package `zstandard` does, which an extra brings.
"""

import zlib
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

_ZSTANDARD = 93  # the number of the method, in the ZIP specification from 6.3.7
_HEADER = 30  # bytes of an entry's own header, before its name
_ENCRYPTED = 1
_PIECE = 2**20  # bytes that are unpacked at once


def read_entry(archive: ZipFile, info: ZipInfo, most: int) -> bytes:
    """Return the content of an entry; more than `most` bytes are a fault.

    An entry that says so itself is not unpacked at all; one that lies, no further than that.

    Raises:
        ValueError: it is larger, or cannot be unpacked here.
        BadZipFile, zlib.error, EOFError, OSError, RuntimeError: it is damaged.
    """
    if info.file_size > most:
        raise _too_large(most)
    try:
        with archive.open(info) as file:
            data = file.read(most + 1)
    except NotImplementedError:
        # Pythons before 3.14 cannot unpack Zstandard themselves, in which Inspect writes.
        if info.compress_type != _ZSTANDARD or info.flag_bits & _ENCRYPTED:
            raise
        data = unpack_zstandard(_packed(archive, info), most)
        if len(data) <= most and zlib.crc32(data) != info.CRC:
            raise BadZipFile(f"Bad CRC-32 for file {info.filename!r}") from None
    if len(data) > most:
        raise _too_large(most)
    return data


def _too_large(most: int) -> ValueError:
    return ValueError(f"the entry is larger than {most:,} bytes")


def _packed(archive: ZipFile, info: ZipInfo) -> bytes:
    """Return the bytes of an entry as they stand in the archive."""
    with Path(archive.filename or "").open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(_HEADER)
        if len(header) < _HEADER or not header.startswith(b"PK\x03\x04"):
            raise BadZipFile("Bad magic number for file header")
        lengths = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        file.seek(sum(lengths), 1)
        return file.read(info.compress_size)


def unpack_zstandard(data: bytes, most: int) -> bytes:
    """Unpack frames of Zstandard; of what is larger, a little more than `most` bytes.

    Raises:
        ValueError: the package that does it is not installed.
        BadZipFile: they are damaged.
    """
    try:
        # Only those who have such files need the package.
        from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415
    except ImportError as error:
        reason = "its entries are packed by Zstandard: pip install 'regrade[inspect]'"
        raise ValueError(reason) from error
    made = bytearray()
    try:
        with ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            while len(made) <= most and (piece := reader.read(_PIECE)):
                made += piece
    except (ZstdError, MemoryError) as error:
        raise BadZipFile(str(error)) from error
    return bytes(made)
