"""Records of other tools as trials to be graded: surveyed as a whole, then given as a stream.

The first pass finds every fault before anything is stored, and counts; the second gives the
trials. Neither holds more than some bytes a record.
"""

from collections import Counter
from collections.abc import Iterator

from harness.importers.source_files import open_source
from harness.importers.source_hashes import source_sha256
from harness.loading.datasets import Dataset, open_dataset
from harness.running.foreign_trials import foreign_trial, with_sample
from harness.running.record_reading import Placed, RecordReading, Records
from harness.running.record_surveys import Survey
from harness.running.recorded_trials import Recorded, has_samples, samples_of_records
from harness.running.sample_matching import SampleIndex, sample_of_record
from harness.storing.manifests import ForeignOrigin
from harness.types.errors import DatasetError, Fault, InputError
from harness.types.samples import Sample
from harness.types.suites import Suite
from harness.types.trials import Trial


def recorded_elsewhere(suite: Suite | None, records: Records) -> Recorded:
    """Survey records of another tool, and return their conversations as trials without grades.

    Without a suite, or with one that has no samples, the samples come from the records.

    Raises:
        InputError: with a fault for each record that cannot be used, or that belongs to no sample
            of the suite; because the source is damaged, or holds no conversation.
    """
    source = open_source(records.path)
    dataset = open_dataset(suite) if suite and has_samples(suite) else None
    reading = RecordReading(
        records, SampleIndex(dataset.samples()) if dataset else None, source=source
    )
    sha256 = source_sha256(source)
    survey = Survey(records)
    for placed in reading.placed():
        survey.add(placed)
    survey.finish(reading)
    origin = ForeignOrigin(
        source=source.shown,
        format=", ".join(survey.formats),
        sha256=sha256,
        records=survey.records,
    )
    return Recorded(
        trials=(),
        planned=survey.taken,
        models=tuple(survey.models),
        epochs=reading.most_repeats,
        source=origin,
        dataset=dataset or samples_of_records(survey.samples, sha256),
        pairs=lambda: _pairs(reading, dataset, survey.uses),
        warnings=survey.warnings(),
    )


def _pairs(
    reading: RecordReading, dataset: Dataset | None, uses: Counter[int]
) -> Iterator[tuple[Sample, Trial]]:
    try:
        placed = (one for one in reading.placed() if not one.problem)
        if dataset is None:
            for one in placed:
                sample = sample_of_record(one.record)
                trial = foreign_trial(one.record, sample, model=one.model, epoch=one.epoch)
                yield sample, with_sample(trial, sample)
        else:
            yield from _joined(placed, dataset, Counter(uses))
    except DatasetError:
        raise
    except InputError as error:
        # It was read well a moment ago; the run that has begun ends in order.
        raise DatasetError(error.faults) from error


def _joined(
    placed: Iterator[Placed], dataset: Dataset, uses: Counter[int]
) -> Iterator[tuple[Sample, Trial]]:
    """Read the dataset alongside the records, holding only the samples that are still needed."""
    samples = enumerate(dataset.samples())
    held: dict[int, Sample] = {}
    for one in placed:
        row = -1 if one.row is None else one.row
        while row not in held and (found := next(samples, None)) is not None:
            number, sample = found
            if uses[number]:
                held[number] = sample
        if row not in held:
            problem = "the records have changed since they were looked at"
            raise DatasetError([Fault(file=one.record.place, problem=problem)])
        sample = held[row]
        uses[row] -= 1
        if not uses[row]:
            del held[row]
        yield sample, foreign_trial(one.record, sample, model=one.model, epoch=one.epoch)
