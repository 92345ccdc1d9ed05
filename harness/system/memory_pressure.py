"""Who goes first where memory runs out."""

from contextlib import suppress
from pathlib import Path

_OOM_SCORE = Path("/proc/self/oom_score_adj")
_FIRST = "1000"


def go_first_without_memory() -> None:
    """Let the system end this process before others where memory runs out; only Linux can."""
    with suppress(OSError):
        _OOM_SCORE.write_text(_FIRST, encoding="ascii")
