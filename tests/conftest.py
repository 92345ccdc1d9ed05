"""What holds for all tests."""

import os

import pytest
from hypothesis import settings

# A law is about what is true, not about how fast this machine is today.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_their_own(tmp_path_factory):
    """Keep what judges answer in tests apart from what they answered to the user."""
    os.environ["REGRADE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
