"""The limit on open files, which many connections at once meet first."""

import sys

_A_TRIAL = 4
"""Files and sockets that a trial may hold open: connections to a model, a fixture's own."""


def allow_open_files(trials: int) -> str:
    """Raise this process's limit for so many trials at once; return a warning where it is low.

    The warning is empty where the limit is enough, or where the system has none.
    """
    if sys.platform == "win32":
        return ""
    import resource  # noqa: PLC0415  (not there on Windows)

    wanted = 256 + _A_TRIAL * trials
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return ""
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed >= wanted:
        return ""
    return f"the system allows {allowed} open files, too few for {trials} trials at once"
