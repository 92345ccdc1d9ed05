"""Samples written in the suite itself, under `samples`."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.documents.findings import BadReference
from harness.documents.nodes import Listing, Location, Scalar, Table, describe, is_null, text_of
from harness.documents.shapes import free_value
from harness.loading.custom_functions import FunctionNeeds
from harness.loading.grader_entries import bind_row_graders
from harness.loading.load_context import LoadContext
from harness.loading.row_parts import agent_problems
from harness.loading.rubric_files import read_rubric
from harness.loading.sample_rows import IDS, INPUTS, TRUTHS, ReadRow, misspelt, read_row
from harness.system.json_values import scrub_json
from harness.types.grades import Role
from harness.types.samples import Sample
from harness.types.suites import TargetSpec

_TEXTS = frozenset({*IDS, *INPUTS, *TRUTHS, "tags", "rubric", "rubric_path"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineSamples:
    """The samples of a suite, None where it has none; `needs` are those of their own graders."""

    samples: tuple[Sample, ...] | None = None
    needs: tuple[FunctionNeeds, ...] = ()


def read_inline_samples(
    suite: Location,
    context: LoadContext,
    target: TargetSpec | None,
    *,
    role: Role,
    taken: Collection[str],
) -> InlineSamples:
    """Read `samples` of a suite, which its target has to be able to take.

    `role` is that of a row's own graders which name none, `taken` are the names of the suite's.
    """
    location = suite.child("samples")
    if location is None:
        return InlineSamples()
    if not isinstance(location.node, Listing):
        context.findings.fault(location, f"found {describe(location.node)}", "a list of samples")
        return InlineSamples(samples=())
    if not location.node.items:
        context.findings.fault(location, "there are no samples", "at least one")
    samples: list[Sample] = []
    needs: list[FunctionNeeds] = []
    seen: dict[str, tuple[Location, bool]] = {}
    for index, at in enumerate(location.items()):
        read = _read(at, index, context)
        if read is None or read.sample is None:
            continue
        _check_id(read, at, seen, context)
        seen.setdefault(read.sample.id, (at, read.id_is_text))
        for column, problem, allowed in agent_problems(read.sample, target):
            context.findings.fault(at.child(column) or at, problem, allowed)
        own = bind_row_graders(at.child("graders"), context, role=role, taken=taken)
        needs.extend(own.needs)
        rubric = _rubric(read, at, context)
        samples.append(msgspec.structs.replace(read.sample, graders=own.specs, rubric=rubric))
    return InlineSamples(samples=tuple(samples), needs=tuple(needs))


def _read(at: Location, index: int, context: LoadContext) -> ReadRow | None:
    if not isinstance(at.node, Table):
        context.findings.fault(at, f"found {describe(at.node)}", "a mapping with an `input`")
        return None
    columns = {key: scrub_json(_column(key, child)) for key, child in at.children()}
    read = read_row(columns, index)
    ids = (at.child(name) for name in IDS)
    given = next((child.node for child in ids if child and not is_null(child.node)), None)
    quoted = not (isinstance(given, Scalar) and not isinstance(given.value, str))
    for column, problem, allowed in read.problems:
        child = at.child(column.partition("[")[0]) or at
        context.findings.fault(Location(child.node, at.path_of(column)), problem, allowed)
    for name, close in misspelt(columns):
        problem = f'"{name}" goes to the metadata'
        context.findings.warn_key(at, name, problem, f'did you mean "{close}"?')
    return msgspec.structs.replace(read, id_is_text=quoted)


def _rubric(read: ReadRow, at: Location, context: LoadContext) -> str | None:
    if read.rubric_path is None:
        return read.sample.rubric if read.sample else None
    try:
        return read_rubric(read.rubric_path, [context.folder.path])
    except BadReference as problem:
        context.findings.reference(at.child("rubric_path") or at, problem)
        return None


def _column(key: str, child: Location) -> Any:
    if key not in _TEXTS:
        return free_value(child.node)
    if isinstance(child.node, Listing):
        return [_text(item) for item in child.node.items]
    return _text(child.node)


def _text(node: Any) -> Any:
    text = text_of(node)
    return free_value(node) if text is None else text


def _check_id(
    read: ReadRow, at: Location, seen: dict[str, tuple[Location, bool]], context: LoadContext
) -> None:
    if read.sample is None or read.sample.id not in seen:
        return
    first, was_text = seen[read.sample.id]
    line = first.node.position.line
    shown = f"; the other is on line {line}" if line else f"; the other is {first.path}"
    where = next((child for name in IDS if (child := at.child(name))), at)
    if was_text == read.id_is_text:
        context.findings.fault(
            where, f'duplicate id: the id "{read.sample.id}"{shown}', "unique ids"
        )
    else:
        problem = f'the id "{read.sample.id}" is a text and a number{shown}'
        context.findings.fault(where, problem, "ids that differ in more than their type")
