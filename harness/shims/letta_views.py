"""What functions of letta-evals see of one trial: its messages and its agent's end state."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any

from harness.messages.letta_models import build_letta_models
from harness.messages.letta_records import write_letta_records
from harness.types.protocols import AGENT_STATE
from harness.types.trajectories import Trajectory


class LettaView:
    """A trial's trajectory as messages of letta-client, made when they are first asked for.

    They are made once a trial: the lists are each caller's own, the messages in them are shared.
    """

    def __init__(self, whole: Trajectory) -> None:
        self._whole = whole

    @cached_property
    def _turns(self) -> dict[int, list[Any]]:
        turns = build_letta_models(write_letta_records(self._whole))
        return {id(turn): made for turn, made in zip(self._whole.turns, turns, strict=True)}

    def messages(self, trajectory: Trajectory) -> list[list[Any]]:
        """Return the messages of the whole trajectory, or of the turn that was cut out of it."""
        return [list(self._turns[id(turn)]) for turn in trajectory.turns]


def letta_state(snapshots: Mapping[str, Any]) -> Any:
    """Return the end state of the agent as letta-client's object; None where none is stored.

    What a target did not keep of it is None, but the `id`, which Letta Code calls `agent_id`.
    """
    state = snapshots.get(AGENT_STATE)
    if not isinstance(state, Mapping):
        return None
    # Imported here, since most runs have nothing to do with Letta.
    from letta_client.types import AgentState  # noqa: PLC0415

    return AgentState.construct(**{"id": state.get("agent_id"), **deepcopy(dict(state))})
