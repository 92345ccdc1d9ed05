"""Every fault of a suite, its dataset, Python files and patterns, in one go."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from harness.documents.findings import in_order
from harness.loading.datasets import Dataset, open_dataset, shown_name
from harness.loading.fault_lists import MOST_FAULTS
from harness.loading.linting import lint_sample, lints_samples
from harness.loading.sample_slices import find_slice_faults
from harness.loading.suite_files import draft_of_file
from harness.loading.vally_parameters import Parameters
from harness.types.errors import DatasetError, Fault
from harness.types.samples import Sample
from harness.types.suites import Suite


def find_faults(path: str | Path) -> tuple[Fault, ...]:
    """Return every fault of a suite in the order of its text, then those of its other files.

    What `load_suite` only warns of, such as an invalid pattern, is a fault here, and so is a key
    that only a run needs. What is broken in one part hides nothing of the others.
    """
    return inspect_suite(path)[1]


def inspect_suite(
    path: str | Path, parameters: Parameters | None = None
) -> tuple[Suite | None, tuple[Fault, ...]]:
    """Return a suite as far as it could be read, with every fault as `find_faults` gives them.

    Its notes are those of its dataset too. `parameters` fill an eval spec of Vally.
    """
    draft = draft_of_file(path, parameters)
    suite = draft.suite
    if suite is None:
        return None, draft.faults
    faults, notes = _inspect_dataset(suite)
    found = (*draft.faults, *suite.warnings, *draft.absences, *faults)
    return replace(suite, notes=(*suite.notes, *notes)), in_order(Path(path).as_posix(), found)


def _inspect_dataset(suite: Suite) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """Return the faults of a dataset, and its notes."""
    if suite.dataset is None and not suite.samples:
        return (), ()
    try:
        dataset = open_dataset(suite)
    except DatasetError as error:
        # What is wrong with samples in the suite itself was found while it was read.
        known = "samples" if suite.dataset is None else None
        return tuple(fault for fault in error.faults if fault.path != known), ()
    found = islice(find_sample_faults(suite, dataset), MOST_FAULTS)
    # A suite may select samples; what it slices by and gates on is about these.
    return (*dataset.warnings, *found, *find_slice_faults(suite, dataset)), dataset.notes


def find_sample_faults(suite: Suite, dataset: Dataset) -> Iterator[Fault]:
    """Return what the graders find wrong with the samples beforehand, each with its line."""
    for line, sample in dataset.stream():
        yield from sample_faults(suite, sample, line=line)


def sample_faults(suite: Suite, sample: Sample, *, line: int = 0) -> Iterator[Fault]:
    """Return what the graders find wrong with one sample; `line` is its line, 0 if not known."""
    specs = (*suite.graders, *sample.graders)
    if not lints_samples(specs):
        return
    for field, problem in lint_sample(specs, sample):
        place = field if line and suite.dataset else f"samples.{sample.id}.{field}"
        yield Fault(file=shown_name(suite), line=line, path=place, problem=problem)
