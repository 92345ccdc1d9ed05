"""What else differs between two runs that are compared: the target, versions, the commit."""

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from itertools import islice

from harness.storing.manifests import Manifest
from harness.types.comparisons import SUITE_LINE, Change

_SHOWN_LINES = 12
_LONGEST = 200


def differences(
    baseline: Manifest, candidate: Manifest, models: tuple[str, str]
) -> tuple[Change, ...]:
    """Return what differs between two runs, what the agent is made of first."""
    return tuple(_differences(baseline, candidate, models))


def served_change(baseline: Iterable[str], candidate: Iterable[str]) -> tuple[Change, ...]:
    """Return the change of the models that really answered, if there is one and both are known."""
    before, after = ", ".join(sorted(baseline)), ", ".join(sorted(candidate))
    if before == after or not before or not after:
        return ()
    return (Change(what="model that was really served", before=before, after=after),)


def _differences(before: Manifest, after: Manifest, models: tuple[str, str]) -> Iterator[Change]:
    if models[0] != models[1]:
        yield Change(what="model", before=models[0], after=models[1])
    if before.drive_key != after.drive_key:
        yield Change(what="target (its options or its code)")
    if before.suite != after.suite:
        yield Change(what="name of the suite", before=before.suite, after=after.suite)
    yield from _lines(before.suite_text, after.suite_text)
    yield from _graders(before.grader_keys, after.grader_keys)
    if before.dataset_sha256 != after.dataset_sha256:
        yield Change(what="dataset")
    for what, name in (("epochs", "epochs"), ("commit", "git_commit"), ("host", "host"),
                       ("Python", "python"), ("platform", "platform")):  # fmt: skip
        yield from _values(what, getattr(before, name), getattr(after, name))
    for name in sorted({*before.versions, *after.versions}):
        yield from _values(
            f"version of {name}", before.versions.get(name), after.versions.get(name)
        )


def _values(what: str, before: object, after: object) -> Iterator[Change]:
    if before != after:
        shown = [None if one is None else str(one) for one in (before, after)]
        yield Change(what=what, before=shown[0], after=shown[1])


def _graders(before: dict[str, str], after: dict[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) == after.get(name):
            continue
        new, gone = name not in before, name not in after
        word = "new grader" if new else "grader no more there" if gone else "grader"
        yield Change(what=f"{word} {name}")


def _lines(before: str, after: str) -> Iterator[Change]:
    """Return the lines of the suite's text that differ, as many as are worth reading.

    Those that look like comments come last: what they say may stand in a prompt all the same.
    """
    one, other = ([line for line in text.splitlines() if line.strip()] for text in (before, after))
    found = unified_diff(one, other, n=0, lineterm="")
    lines = [line for line in islice(found, 2, None) if not line.startswith("@@")]
    changed = sorted(lines, key=_looks_like_a_comment)
    for line in changed[:_SHOWN_LINES]:
        text = line[1:].strip()[:_LONGEST]
        if line.startswith("-"):
            yield Change(what=SUITE_LINE, before=text)
        else:
            yield Change(what=SUITE_LINE, after=text)
    if len(changed) > _SHOWN_LINES:
        yield Change(what=f"{len(changed) - _SHOWN_LINES} further lines of the suite")


def _looks_like_a_comment(line: str) -> bool:
    return line[1:].lstrip().startswith("#")
