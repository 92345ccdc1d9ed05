"""What holds for all tests."""

import os
import signal

import pytest
from hypothesis import settings

# A law is about what is true, not about how fast this machine is today.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")

# What is started in the background of a script ignores Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_their_own(tmp_path_factory):
    """Keep what judges answer in tests apart from what they answered to the user."""
    os.environ["REGRADE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
