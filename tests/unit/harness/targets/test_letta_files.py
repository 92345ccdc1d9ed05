import json
from pathlib import Path

import pytest

from harness.targets.letta_files import (
    agent_file_faults,
    importable,
    one_agent,
    read_agent_file,
    without_folders,
)
from harness.types.code import SuitePath

AGENT = {"name": "A", "tags": ["mine", "regrade"], "source_ids": ["source-0"]}
DOCUMENT = {
    "agents": [AGENT],
    "blocks": [{"label": "human", "tags": None}, {"label": "persona", "tags": ["kept"]}],
    "sources": [{"id": "source-0"}],
    "files": [{"id": "file-0"}],
    "tools": [{"name": "t"}],
}


def write(tmp_path, data, name="agent.af"):
    path = tmp_path / name
    path.write_bytes(data)
    return SuitePath(text=name, path=path)


def test_an_agent_file_is_read(tmp_path):
    assert read_agent_file(write(tmp_path, json.dumps(DOCUMENT).encode())) == DOCUMENT


def test_an_export_that_came_as_a_text_is_read():
    assert one_agent(json.dumps(DOCUMENT)) == DOCUMENT


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", ""),
        (b'{"agents": [', ""),
        (b"\xff\xfe", ""),
        (b"[" * 100_000, ""),
        (b"[]", "no list `agents`"),
        (b"null", "no list `agents`"),
        (b'{"agents": null}', "no list `agents`"),
        (b'{"agents": []}', "holds 0 agents"),
        (b'{"agents": [{}, {}]}', "holds 2 agents"),
        (b'{"agents": [1]}', "holds 1 agents"),
        (b'{"agents": [{"tags": 7}]}', "`agents[0].tags` is no list of texts"),
        (b'{"agents": [{"tags": "mine"}]}', "`agents[0].tags` is no list of texts"),
        (b'{"agents": [{"tags": [{"a": 1}]}]}', "`agents[0].tags` is no list of texts"),
        (b'{"agents": [{"tags": {"a": 1}}]}', "`agents[0].tags` is no list of texts"),
        (b'{"agents": [{}], "blocks": [{}, {"tags": 7}]}', "`blocks[1].tags`"),
        (b'{"agents": [{}], "blocks": [{"tags": [null]}]}', "`blocks[0].tags`"),
        (b'{"agents": [{}], "blocks": {"tags": []}}', "`blocks` is no list of objects"),
        (b'{"agents": [{}], "blocks": ["human"]}', "`blocks` is no list of objects"),
    ],
)
def test_what_is_no_agent_file_of_one_agent_is_a_fault(tmp_path, data, problem):
    [fault] = agent_file_faults(write(tmp_path, data))
    assert fault.file == "agent.af"
    assert problem in fault.problem
    assert "\n" not in fault.problem


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (SuitePath(text="gone.af", path=Path("gone.af")), "cannot be read"),
        (SuitePath(text="agent.json", path=Path("agent.json")), "does not end in .af"),
    ],
)
def test_a_file_that_is_not_there_is_a_fault(file, problem):
    [fault] = agent_file_faults(file)
    assert problem in fault.problem


def test_what_is_imported_bears_our_tags_beside_its_own():
    made = json.loads(importable(DOCUMENT, ["regrade", "regrade-run:r"]))
    assert made["agents"][0]["tags"] == ["mine", "regrade", "regrade-run:r"]
    assert [block["tags"] for block in made["blocks"]] == [
        ["regrade", "regrade-run:r"],
        ["kept", "regrade", "regrade-run:r"],
    ]
    assert made["tools"] == DOCUMENT["tools"]


def test_a_document_without_blocks_is_imported_as_it_is():
    made = json.loads(importable({"agents": [{"name": "A"}]}, ["regrade"]))
    assert made["agents"] == [{"name": "A", "tags": ["regrade"]}]


def test_a_clone_has_no_folders_of_its_own():
    made = without_folders(DOCUMENT)
    assert (made["sources"], made["files"]) == ([], [])
    assert made["agents"][0]["source_ids"] == []
    assert made["agents"][0]["name"] == "A"
