"""Deleting what a run left outside its directory, such as agents on a server."""

from collections.abc import Sequence

from harness.types.suites import Suite


async def clean_run(suite: Suite, run_id: str) -> Sequence[str]:
    """Delete what a run of a suite left; return what was deleted, one line a thing.

    Targets that leave nothing anywhere have nothing to delete.

    Raises:
        TargetError: the server cannot be asked, or does not do it.
    """
    clean = getattr(suite.target.target, "clean", None) if suite.target else None
    deleted: Sequence[str] = () if clean is None else await clean(run_id)
    return deleted
