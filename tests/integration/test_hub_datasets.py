"""Datasets of a hub: fetched once a commit, with the reader's token, whole or not at all."""

import gzip
import json
import subprocess
import sys

import pytest
from integration.hub import COMMIT, Hub, served

import harness.loading.hub_datasets
from harness.loading.datasets import open_dataset
from harness.loading.suite_files import load_suite
from harness.types.errors import DatasetError

REPOSITORY = "https://huggingface.co/datasets/org/data"
ROWS = b'{"input": "one"}\n{"input": "two"}\n'


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Serve a hub with one dataset, for the program to use in place of the real one."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with served(Hub({"rows.jsonl": ROWS, "README.md": b"x"})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", f"{hub.url}/")
        monkeypatch.setenv("REGRADE_CACHE", str(tmp_path / "cache"))
        yield hub


@pytest.fixture
def suite(tmp_path):
    """Write a suite on a dataset of the hub, and load it."""

    def suite(url):
        path = tmp_path / "suite.yaml"
        text = (
            f"name: s\ndataset: {url}\ngraders: {{g: {{type: contains}}}}\n"
            "target: {kind: python, agent: 'a.py:answer'}\n"
        )
        path.write_text(text, encoding="utf-8")
        (tmp_path / "a.py").write_text("def answer(text):\n    return text\n", encoding="utf-8")
        return load_suite(path)

    return suite


def inputs(suite):
    return [sample.input for sample in open_dataset(suite).samples()]


def regrade(*words):
    command = [sys.executable, "-m", "harness.cli", *words]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    # Long lines are folded in tables.
    return " ".join((done.stdout + done.stderr).decode().split())


def refusal(suite):
    with pytest.raises(DatasetError) as caught:
        open_dataset(suite)
    (fault,) = caught.value.faults
    return str(fault)


def test_the_one_file_of_a_dataset_is_found_and_its_commit_noted(hub, suite):
    dataset = open_dataset(suite(REPOSITORY))
    assert [sample.input for sample in dataset.samples()] == ["one", "two"]
    assert dataset.provenance == {
        "source": "huggingface",
        "url": REPOSITORY,
        "repo_id": "org/data",
        "path": "rows.jsonl",
        "revision": None,
        "commit_sha": COMMIT,
    }
    (note,) = dataset.notes
    assert f"the dataset may change; commit {COMMIT} was taken" in str(note)


@pytest.mark.parametrize("revision", ["main", "v1", "refs%2Fpr%2F3"])
def test_a_revision_that_may_move_is_looked_up_and_its_file_fetched_once(hub, suite, revision):
    loaded = suite(f"{REPOSITORY}/resolve/{revision}/rows.jsonl")
    assert [inputs(loaded) for _ in range(3)] == [["one", "two"]] * 3
    assert hub.asked.count(f"/api/datasets/org/data/revision/{revision}") == 3
    assert hub.asked.count("/cdn/rows.jsonl") == 1


def test_a_commit_is_not_looked_up_and_once_fetched_needs_no_hub(hub, suite):
    loaded = suite(f"{REPOSITORY}/blob/{COMMIT}/rows.jsonl")
    assert [inputs(loaded) for _ in range(2)] == [["one", "two"]] * 2
    assert len(hub.asked) == 2
    assert open_dataset(loaded).notes == ()


def test_files_of_one_name_in_two_folders_are_two(hub, suite):
    hub.files = {"a b/rows.csv": b"input\nfirst\n", "c/rows.jsonl": ROWS}
    assert inputs(suite(f"{REPOSITORY}/resolve/main/a%20b/rows.csv")) == ["first"]
    assert inputs(suite(f"{REPOSITORY}/resolve/main/c/rows.jsonl")) == ["one", "two"]


@pytest.mark.parametrize("name", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"])
def test_the_readers_token_is_sent_and_shown_nowhere(hub, suite, monkeypatch, name):
    hub.token = "hf_secret_token"
    assert "the hub answers 401: it is not there, or your token" in refusal(suite(REPOSITORY))
    monkeypatch.setenv(name, "hf_secret_token\n")
    assert inputs(suite(REPOSITORY)) == ["one", "two"]


@pytest.mark.parametrize("token", ["hf_töken", "hf_one\nhf_two"])
def test_a_token_that_no_header_can_hold_is_one_fault(hub, suite, monkeypatch, token):
    monkeypatch.setenv("HF_TOKEN", token)
    found = refusal(suite(REPOSITORY))
    assert "HF_TOKEN holds characters that are invalid in a token; set HF_TOKEN again" in found
    assert "hf_" not in found


BOMB = gzip.compress(bytes(3_000_000))


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ((BOMB, "gzip"), "it is larger than 2,000,000 bytes"),
        ((gzip.compress(BOMB), "gzip, gzip"), "the reply is encoded as gzip, gzip"),
        ((b"no gzip", "gzip"), "the reply cannot be decompressed"),
    ],
)
def test_what_a_few_bytes_stand_for_is_read_as_far_as_a_dataset_may_go(
    hub, suite, monkeypatch, answer, fault
):
    body, encoding = answer
    monkeypatch.setattr(harness.loading.hub_datasets, "MOST_BYTES", 2_000_000)
    hub.answers["/cdn/rows.jsonl"] = (200, {"Content-Encoding": encoding}, body)
    assert fault in refusal(suite(REPOSITORY))


def test_a_compressed_dataset_is_read_whole(hub, suite):
    hub.answers["/cdn/rows.jsonl"] = (200, {"Content-Encoding": "gzip"}, gzip.compress(ROWS))
    assert inputs(suite(REPOSITORY)) == ["one", "two"]


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
def test_redirects_without_end_are_a_fault_and_their_bodies_are_not_read(hub, suite, headers):
    hub.answers["/cdn/rows.jsonl"] = (302, {**headers, "Location": "/cdn/rows.jsonl"}, b"x")
    assert "it redirects without end" in refusal(suite(REPOSITORY))
    assert hub.asked.count("/cdn/rows.jsonl") < 10


def test_the_token_is_not_sent_on_to_another_host(hub, suite, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret_token")
    seen = []
    other = Hub({})
    other.answer = lambda path, headers: (seen.append(dict(headers)), (200, {}, ROWS))[1]
    with served(other):
        path = f"/datasets/org/data/resolve/{COMMIT}/rows.jsonl"
        hub.answers[path] = (302, {"Location": f"{other.url}/file"}, b"")
        assert inputs(suite(REPOSITORY)) == ["one", "two"]
    assert [headers.get("Authorization") for headers in seen] == [None]


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"a.jsonl": ROWS, "b.csv": ROWS}, "holds 2 .jsonl and .csv files: a.jsonl, b.csv; name"),
        ({"a.parquet": b""}, "holds 0 .jsonl and .csv files; name one"),
    ],
)
def test_a_dataset_of_none_or_several_files_needs_a_name(hub, suite, files, fault):
    hub.files = files
    assert fault in refusal(suite(REPOSITORY))


API = "/api/datasets/org/data/revision/main"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ((API, 404, {}, b""), "the hub answers 404: there is no such dataset"),
        ((API, 500, {}, b""), "the hub answers 500: the hub could not be read"),
        ((API, 200, {}, b"<html>"), "the hub's answer is no JSON"),
        ((API, 200, {}, b"\xff"), "the hub's answer is no JSON"),
        ((API, 200, {}, b"[]"), "the hub's answer names no commit"),
        ((API, 200, {}, b'{"sha": "../../x"}'), "the hub's answer names no commit"),
        ((API, 302, {"Location": API}, b""), "cannot be fetched from http://127.0.0.1:"),
        (("/cdn/rows.jsonl", 403, {}, b""), "the hub answers 403: your token may not read it"),
        (("/cdn/rows.jsonl", 200, {"Content-Length": "99"}, ROWS), "cannot be fetched from http"),
    ],
)
def test_an_answer_that_is_of_no_use_is_one_fault_and_leaves_nothing(
    hub, suite, tmp_path, answer, fault
):
    path, *said = answer
    hub.answers[path] = tuple(said)
    found = refusal(suite(REPOSITORY))
    assert found.startswith(f"{REPOSITORY}: ")
    assert fault in found
    assert [one for one in (tmp_path / "cache").rglob("*") if one.is_file()] == []


def test_a_file_that_is_too_large_is_not_kept(hub, suite, tmp_path, monkeypatch):
    monkeypatch.setattr(harness.loading.hub_datasets, "MOST_BYTES", 10)
    assert "it is larger than 10 bytes" in refusal(suite(REPOSITORY))
    assert [one for one in (tmp_path / "cache").rglob("*") if one.is_file()] == []


def test_a_hub_that_is_not_there_is_one_fault(hub, suite, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "cannot be fetched from http://127.0.0.1:9" in refusal(suite(REPOSITORY))


def test_rows_of_a_hub_are_checked_as_others_are(hub, suite):
    hub.files = {"rows.jsonl": b'{"input": 3}\n'}
    assert f"{REPOSITORY}:1:11: input: found 3" in refusal(suite(REPOSITORY))


def test_a_run_says_which_commit_it_took(hub, suite, tmp_path):
    suite(REPOSITORY)
    path = str(tmp_path / "suite.yaml")
    said = regrade("run", path, "--out", str(tmp_path / "runs"), "--quiet")
    assert f"the dataset may change; commit {COMMIT} was taken" in said
    (folder,) = (path for path in (tmp_path / "runs").iterdir() if path.is_dir())
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["dataset_provenance"]["commit_sha"] == COMMIT
    assert manifest["dataset_file"] == REPOSITORY
    assert f"note: {REPOSITORY}: the dataset may change; commit {COMMIT}" in regrade(
        "validate", path
    )
