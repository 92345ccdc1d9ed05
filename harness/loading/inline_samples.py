"""Samples written in the suite itself, under `samples`."""

from typing import Any

import msgspec

from harness.loading.grader_entries import Entries, bind_row_graders
from harness.loading.nodes import Listing, Scalar, Spot, Table, describe, is_null, text_of
from harness.loading.sample_rows import IDS, INPUTS, TRUTHS, ReadRow, misspelt, read_row
from harness.loading.shapes import free_value
from harness.loading.workbench import Workbench
from harness.system.json_values import scrub_json
from harness.types.grades import Role
from harness.types.samples import Sample

_TEXTS = frozenset({*IDS, *INPUTS, *TRUTHS, "tags"})


def read_inline_samples(
    suite: Spot, bench: Workbench, *, role: Role, entries: Entries
) -> tuple[Sample, ...] | None:
    """Read `samples` of a suite; None where it has none.

    `role` is that of a row's own graders which name none, `entries` those of the suite.
    """
    spot = suite.child("samples")
    if spot is None or is_null(spot.node):
        return None
    if not isinstance(spot.node, Listing):
        bench.findings.fault(spot, f"found {describe(spot.node)}", "a list of samples")
        return ()
    if not spot.node.items:
        bench.findings.fault(spot, "there are no samples", "at least one")
    samples: list[Sample] = []
    seen: dict[str, tuple[Spot, bool]] = {}
    for index, at in enumerate(spot.items()):
        read = _read(at, index, bench)
        if read is None or read.sample is None:
            continue
        _check_id(read, at, seen, bench)
        seen.setdefault(read.sample.id, (at, read.id_is_text))
        own = bind_row_graders(at.child("graders"), bench, role=role, taken=entries.names)
        entries.asked.extend(own.asked)
        samples.append(msgspec.structs.replace(read.sample, graders=tuple(own.specs)))
    return tuple(samples)


def _read(at: Spot, index: int, bench: Workbench) -> ReadRow | None:
    if not isinstance(at.node, Table):
        bench.findings.fault(at, f"found {describe(at.node)}", "a mapping with an `input`")
        return None
    columns = {key: scrub_json(_column(key, child)) for key, child in at.children()}
    read = read_row(columns, index)
    ids = (at.child(name) for name in IDS)
    given = next((child.node for child in ids if child and not is_null(child.node)), None)
    quoted = not (isinstance(given, Scalar) and not isinstance(given.value, str))
    for column, problem, allowed in read.problems:
        child = at.child(column.partition("[")[0]) or at
        bench.findings.fault_at(child.node.place, at.path_of(column), problem, allowed)
    for name, close in misspelt(columns):
        problem = f'"{name}" goes to the metadata'
        bench.findings.warnings.append(
            bench.findings.make(
                at.path_of(name), at.key_place(name), problem, f'did you mean "{close}"?'
            )
        )
    return ReadRow(sample=read.sample, id_is_text=quoted, problems=read.problems)


def _column(key: str, child: Spot) -> Any:
    if key not in _TEXTS:
        return free_value(child.node)
    if isinstance(child.node, Listing):
        return [_text(item) for item in child.node.items]
    return _text(child.node)


def _text(node: Any) -> Any:
    text = text_of(node)
    return free_value(node) if text is None else text


def _check_id(
    read: ReadRow, at: Spot, seen: dict[str, tuple[Spot, bool]], bench: Workbench
) -> None:
    if read.sample is None or read.sample.id not in seen:
        return
    first, was_text = seen[read.sample.id]
    line = first.node.place.line
    shown = f"; the other is on line {line}" if line else f"; the other is {first.path}"
    where = next((child for name in IDS if (child := at.child(name))), at)
    if was_text == read.id_is_text:
        bench.findings.fault(where, f'duplicate id: the id "{read.sample.id}"{shown}', "unique ids")
    else:
        problem = f'the id "{read.sample.id}" is a text and a number{shown}'
        bench.findings.fault(where, problem, "ids that differ in more than their type")
