"""URLs of datasets on the Hugging Face hub, and what only looks like one."""

import pytest

from harness.documents.findings import BadReference
from harness.loading.hub_urls import hub_file
from harness.types.code import HubFile

REPOSITORY = "https://huggingface.co/datasets/org/data.set-1"


@pytest.mark.parametrize(
    ("url", "revision", "path"),
    [
        (REPOSITORY, None, None),
        (f"{REPOSITORY}/", None, None),
        ("http://HuggingFace.CO/datasets/org/data.set-1", None, None),
        ("HTTPS://huggingface.co/datasets/org/data.set-1", None, None),
        (f"{REPOSITORY}/resolve/main/rows.jsonl", "main", "rows.jsonl"),
        (f"{REPOSITORY}/blob/v1/a/b.CSV", "v1", "a/b.CSV"),
        (f"{REPOSITORY}/resolve/main/rows.jsonl?download=true", "main", "rows.jsonl"),
        (f"{REPOSITORY}/resolve/refs%2Fpr%2F3/a%20b.jsonl", "refs/pr/3", "a b.jsonl"),
    ],
)
def test_a_url_names_a_dataset_a_revision_and_a_file(url, revision, path):
    expected = HubFile(text=url, repository="org/data.set-1", revision=revision, path=path)
    assert hub_file(url) == expected


@pytest.mark.parametrize(
    "text",
    ["rows.jsonl", "huggingface.co/datasets/org/data", "file:///a.jsonl", "datasets/org/a.csv"],
)
def test_a_path_is_no_url(text):
    assert hub_file(text) is None


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://huggingface.co.example/datasets/o/r", "fetched from huggingface.co alone"),
        ("https://nothuggingface.co/datasets/o/r", "fetched from huggingface.co alone"),
        ("https://huggingface.co@example.org/datasets/o/r", "fetched from huggingface.co alone"),
        ("https://user:key@huggingface.co/datasets/o/r", "fetched from huggingface.co alone"),
        ("https://huggingface.co:444/datasets/o/r", "fetched from huggingface.co alone"),
        ("https://[huggingface.co/datasets/o/r", "this is no URL"),
        ("https://huggingface.co/org/model", "names no dataset"),
        ("https://huggingface.co/datasets/single", "names no file of a dataset"),
        ("https://huggingface.co/datasets", "names no file of a dataset"),
        ("https://huggingface.co", "names no dataset"),
        ("https://huggingface.co/datasets/../o", "names no dataset"),
        (f"{REPOSITORY}/resolve/main", "names no file of a dataset"),
        (f"{REPOSITORY}/resolve/main/", "names no file of a dataset"),
        (f"{REPOSITORY}/tree/main/rows.jsonl", "names no file of a dataset"),
        (f"{REPOSITORY}/resolve/main/../rows.jsonl", "names no file of a dataset"),
        (f"{REPOSITORY}/resolve/main/a%2Frows.jsonl", "names no file of a dataset"),
        (f"{REPOSITORY}/resolve/main/a%0A.jsonl", "names no file of a dataset"),
        (f"{REPOSITORY}/resolve/main/rows.parquet", '"rows.parquet" is no dataset by its name'),
    ],
)
def test_what_only_looks_like_one_is_refused(url, problem):
    with pytest.raises(BadReference) as caught:
        hub_file(url)
    assert problem in caught.value.problem


def test_a_bad_url_is_one_fault_of_the_suite(folder):
    folder.suite("dataset: https://huggingface.co/org/model", samples=False)
    (fault,) = folder.faults()
    assert fault.startswith("suite.yaml:3:10: dataset: this URL names no dataset")
