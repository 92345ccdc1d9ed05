"""Hashes of values, as they stand in keys and manifests: `sha256:` and 64 hex digits."""

import hashlib
from typing import Any

import msgspec


def sha256_of(*values: Any) -> str:
    """Hash values by their JSON; the order of keys in a mapping does not matter."""
    text = msgspec.json.encode(values, order="sorted")
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
