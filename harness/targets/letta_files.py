"""Agent files (`.af`): the export of an agent comes in, what is imported for a trial goes out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.system.json_values import load_json
from harness.system.texts import error_line
from harness.targets.letta_clients import are_tags, tagged
from harness.types.code import SuitePath
from harness.types.errors import Fault

_ALLOWED = "an agent file of one agent, as Letta exports it (.af)"


def agent_file_faults(file: SuitePath) -> Iterator[Fault]:
    """Yield what keeps a file from being an agent file."""
    try:
        read_agent_file(file)
    except ValueError as error:
        yield Fault(file=file.text, problem=str(error), allowed=_ALLOWED)


def read_agent_file(file: SuitePath) -> dict[str, Any]:
    """Read an agent file.

    Raises:
        ValueError: it cannot be read, or does not hold exactly one agent.
    """
    if file.path.suffix != ".af":
        raise ValueError("the name does not end in .af")
    try:
        data = file.path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from error
    try:
        return one_agent(load_json(data))
    except RecursionError as error:
        raise ValueError(error_line(error)) from error


def one_agent(document: Any) -> dict[str, Any]:
    """Return an exported document, which a server may give as a text.

    Raises:
        ValueError: it does not hold exactly one agent.
    """
    if isinstance(document, str):
        document = load_json(document)
    agents = document.get("agents") if isinstance(document, dict) else None
    if not isinstance(agents, list):
        raise ValueError("no agent file: it holds no list `agents`")  # noqa: TRY004  (a text's fault)
    if len(agents) != 1 or not isinstance(agents[0], dict):
        raise ValueError(f"holds {len(agents)} agents")
    made: dict[str, Any] = document
    _require_tags(made)
    return made


def _require_tags(document: Mapping[str, Any]) -> None:
    """Require that tags can be added to the agent and to its blocks.

    Raises:
        ValueError: with the place of what is no list of texts.
    """
    blocks = document.get("blocks") or []
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ValueError("`blocks` is no list of objects")
    holders = {"agents[0]": document["agents"][0]}
    holders |= {f"blocks[{index}]": block for index, block in enumerate(blocks)}
    for place, holder in holders.items():
        if not are_tags(holder.get("tags")):
            raise ValueError(f"`{place}.tags` is no list of texts")


def importable(document: Mapping[str, Any], tags: Sequence[str]) -> bytes:
    """Return the bytes of a document whose agent and blocks bear tags when they are imported."""
    [agent] = document["agents"]
    blocks = document.get("blocks")
    held = tagged({"memory_blocks": blocks, "tags": ()}, tags).get("memory_blocks")
    return json.dumps({**document, "agents": [tagged(agent, tags)], "blocks": held}).encode()


def without_folders(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document whose agent has no folders and files of its own."""
    [agent] = document["agents"]
    bare = {**agent, "source_ids": [], "folder_ids": [], "files_agents": []}
    return {**document, "agents": [bare], "sources": [], "files": []}
