"""Puts the command `letta` of Letta Code into the cache, once, and prints where it is.

Its wheel brings all it needs, Node included; it lies beside the installations of the server.
"""

import argparse
import fcntl
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from server_places import Trouble, find_places

LETTA_CODE = "letta==0.34.12"
EDITION = "1"


def main(arguments: Sequence[str]) -> int:
    """Install what is not there yet; a trouble is one line, and code 3."""
    _parser().parse_args(arguments)
    try:
        print(install())
    except (Trouble, OSError) as trouble:
        print(f"scripts/letta-code: {trouble}", file=sys.stderr)
        return 3
    return 0


def _parser() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog="scripts/letta-code",
        description="Installs Letta Code, which the target letta_code drives, once into a cache "
        "folder (280 MB), and prints the path of the command.",
        epilog='PATH=$(dirname "$(scripts/letta-code)"):$PATH   makes it the command `letta`. '
        "REGRADE_LETTA_CACHE names another cache folder.",
    )


def install() -> Path:
    """Give the path of the command.

    Raises:
        Trouble: it cannot be installed.
    """
    cache = find_places(None).cache
    folder = cache / f"{LETTA_CODE.replace('==', '-code-')}-{EDITION}"
    command, mark = folder / "bin" / "letta", folder / "installed"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "code-lock").open("wb") as held:
        # Tests on several cores ask at the same time.
        fcntl.flock(held, fcntl.LOCK_EX)
        if not (mark.exists() and command.exists() and (folder / "bin" / "python").exists()):
            shutil.rmtree(folder, ignore_errors=True)
            _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
            python = str(folder / "bin" / "python")
            _run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps",
                 "--disable-pip-version-check", "--only-binary", ":all:", LETTA_CODE)  # fmt: skip
            mark.write_text(LETTA_CODE, encoding="utf-8")
    return command


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Trouble(f"{LETTA_CODE} cannot be installed: {said[-1] if said else command[2]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
