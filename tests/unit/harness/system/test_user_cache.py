"""Where what can be fetched again is kept."""

from pathlib import Path

import pytest

from harness.system.user_cache import cache_folder


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"REGRADE_CACHE": "/c"}, Path("/c/judges")),
        ({"REGRADE_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, Path("/c/judges")),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/regrade/judges")),
        ({"LOCALAPPDATA": "/l"}, Path("/l/regrade/judges")),
        ({}, Path.home() / ".cache/regrade/judges"),
    ],
)
def test_the_folder_is_named_by_the_environment(monkeypatch, variables, folder):
    for name in ("REGRADE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder("judges") == folder
