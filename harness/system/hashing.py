"""Hashes of values, as they stand in keys and manifests: `sha256:` and 64 hex digits."""

import hashlib
from typing import Any

import msgspec

_encode = msgspec.json.Encoder(order="sorted").encode


def sha256_of(*values: Any) -> str:
    """Hash values by their JSON; the order of keys in a mapping does not matter."""
    return f"sha256:{hashlib.sha256(_encode(values)).hexdigest()}"
