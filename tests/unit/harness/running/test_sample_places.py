"""The lines of a dataset at which samples stand."""

import hashlib
from pathlib import Path

import pytest
from fakes.explained_runs import make_manifest

from harness.running.sample_places import places_of, shown_path
from harness.types.explanations import Place

ROWS = b'{"id":"a","input":"?"}\n\n{"id":"b","input":"?"}\n{"input":"no id"}\n'


def manifest_of(folder, data=ROWS, name="data.jsonl", **fields):
    (folder / name).write_bytes(data)
    sha = f"sha256:{hashlib.sha256(data).hexdigest()}"
    fields = {"dataset_file": name, "dataset_sha256": sha, **fields}
    return make_manifest(suite_file=str(folder / "suite.yaml"), **fields)


def lines(places):
    return {name: place.line for name, place in places.items()}


def test_each_sample_is_found_at_its_line(tmp_path):
    places = places_of(manifest_of(tmp_path), root=tmp_path)
    assert (places["a"], places["b"]) == (Place("data.jsonl", 1), Place("data.jsonl", 3))
    assert places[""] == Place("data.jsonl", 0)


def test_only_what_is_wanted_is_given(tmp_path):
    places = places_of(manifest_of(tmp_path), {"b", "gone"}, tmp_path)
    assert lines(places) == {"": 0, "b": 3}


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path):
    manifest = manifest_of(tmp_path, b"\xef\xbb\xbf" + ROWS)
    assert lines(places_of(manifest, {"a"})) == {"": 0, "a": 1}


def test_cells_of_a_spreadsheet_may_span_lines(tmp_path):
    data = b'id,input\r\na,"one\r\ntwo"\r\n b ,x\r\n'
    manifest = manifest_of(tmp_path, data, "data.csv")
    assert lines(places_of(manifest)) == {"": 0, "a": 2, "b": 4}


def test_of_a_dataset_that_has_changed_only_the_file_is_known(tmp_path):
    manifest = manifest_of(tmp_path)
    (tmp_path / "data.jsonl").write_bytes(b"\n" + ROWS)
    assert lines(places_of(manifest)) == {"": 0}


def test_of_samples_in_the_suite_the_suite_is_the_place(tmp_path):
    manifest = manifest_of(tmp_path, dataset_file=None)
    assert places_of(manifest, root=tmp_path) == {"": Place("suite.yaml", 0)}


@pytest.mark.parametrize(
    "fields",
    [
        {"suite_file": None},
        {"dataset_file": "gone.jsonl"},
        {"dataset_provenance": {"url": "somewhere"}},
    ],
)
def test_without_a_file_here_nothing_is_known(tmp_path, fields):
    given = {"suite_file": str(tmp_path / "s.yaml"), "dataset_file": "data.jsonl", **fields}
    (tmp_path / "data.jsonl").write_bytes(ROWS)
    assert places_of(make_manifest(**given)) == {}


def test_paths_are_shown_from_a_folder_on_with_forward_slashes(tmp_path):
    assert shown_path(tmp_path / "a" / "b.jsonl", tmp_path) == "a/b.jsonl"
    assert shown_path(tmp_path / "b.jsonl", tmp_path / "a") == (tmp_path / "b.jsonl").as_posix()
    assert shown_path(Path("a/b")) == "a/b"


def test_a_place_is_shown_as_editors_read_it():
    assert (str(Place("a", 3)), str(Place("a", 0))) == ("a:3", "a")
