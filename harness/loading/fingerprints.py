"""Fingerprints of graders, extractors and targets: what they do, hashed; not their names."""

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

from harness.system.hashing import sha256_of
from harness.types.code import (
    CodeFile,
    CodeRef,
    CustomExtractor,
    CustomGrader,
    SuitePath,
    SuiteText,
)


def fingerprint(kind: str, *parts: Any) -> str:
    """Hash a kind with its options; files count by their content, values are never shown."""
    return sha256_of(kind, [plain(part) for part in parts])


def plain(value: Any) -> Any:  # noqa: C901, PLR0911  (one line a type)
    """Return options as JSON that tells two different ones apart."""
    if isinstance(value, SuitePath):
        return {"file": _content(value)}
    if isinstance(value, SuiteText):
        return str(value)
    if isinstance(value, CodeFile):
        return {"code": value.sha256}
    if isinstance(value, CodeRef):
        return {"code": value.file.sha256, "name": value.name}
    if isinstance(value, CustomGrader | CustomExtractor):
        # The code itself is hashed through its reference, which is hashed beside it.
        return {"name": value.name, "config": plain(value.config)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _keyed(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def _keyed(value: Any) -> list[str]:
    """Return the options that change what is done; limits and the like say `keyed: False`."""
    fields = (field for field in dataclasses.fields(value) if field.init)
    return [field.name for field in fields if field.metadata.get("keyed", True)]


def _content(value: SuitePath) -> str:
    if value.path.is_file():
        return hashlib.sha256(value.path.read_bytes()).hexdigest()
    return value.text
