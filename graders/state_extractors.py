"""Extractors of the agent's end state, as its target has told it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.types.errors import GraderError
from harness.types.protocols import AGENT_STATE, Subject, Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBlock:
    """The value of a block of the agent's memory, as it is at the end of the trial."""

    block_label: str = field(
        metadata={"min_length": 1, "description": "The label of the block, such as `human`."}
    )

    def extract_from(self, subject: Subject) -> Submission:
        """Return the value; empty where the agent has no such block.

        Raises:
            GraderError: the trial holds no state of its agent.
        """
        state = subject.snapshots.get(AGENT_STATE)
        if not isinstance(state, Mapping):
            raise GraderError("the state of the agent was not stored: its target tells none")
        for block in _blocks(state):
            if block.get("label") == self.block_label:
                value = block.get("value")
                return Submission(value if isinstance(value, str) else "")
        return Submission("")


def _blocks(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the blocks of a state; older servers keep them inside of `memory`."""
    memory = state.get("memory")
    inner = memory.get("blocks") if isinstance(memory, Mapping) else None
    found = [*_listed(state.get("blocks")), *_listed(inner)]
    return [block for block in found if isinstance(block, Mapping)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
