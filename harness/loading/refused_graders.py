"""Graders that other tools know and that Regrade does not run: each is refused by its name.

They are those of Vally (0.15) that look at the files of a workspace, and its judges.
"""

from collections.abc import Mapping
from types import MappingProxyType

_FILES = (
    "file-exists",
    "file-not-exists",
    "file-contains",
    "file-not-contains",
    "file-matches",
    "file-not-matches",
    "diff-contains",
    "diff-not-contains",
    "diff-empty",
    "run-command",
    "program",
    "custom-metrics",
)

_JUDGES = ("prompt", "panel")

REFUSED_GRADERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        name: (
            f'"{name}" grades the files of a workspace, and no target has one',
            "grade the end state of a fixture by `state-equals` or `state-contains`",
        )
        for name in _FILES
    }
    | {
        name: (
            f'"{name}" is a judge of Vally, with prompts of its own',
            "write `type: model_judge` with a `prompt` of yours",
        )
        for name in _JUDGES
    }
)
"""A grader's name -> what is wrong with it, and what can be written instead."""
