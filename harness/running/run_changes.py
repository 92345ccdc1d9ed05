"""What has changed between two manifests of one run, in one line each."""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.storing.manifests import Manifest


def changes_between(before: Manifest, after: Manifest) -> tuple[str, ...]:
    """Return what has changed since a run was made, and what that means for its trials."""
    return (*changes_of_suite(before, after), *_changes_of_place(before, after))


def changes_of_suite(before: Manifest, after: Manifest) -> tuple[str, ...]:
    """Return what has changed of what is run: the numbers may be others."""
    return tuple(_changes(before, after))


def _changes(before: Manifest, after: Manifest) -> Iterator[str]:
    if before.drive_key != after.drive_key:
        yield "the target has changed, its options or its code: its trials are driven again"
    if before.dataset_sha256 != after.dataset_sha256:
        yield "the dataset has changed: samples whose prompts are new are driven"
    yield from _graders(before.grader_keys, after.grader_keys)
    if before.suite_sha256 != after.suite_sha256:
        yield "the text of the suite has changed"
    yield from _others(before, after, ("models", "epochs", "selection"))


def _changes_of_place(before: Manifest, after: Manifest) -> Iterator[str]:
    """Return what has changed of where it is run."""
    yield from _others(before, after, ("python", "platform"))
    for name in sorted({*before.versions, *after.versions}):
        yield from _version(name, before.versions.get(name), after.versions.get(name))


def _others(before: Manifest, after: Manifest, fields: tuple[str, ...]) -> Iterator[str]:
    for what in fields:
        old, new = _shown(getattr(before, what)), _shown(getattr(after, what))
        if old != new:
            yield f"other {what}: {old} before, {new} now"


def _version(name: str, before: str | None, after: str | None) -> Iterator[str]:
    if before != after:
        yield f"other version of {name}: {before or 'none'} before, {after or 'none'} now"


def _graders(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    changed = [name for name, key in after.items() if before.get(name, key) != key]
    new = [name for name in after if name not in before]
    gone = [name for name in before if name not in after]
    named = {"changed": changed, "new": new, "no more there": gone}
    for what, names in named.items():
        if names:
            yield f"graders {what}: {', '.join(names)}; stored trials are graded again, not driven"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(one)}" for key, one in value.items() if one) or "all"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
