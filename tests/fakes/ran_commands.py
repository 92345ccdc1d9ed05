"""The command as a user runs it: a process in a folder, to its end."""

import os
import subprocess
import sys


def regrade(folder, *words, **environment):
    """Run `regrade` in a folder; return its exit code, and what it said on either stream."""
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr
