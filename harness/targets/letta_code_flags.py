"""The flags of Letta Code: what a suite asks for, and what each turn of a conversation is given.

Verified with the command of PyPI `letta` 0.34.12; `--import` is of earlier versions.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

PERMISSION_MODES = (
    *("unrestricted", "standard", "acceptEdits", "strict"),
    # older names, which it still takes
    *("bypassPermissions", "default"),
    # names that only earlier versions take
    *("plan", "memory"),
)
"""What `--permission-mode` may be, in one version of the command or another."""

_PATHS = frozenset({"--import", "--skills"})
_NEW_AGENT = frozenset(
    {"--base-tools", "--embedding", "--import", "--personality", "--system", "--system-custom"}
)
"""Flags, each with a value, that say how a new agent is made: later turns are refused with them."""

_OURS = {
    "--agent": "agent_script makes agents",
    "--backend": "that is target.backend",
    "--conversation": "every trial has a conversation of its own",
    "--ephemeral": "without an agent there is no further turn",
    "--input-format": "the prompt is the whole input",
    "--model": "the models are listed under target.models",
    "--new": "every trial has a conversation of its own",
    "--new-agent": "every trial has an agent of its own",
    "--no-wait": "the answer is waited for",
    "--output-format": "the events are read from stream-json",
    "--permission-mode": "that is target.permission_mode",
    "--prompt": "the prompt is the sample's",
    "--resume": "every trial has a conversation of its own",
    "--tags": "agents bear the tags of their run",
}
_SHORT = {"-a": "--agent", "-m": "--model", "-p": "--prompt", "-r": "--resume"}


def split_flags(text: str | None) -> list[str]:
    """Split flags as a shell does.

    Raises:
        ValueError: a quotation is not closed.
    """
    return shlex.split(text or "")


def flag_problems(text: str | None) -> Iterator[str]:
    """Yield what keeps flags from being passed on."""
    try:
        words = split_flags(text)
    except ValueError as error:
        yield f"they cannot be split into words: {error}"
        return
    for word in words:
        name = _name(word)
        if why := _OURS.get(_SHORT.get(name, name)):
            yield f"{name} cannot be set here: {why}"


def resolve_flags(words: Sequence[str], folder: Path) -> list[str]:
    """Return flags whose relative paths start at a folder; `@owner/agent` is no path."""
    resolved: list[str] = []
    for index, word in enumerate(words):
        name, is_joined, value = word.partition("=")
        if index and words[index - 1] in _PATHS:
            resolved.append(_inside(word, folder))
        elif is_joined and name in _PATHS:
            resolved.append(f"{name}={_inside(value, folder)}")
        else:
            resolved.append(word)
    return resolved


def later_flags(words: Sequence[str]) -> list[str]:
    """Return the flags for turns after the first one, whose agent is made already."""
    return [
        word
        for index, word in enumerate(words)
        if _name(word) not in _NEW_AGENT and not (index and words[index - 1] in _NEW_AGENT)
    ]


def _name(word: str) -> str:
    return word.partition("=")[0]


def _inside(text: str, folder: Path) -> str:
    return text if text.startswith("@") else str(folder / text)
