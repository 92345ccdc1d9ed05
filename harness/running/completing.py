"""How a run that is not complete is made so, in words for a user."""

import shlex
from pathlib import Path

from harness.storing.manifests import Manifest


def how_to_complete(manifest: Manifest, folder: Path, *, has_errors: bool) -> str:
    """Say how to make what a run misses; what ended in errors is only made again if asked for."""
    place = shlex.quote(str(folder))
    if manifest.graded_from is not None:
        return "grade the trials again: regrade grade"
    again = " --retry-errors" if has_errors else ""
    return f"go on with it: regrade run --resume {place}{again}"
