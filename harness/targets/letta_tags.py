"""Tags that say what on a Letta server is Regrade's, and of which run."""

from collections.abc import Iterable

TAG = "regrade"
"""On everything that Regrade makes."""

_RUN = "regrade-run:"


def run_tag(run_id: str) -> str:
    """Return the tag of a run."""
    return f"{_RUN}{run_id}"


def run_tags(run_id: str) -> list[str]:
    """Return both tags of what a run makes; nothing without both of them is ever deleted."""
    return [TAG, run_tag(run_id)]


def runs_of(tags: Iterable[str]) -> list[str]:
    """Return the runs that tags name."""
    return [tag.removeprefix(_RUN) for tag in tags if tag.startswith(_RUN)]
