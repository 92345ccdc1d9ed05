"""The end of the process."""

import os
import sys
import threading
from contextlib import suppress


def leave(code: int) -> None:
    """End the process with an exit code, also where a user's thread would keep it alive."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    mine = threading.current_thread()
    if any(t for t in threading.enumerate() if t is not mine and not t.daemon):
        os._exit(code)
    sys.exit(code)
