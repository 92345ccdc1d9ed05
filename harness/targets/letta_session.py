"""One conversation of the target `letta`: a turn is one message of the user to the agent."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from harness.system.json_values import clean_json
from harness.system.redaction import redact_json
from harness.targets.letta_leftovers import MadeAgent
from harness.targets.letta_makers import WITH_PARTS
from harness.targets.letta_restarts import once_up
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_shapes import Thing
from harness.targets.letta_turn_taking import Manners, TurnTaking
from harness.types.protocols import AttemptContext, Record

_SECRET = frozenset({"secrets", "tool_exec_environment_variables"})


class LettaSession:
    """A conversation with one agent.

    A turn that is cut off by a time limit is cancelled on the server, which ends it before its next
    step; what happened until then stays in the record.
    """

    def __init__(
        self,
        server: LettaServer,
        agent: MadeAgent,
        manners: Manners,
        context: AttemptContext,
        leave: Callable[[], Awaitable[None]],
    ) -> None:
        self._server = server
        self._agent = agent
        self._manners = manners
        self._context = context
        self._leave = leave

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: there was no answer.
        """
        turn = TurnTaking(self._server, self._agent, self._manners, self._context)
        await turn.take(text, record)

    async def start_session(self) -> None:
        """Clear the agent's context; its memory stays.

        Raises:
            TargetError: the server does not do it.
        """
        path = path_of("agents", self._agent.id, "reset-messages")
        body = {"add_default_initial_messages": False}
        await once_up(lambda: self._server.patch(path, body), self._context)

    async def final_state(self) -> Mapping[str, Any]:
        """Return the agent's memory blocks, tools and tags, or all of its state.

        Raises:
            TargetError: the server does not tell.
        """
        path = path_of("agents", self._agent.id)
        state = await once_up(
            lambda: self._server.get(path, WITH_PARTS, shape=Thing), self._context
        )
        if self._manners.keeps_state:
            kept = {key: value for key, value in state.items() if key not in _SECRET}
        else:
            kept = _short(state)
        shown: dict[str, Any] = redact_json(clean_json(kept), self._server.secrets)
        return shown

    async def close(self) -> None:
        """Delete the agent, unless it is kept."""
        await self._leave()


def _short(state: Mapping[str, Any]) -> dict[str, Any]:
    blocks = state.get("blocks") or ()
    return {
        **{key: state.get(key) for key in ("id", "name")},
        "model": state.get("model") or _endpoint_model(state.get("llm_config")),
        "blocks": [
            {key: block.get(key) for key in ("label", "value", "limit", "description")}
            for block in blocks
        ],
        "tags": list(state.get("tags") or ()),
        "tools": [tool.get("name") for tool in state.get("tools") or ()],
    }


def _endpoint_model(config: Any) -> Any:
    """Return the model of an agent without a model's handle, such as a scripted one."""
    return config.get("model") if isinstance(config, Mapping) else None
