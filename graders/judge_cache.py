"""Answers of judges, kept on disk by what was asked: the same question is paid for once.

An entry is one small file, named by the hash of the question and written whole, so that any
number of runs may share the folder. It holds the reply and never a key. Whatever cannot be read
is a question that was not asked yet.
"""

from pathlib import Path

import msgspec

from harness.system.files import write_whole
from harness.system.json_values import scrub_json


class CachedReply(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's reply as it is kept: its text, and the model that was really served."""

    v: int = 1
    text: str
    served: str | None = None


class ReplyCache:
    """Replies by the hash of their question, `sha256:` and 64 hex digits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> CachedReply | None:
        """Return the reply to a question; None where it was not asked yet."""
        try:
            data = self._path(key).read_bytes()
            reply = msgspec.json.decode(data, type=CachedReply)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None
        return reply if reply.v == 1 else None

    def write(self, key: str, reply: CachedReply) -> None:
        """Keep a reply.

        Raises:
            OSError: the folder cannot be written.
        """
        path = self._path(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fields = scrub_json(msgspec.to_builtins(reply))
        write_whole(path, msgspec.json.encode(fields).decode() + "\n")

    def _path(self, key: str) -> Path:
        name = key.rpartition(":")[2]
        return self._folder / name[:2] / f"{name}.json"
