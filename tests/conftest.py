"""What holds for all tests."""

import os
import signal

import pytest
from hypothesis import settings

# A law is about what is true, not about how fast this machine is today.
settings.register_profile("laws", deadline=None)
settings.load_profile("laws")

# What a script starts in the background ignores Ctrl-C, what nohup starts the end of its terminal,
# and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_their_own(tmp_path_factory):
    """Keep what judges answer in tests apart from what they answered to the user."""
    os.environ["REGRADE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
