"""A sample: one row of a dataset."""

from itertools import accumulate
from typing import Any

import msgspec

_NONE: frozenset[int] = frozenset()


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset row: what the agent is told, and what is expected of it.

    `input` is a text, or one text a user turn. `ground_truth` is a text, one text a turn, or
    None. `history` are Chat Completions messages that the agent has before its first turn.
    `sessions` says how many turns each session has, where there are several: between them the
    agent forgets the conversation and keeps its memory. `rubric` replaces the prompt of every
    judge. `graders` are graders of this sample alone (each a `GraderSpec`), beside the suite's.
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
    sessions: tuple[int, ...] = ()
    rubric: str | None = None
    graders: tuple[Any, ...] = ()

    @property
    def turns(self) -> tuple[str, ...]:
        """Return the user's prompts, one a turn."""
        return (self.input,) if isinstance(self.input, str) else self.input

    @property
    def session_starts(self) -> frozenset[int]:
        """Return the turns that begin a further session, by their index."""
        return frozenset(accumulate(self.sessions[:-1])) if self.sessions else _NONE
