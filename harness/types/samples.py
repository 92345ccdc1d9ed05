"""A sample: one row of a dataset."""

from typing import Any

import msgspec


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset row: what the agent is told, and what is expected of it.

    `input` is a text, or one text a user turn. `ground_truth` is a text, one text a turn, or
    None. `history` are Chat Completions messages that the agent has before its first turn.
    `graders` are graders of this sample alone (each a `GraderSpec`), beside those of the suite.
    Columns that have no meaning of their own stand in `metadata`.
    """

    id: str
    input: str | tuple[str, ...]
    ground_truth: str | tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    extra_vars: dict[str, Any] = {}
    agent_args: dict[str, Any] = {}
    rubric_vars: dict[str, Any] = {}
    history: tuple[dict[str, Any], ...] = ()
    graders: tuple[Any, ...] = ()

    @property
    def turns(self) -> tuple[str, ...]:
        """Return the user's prompts, one a turn."""
        return (self.input,) if isinstance(self.input, str) else self.input
