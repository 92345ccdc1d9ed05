"""Texts of Codex (CLI of 2025 and 2026): what it puts in the user's place, what wraps an output.

A wrapped output begins with lines on the process (`Chunk ID`, `Wall time`, `Exit code`), up to
`Output:`; earlier versions wrote JSON with `output` and `metadata`.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.system.json_values import load_json

_INSTRUCTIONS = "# AGENTS.md instructions"
_TAGS = frozenset(
    {"app-context", "apps_instructions", "collaboration_mode", "environment_context"}
    | {"environments_instructions", "goal_context", "INSTRUCTIONS", "model_switch"}
    | {
        "permissions instructions",
        "personality_spec",
        "plugins_instructions",
        "realtime_conversation",
    }
    | {"skill", "skills_instructions", "subagent_notification", "token_budget", "turn_aborted"}
    | {"user_action", "user_instructions", "user_shell_command"}
)
_LONGEST_TAG = 40
_PREAMBLE = re.compile(
    r"(?:(?:Chunk ID|Exit code|Wall time|Original token count|Total output lines): [^\n]{0,200}\n"
    r"|Process (?:exited with code -?\d{1,10}|running with session ID \d{1,10})\n){1,8}"
    r"\n?Output:\n?"
)
_EXIT_CODE = re.compile(r"(?:Exit code: |exited with code )(-?\d{1,10})\n")


class ShellOutput(NamedTuple):
    """What a command printed; `exit_code` is None where it is not told, `around` what was."""

    text: str
    exit_code: int | None
    around: Mapping[str, Any]


def framework_kind(text: str) -> str | None:
    """Return the kind of a text that Codex wrote in the user's place; None for the user's own."""
    body = text.strip()
    if body.startswith(_INSTRUCTIONS):
        return "user_instructions"
    if not body.startswith("<"):
        return None
    tag = body[1:_LONGEST_TAG].partition(">")[0]
    return tag.replace(" ", "_").lower() if tag in _TAGS else None


def unwrap_output(text: str) -> ShellOutput | None:
    """Return what a command printed without what Codex says of it; None where it is not wrapped."""
    preamble = _PREAMBLE.match(text)
    if preamble is not None:
        told = _EXIT_CODE.search(preamble.group())
        code = int(told.group(1)) if told else None
        return ShellOutput(text[preamble.end() :], code, {"preamble": preamble.group()})
    if not text.startswith("{") or '"metadata"' not in text:
        return None
    try:
        value = load_json(text)
    except ValueError:
        return None
    return _unwrap_json(value)


def _unwrap_json(value: Any) -> ShellOutput | None:
    if not isinstance(value, Mapping) or set(value) != {"output", "metadata"}:
        return None
    text, metadata = value["output"], value["metadata"]
    if not isinstance(text, str) or not isinstance(metadata, Mapping):
        return None
    code = metadata.get("exit_code")
    return ShellOutput(text, code if type(code) is int else None, dict(metadata))
