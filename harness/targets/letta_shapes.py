"""The parts of a Letta server's replies that are relied on: a reply comes in and is checked."""

from typing import Any

import msgspec

from harness.endpoints.failures import failure


class Thing(msgspec.Struct):
    """Whatever has an id: an agent with its parts, a memory block, a tool, a folder, a passage."""

    id: str
    name: str | None = None
    label: str | None = None
    tags: list[str] | None = None
    blocks: "list[Thing] | None" = None
    sources: "list[Thing] | None" = None
    tools: "list[Thing] | None" = None


class Secret(msgspec.Struct):
    """An environment variable of an agent's tools."""

    key: str
    value: str | None = None


class Secretive(Thing):
    """An agent that was asked for with its secrets."""

    secrets: list[Secret] | None = None
    tool_exec_environment_variables: list[Secret] | None = None


class Lendable(Thing, kw_only=True):
    """An agent whose model can be given back."""

    llm_config: dict[str, Any]
    metadata: dict[str, Any] | None = None


class ServedModel(msgspec.Struct):
    """A model that the server lists."""

    handle: str | None = None


class Imported(msgspec.Struct):
    """The ids of the agents that an agent file held, the first of them being the one talked to."""

    agent_ids: list[str]

    def __post_init__(self) -> None:
        """Refuse a reply without an id."""
        if not self.agent_ids:
            raise ValueError("agent_ids is empty")


def require_shape(reply: Any, shape: Any, place: str) -> None:
    """Require that a reply has a shape; what it holds besides is not looked at.

    Raises:
        TargetError: `bad_reply`, with where in the reply something else stands.
    """
    try:
        msgspec.convert(reply, shape)
    except (msgspec.ValidationError, RecursionError) as error:
        message = f"{place}: no reply of a Letta server: {error}"
        raise failure(message, code="bad_reply") from error
