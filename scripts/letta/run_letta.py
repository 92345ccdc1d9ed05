"""Runs the `letta` command of the Python this is run by; nothing is fetched from the internet.

Nothing of what Letta does is changed, but that it does not fetch tokenizer data at every start,
without which it works as well, and starts in two thirds of the time.
"""

import gc
import sys
from importlib import import_module
from typing import Any


def main() -> int:
    """Run the command; most of its start is imports."""
    # None of what they make is garbage, and a library for English plurals spends two seconds on
    # checking the types of its own functions.
    gc.disable()
    typeguard: Any = import_module("typeguard")
    typeguard.typechecked = _as_it_is
    nltk: Any = import_module("nltk")
    nltk.download = _fetch_nothing
    import_module("letta.server.rest_api.app")
    gc.enable()
    return int(import_module("letta.main").app() or 0)


def _as_it_is(target: Any = None, **_: object) -> Any:
    return _as_it_is if target is None else target


def _fetch_nothing(*_: object, **__: object) -> bool:
    return False


if __name__ == "__main__":
    sys.exit(main())
