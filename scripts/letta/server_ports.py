"""Free ports on loopback, and answers from servers there."""

import json
import random
import socket
import urllib.error
import urllib.request
from typing import Any

HOST = "127.0.0.1"
USUAL_PORT = 8283
"""Where clients of Letta look for a server of this machine."""

# Below the range from which systems take ports for outgoing connections: none of those is in the
# way when a server comes back to the port it had.
_LOWEST, _HIGHEST = 20_000, 31_999


def free_port(wanted: int | None = None) -> int:
    """Give the wanted port where nobody else listens there, else a free one drawn by lot."""
    while wanted is None or not _is_free(wanted):
        wanted = random.SystemRandom().randint(_LOWEST, _HIGHEST)
    return wanted


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Connections of a server that has gone linger, and do not matter.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def get_json(url: str, key: str | None = None) -> Any:
    """Give what a loopback server answers; None where it does not answer with JSON."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310  (loopback)
    try:
        with opener.open(request, timeout=10) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None
