"""The key of an endpoint: names of environment variables in, the key out."""

import ipaddress
import os
from collections.abc import Sequence
from urllib.parse import urlsplit

from harness.types.errors import TargetError


def find_key(names: Sequence[str], *, url: str | None, option: str) -> str | None:
    """Return the key that the first variable of `names` to be set holds.

    None where none is set and `url` is on loopback, whose endpoints need no key. `url` is None
    for the provider's own address; `option` is what the suite calls the names.

    Raises:
        TargetError: `unauthorized`, where there is no key, or none that a header can hold.
    """
    name, key = _first_set(names)
    if key and key.isascii() and key.isprintable():
        return key
    if key:
        raise TargetError(
            f"the environment variable {name} holds characters that are invalid in a key",
            code="unauthorized",
            hint=f"set {name} again",
        )
    if url is not None and is_loopback(url):
        return None
    raise TargetError(
        f"there is no key: the environment variable {' or '.join(names)} is not set",
        code="unauthorized",
        hint=f"set {names[0]}, or name another variable as {option}",
    )


def _first_set(names: Sequence[str]) -> tuple[str, str]:
    values = ((name, os.environ.get(name, "").strip()) for name in names)
    return next(((name, value) for name, value in values if value), ("", ""))


def is_loopback(url: str) -> bool:
    """Return whether an address is this machine's own."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
