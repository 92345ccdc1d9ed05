"""The slices that a sample is in, by its tags and metadata."""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.documents.findings import in_order
from harness.loading.datasets import Dataset
from harness.system.slice_texts import slice_text
from harness.system.suggestions import suggest
from harness.types.errors import Fault
from harness.types.samples import Sample
from harness.types.suites import Gate, GateGroup, Suite
from harness.types.trials import Slices

TAGS = "tags"
_MOST_KNOWN = 10_000


def slices_of(sample: Sample, names: Iterable[str]) -> Slices:
    """Return the values of a sample by name: its tags, or those of a key of its metadata.

    A list has several values; null, an empty text and a key that is not there have none.
    """
    return {name: tuple(dict.fromkeys(map(slice_text, _values(sample, name)))) for name in names}


def _values(sample: Sample, name: str) -> Iterator[Any]:
    found = sample.tags if name == TAGS else sample.metadata.get(name)
    for value in found if isinstance(found, list | tuple) else (found,):
        if value is not None and value != "":
            yield value


def find_slice_faults(suite: Suite, dataset: Dataset) -> tuple[Fault, ...]:
    """Return what the suite slices by, or a gate is about, and no sample of the dataset has."""
    if not suite.slices:
        return ()
    known: dict[str, set[str]] = {name: set() for name in suite.slices}
    keys = {TAGS}
    for sample in dataset.samples():
        for name, values in slices_of(sample, suite.slices).items():
            if len(known[name]) < _MOST_KNOWN:
                known[name].update(values)
        if len(keys) < _MOST_KNOWN:
            keys.update(sample.metadata)
    file = suite.source.as_posix() if suite.source else suite.name
    absent = [name for name, values in known.items() if not values]
    faults = [
        Fault(
            file=file,
            path="slices",
            problem=f'no sample has "{name}"',
            allowed=suggest(name, keys - {name}),
        )
        for name in absent
    ]
    for path, name, value in _asked(suite.gates):
        if name not in absent and name in known and value not in known[name]:
            problem = f'no sample has "{value}"'
            faults.append(
                Fault(file=file, path=path, problem=problem, allowed=suggest(value, known[name]))
            )
    return in_order(file, faults)


def _asked(gates: Iterable[Gate], path: str = "gates") -> Iterator[tuple[str, str, str]]:
    """Return (path, name, value) of every slice that a gate is about."""
    for index, gate in enumerate(gates):
        at = f"{path}[{index}]"
        if isinstance(gate, GateGroup):
            yield from _asked(gate.gates, f"{at}.{gate.needs}")
            continue
        for name, value in gate.slice.items():
            yield f"{at}.slice.{name}", name, slice_text(value)
