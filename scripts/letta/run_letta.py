"""Runs the `letta` command of the Python this is run by; nothing is fetched from the internet.

Letta fetches tokenizer data at every start, without which it works as well.
"""

import sys

import nltk
from letta.main import app


def _fetch_nothing(*_: object, **__: object) -> bool:
    return False


nltk.download = _fetch_nothing
sys.exit(app())
