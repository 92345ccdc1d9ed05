"""What is written as a dataset is what is read, and no bytes at all break the reading."""

import csv
import io
import json
import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.strategies import dataset_samples, json_values

from harness.loading.datasets import open_dataset
from harness.loading.suite_files import load_suite
from harness.loading.validation import find_faults
from harness.system.texts import one_line
from harness.types.code import SuitePath
from harness.types.errors import InputError
from harness.types.samples import Sample
from harness.types.suites import Suite

# Bytes that come close to what the readers expect, broken at any place.
pieces = st.sampled_from(
    [
        *(b'{"input": "x"}', b'{"id": 1, "input": ["a"], "ground_truth": ["b"]}', b"input", b"id"),
        *(b"\n", b"\r\n", b",", b'"', b"[", b"]", b"{", b"}", b":", b" ", b"\\", b"\t", b"|"),
        *(b"\xef\xbb\xbf", b"\xff", b"\0", b"\\ud800", b"\xe2\x80\xa8", b"1.10", b"null"),
        *(b"name: s", b"graders:", b"  - ", b"type: contains", b"samples: ", b"&a ", b"*a"),
        *(b"target: {kind: python, agent: a.py:b}", b"${X}"),
    ]
)
almost = st.lists(pieces, max_size=12).map(b"".join) | st.binary(max_size=60)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write a file into a folder of its own; all are removed after the last test."""
    parent, numbers = tmp_path_factory.mktemp("laws"), count()

    def write(name, data):
        path = parent / str(next(numbers)) / name
        path.parent.mkdir()
        path.write_bytes(data)
        return path

    yield write
    shutil.rmtree(parent)


def suite_on(path):
    return Suite(name="s", dataset=SuitePath(text=path.name, path=path))


def as_row(sample):
    names = Sample.__struct_fields__
    return {name: getattr(sample, name) for name in names if name != "graders"}


@given(
    samples=dataset_samples, ascii_only=st.booleans(), end=st.sampled_from(["\n", "\r\n", "\n\n"])
)
def test_samples_written_as_jsonl_are_read_as_they_were(written, samples, ascii_only, end):
    rows = [json.dumps(as_row(sample), ensure_ascii=ascii_only) for sample in samples]
    path = written("d.jsonl", (end.join(rows) + end).encode())
    dataset = open_dataset(suite_on(path))
    assert list(dataset.samples()) == samples
    assert dataset.count == len(samples)


def as_cell(value):
    if isinstance(value, tuple | dict):
        return json.dumps(value) if value else ""
    return "" if value is None else value


@given(samples=dataset_samples, end=st.sampled_from(["\n", "\r\n"]))
def test_samples_written_as_csv_are_read_as_they_were(written, samples, end):
    names = [name for name in Sample.__struct_fields__ if name != "graders"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    plain = [s for s in samples if not any("\0" in as_cell(v) for v in as_row(s).values())]
    for sample in plain:
        writer.writerow([as_cell(value) for value in as_row(sample).values()])
    dataset = suite_on(written("d.csv", text.getvalue().encode()))
    if plain:
        # An empty text has no other form in a cell than nothing at all.
        expected = [as_row(s) | {"ground_truth": s.ground_truth or None} for s in plain]
        assert [as_row(sample) for sample in open_dataset(dataset).samples()] == expected


def refusal(function, *args):
    """Give the faults with which a call refuses its input; none where it takes it."""
    try:
        function(*args)
    except InputError as error:
        return error.faults or ("an error without a fault",)
    return ()


@given(data=almost, name=st.sampled_from(["d.jsonl", "d.csv"]))
def test_any_bytes_are_a_dataset_or_are_refused_with_their_place(written, data, name):
    suite = suite_on(written(name, data))
    faults = refusal(open_dataset, suite)
    assert all(fault.file == name and "\n" not in one_line(str(fault)) for fault in faults)
    if not faults:
        dataset = open_dataset(suite)
        assert len(list(dataset.samples())) == dataset.count > 0


@given(data=almost)
def test_any_bytes_are_a_suite_or_are_refused_with_their_place(written, data):
    path = written("suite.yaml", data)
    faults = refusal(load_suite, path)
    assert all(str(fault).startswith(path.as_posix()) for fault in faults)
    assert set(faults) <= set(find_faults(path))
    if not faults:
        assert find_faults(path) == load_suite(path).warnings


@given(
    document=st.dictionaries(
        st.sampled_from(
            ["name", "samples", "graders", "target", "gates", "limits", "scoring", "epochs", "x"]
        ),
        json_values
        | st.lists(st.dictionaries(st.sampled_from(["type", "input", "metric"]), json_values)),
    )
)
def test_any_mapping_is_a_suite_or_is_refused(document):
    faults = refusal(Suite.from_mapping, document, Path(tempfile.gettempdir()))
    assert all(fault.problem for fault in faults)


@given(rows=st.integers(1, 30), cut=st.integers(0, 2000))
def test_a_dataset_that_was_torn_is_refused_or_ends_at_a_row(written, rows, cut):
    lines = [json.dumps({"id": f"s{i}", "input": "a text"}) + "\n" for i in range(rows)]
    data = "".join(lines).encode()[:cut]
    suite = suite_on(written("d.jsonl", data))
    whole = data.count(b"}")
    if whole and data.rstrip(b"\n").endswith(b"}"):
        assert open_dataset(suite).count == whole
    else:
        with pytest.raises(InputError):
            open_dataset(suite)
