"""Trials on somebody's agent: on clones of it, or on the agent itself where that was asked for."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.targets.letta_files import importable, one_agent, without_folders
from harness.targets.letta_leftovers import MadeAgent, do_each
from harness.targets.letta_makers import WITH_PARTS, FileMaker, Workshop, made_agent
from harness.targets.letta_secrets import SECRET_PART, learn_secrets, secrets_in
from harness.targets.letta_server import path_of
from harness.targets.letta_shapes import Secretive, Thing
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext

_BATCH = 100  # passages a request


class CloneMaker:
    """Makes clones of an agent as it is when the run begins; the agent itself is only read.

    An export lacks archival passages, which are copied to each clone, and folders, which are
    attached to it and not copied: agents only read them.
    """

    is_rehearsed = True

    def __init__(self, workshop: Workshop, agent_id: str) -> None:
        self._workshop = workshop
        self._agent_id = agent_id
        self._importer: FileMaker | None = None
        self._passages: list[dict[str, Any]] = []
        self._folders: list[str] = []

    async def prepare(self) -> None:
        """Export the agent.

        Raises:
            TargetError: `not_found`, where there is no such agent; it cannot be cloned.
        """
        server, path = self._workshop.server, path_of("agents", self._agent_id)
        secret = {"include": [*WITH_PARTS["include"], SECRET_PART]}
        state = await server.get(path, secret, shape=Secretive)
        self._passages = await self._read_passages()
        self._folders = [str(folder["id"]) for folder in state.get("sources") or ()]
        try:
            document = one_agent(await server.get(path_of("agents", self._agent_id, "export")))
        except ValueError as error:
            message = f"the agent {self._agent_id} cannot be cloned: its export {error}"
            raise TargetError(message, code="bad_request") from error
        data = importable(without_folders(_untagged(document)), self._workshop.tags)
        known = secrets_in(state)
        server.hide(known.values())  # the clones' tools can print them
        workshop = replace(self._workshop, secrets={**known, **self._workshop.secrets})
        self._importer = FileMaker(
            workshop, data, name=f"the export of {self._agent_id}", owns_folders=False
        )
        self._warn(state)

    async def _read_passages(self) -> list[dict[str, Any]]:
        """Return the passages, the oldest first; this list has a word of its own for that order."""
        path = path_of("agents", self._agent_id, "archival-memory")
        found = self._workshop.server.pages(path, {"ascending": True})
        return [_copied(passage) async for passage in found]

    def _warn(self, state: Mapping[str, Any]) -> None:
        warn, name = self._workshop.run_context.warn, self._agent_id
        if len(self._passages) > _BATCH:
            count = len(self._passages)
            warn(f"each trial copies the {count:,} archival passages of {name} to its clone")
        if state.get("identity_ids"):
            warn(f"the clones of {name} lack its identities")
        if self._folders:
            warn(f"the clones of {name} read its folders themselves, not copies of them")

    async def make(self, context: AttemptContext) -> MadeAgent:
        """Make a clone.

        Raises:
            TargetError: the server does not make it.
        """
        if self._importer is None:
            raise RuntimeError("make() before prepare()")
        agent = await self._importer.make(context)
        await self._workshop.or_discarded(agent, self._complete(agent.id))
        return agent

    async def _complete(self, agent_id: str) -> None:
        server = self._workshop.server
        for folder in self._folders:
            await server.patch(path_of("agents", agent_id, "folders", "attach", folder))
        if not self._passages:
            return
        # The first one makes the server make an archive.
        first, *rest = self._passages
        path = path_of("agents", agent_id, "archival-memory")
        [made] = await server.post(path, first, shape=tuple[Thing])
        if made.get("embedding_config") is None:
            # The server 0.16.8 takes several at once only where it makes embeddings of them.
            await do_each(rest, lambda passage: server.post(path, passage))
            return
        batches = path_of("archives", made["archive_id"], "passages", "batch")
        for start in range(0, len(rest), _BATCH):
            await server.post(batches, {"passages": rest[start : start + _BATCH]})


def _copied(passage: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: passage.get(key) for key in ("text", "tags", "created_at")}
    return {key: value for key, value in kept.items() if value is not None}


def _untagged(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without the agent's own tags: searches for them must not find clones."""
    [agent] = document["agents"]
    return {**document, "agents": [{**agent, "tags": []}]}


class ExistingMaker:
    """Gives the user's agent itself, to one trial at a time; it is never deleted."""

    is_rehearsed = False

    def __init__(self, workshop: Workshop, agent_id: str) -> None:
        self._workshop = workshop
        self._agent_id = agent_id
        self._turn = asyncio.Lock()

    async def prepare(self) -> None:
        """Look at the agent.

        Raises:
            TargetError: `not_found`, where there is no such agent; `bad_request`, where another
                run has changed its model.
        """
        workshop = self._workshop
        await learn_secrets(workshop.server, self._agent_id)
        if any(workshop.settings(model) for model in workshop.run_context.models):
            await workshop.lent.note(self._agent_id)
        self._workshop.run_context.warn(
            f"in_place: the trials talk to the agent {self._agent_id} itself, one at a time; its "
            "history and its memory change"
        )

    async def make(self, context: AttemptContext) -> MadeAgent:
        """Wait until the agent is free, and give it the trial's model.

        Raises:
            TargetError: the server does not do it.
        """
        await self._turn.acquire()
        try:
            state = await self._workshop.lend_model(self._agent_id, context.model)
        except BaseException:
            self._turn.release()
            raise
        return replace(made_agent(state), is_ours=False, blocks=())

    def release(self) -> None:
        """Let the next trial have the agent."""
        self._turn.release()
