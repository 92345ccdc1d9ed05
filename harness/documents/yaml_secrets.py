"""Secrets taken out of YAML text, however their values are written there."""

from collections.abc import Collection
from typing import Any

import yaml

from harness.system.redaction import redact
from harness.system.secret_values import SHOWN

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def redact_yaml(text: str, secrets: Collection[str]) -> str:
    """Take secrets out of a document's text.

    A value that holds one only when it is read, as an escaped text or one over several lines may,
    is replaced as a whole.
    """
    for begin, end in reversed(_hidden_spans(text, secrets)):
        text = f'{text[:begin]}"{SHOWN}"{text[end:]}'
    return redact(text, secrets)


def _hidden_spans(text: str, secrets: Collection[str]) -> list[tuple[int, int]]:
    """Return where values begin and end, whose source does not show the secret they hold."""
    spans: list[tuple[int, int]] = []
    try:
        for token in yaml.scan(text, Loader=_Loader) if secrets else ():
            if not isinstance(token, yaml.ScalarToken):
                continue
            begin, end = token.start_mark.index, token.end_mark.index
            if any(s in token.value and s not in text[begin:end] for s in secrets):
                spans.append((begin, end))
    except yaml.YAMLError:
        pass  # what follows cannot be read as values either
    return spans
