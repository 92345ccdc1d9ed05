"""Clients of a Letta server: where their project comes from."""

import pytest
from letta_client import AsyncLetta

from harness.targets.letta_clients import make_client


@pytest.mark.parametrize(
    ("option", "variable", "project"),
    [
        ("mine", None, "mine"),
        ("mine", "theirs", "mine"),
        (None, "theirs", "theirs"),
        (None, "", None),
        (None, None, None),
    ],
)
async def test_the_project_is_the_suites_or_that_of_the_environment(
    monkeypatch, option, variable, project
):
    monkeypatch.delenv("LETTA_PROJECT_ID", raising=False)
    if variable is not None:
        monkeypatch.setenv("LETTA_PROJECT_ID", variable)
    url = "http://127.0.0.1:9"
    client = make_client(AsyncLetta, url=url, key=None, project=option, concurrency=1)
    assert client.project_id == project
    await client.close()
