"""Where Regrade keeps what it can make or fetch again."""

import os
from pathlib import Path


def cache_folder(name: str) -> Path:
    """Return a folder by its name, under `REGRADE_CACHE` or else the user's cache."""
    if named := os.environ.get("REGRADE_CACHE", "").strip():
        return Path(named) / name
    # LOCALAPPDATA is where Windows keeps what programs can make again.
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if base := os.environ.get(variable, "").strip():
            return Path(base) / "regrade" / name
    return Path.home() / ".cache" / "regrade" / name
