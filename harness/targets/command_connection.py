"""What the trials of a command agent share: the program that was found, and a place for copies."""

import secrets as random_texts
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.system.child_environment import RUN_MARK, TRIAL_MARK
from harness.system.processes import kill_marked
from harness.system.scratch_folders import make_scratch, remove_folder, scratch_folders
from harness.system.threads import in_thread
from harness.targets.command_agent import CommandAgent
from harness.targets.command_programs import (
    environment_of,
    filled,
    find_program,
    secrets_of,
    words_of,
)
from harness.targets.command_session import CommandSession, Start, refused
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext, Session
from harness.types.suites import SCRIPTED

_PREFIX = "regrade-command"
_ANY_KEY = "scripted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandConnection:
    """Opens sessions; `scratch` is where copies are made, None where none are."""

    agent: CommandAgent
    run_context: RunContext
    program: str
    environment: Mapping[str, str]
    secrets: tuple[str, ...]
    scratch: Path | None

    async def open(self, context: AttemptContext) -> Session:
        """Open a session; its process is started by the first turn.

        Raises:
            TargetError: the folder of the trial cannot be made; the sample has several turns, and
                the agent answers once.
        """
        if self.agent.answers_once and len(context.sample.turns) > 1:
            raise TargetError(
                "a program that is spoken to in plain text takes one turn",
                code="bad_request",
                hint="let it speak in events, with `protocol: jsonl`",
            )
        folder = self.run_context.folder.resolve()
        words = filled(words_of(self.agent.command)[1:], folder, context.model)
        mark = random_texts.token_hex(16)
        start = Start(
            argv=(self.program, *words),
            cwd=await self._working_folder(folder),
            environment={**self.environment, **self._marks(context, mark)},
            mark=mark,
            protocol=self.agent.protocol,
            most_bytes=self.agent.max_output_mb << 20,
            secrets=self.secrets,
            removes_cwd=self.scratch is not None,
        )
        return CommandSession(start, context)

    async def _working_folder(self, folder: Path) -> Path:
        own = self.agent.cwd.path.resolve() if self.agent.cwd else folder
        if self.scratch is None:
            return own
        try:
            return await in_thread(_copied, own, self.scratch)
        except (OSError, shutil.Error) as error:
            raise refused("the folder of the trial cannot be made", error) from error

    def _marks(self, context: AttemptContext, mark: str) -> Mapping[str, str]:
        marks = {TRIAL_MARK: mark, RUN_MARK: self.run_context.run_id}
        url = self.run_context.scripted_url
        if url is None or not context.model.startswith(SCRIPTED):
            return marks
        return {**marks, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": _ANY_KEY}


def _copied(folder: Path, scratch: Path) -> Path:
    copy = Path(tempfile.mkdtemp(prefix="trial-", dir=scratch)) / folder.name
    shutil.copytree(folder, copy, symlinks=True)
    return copy


@asynccontextmanager
async def connected(
    agent: CommandAgent, run_context: RunContext
) -> AsyncIterator[CommandConnection]:
    """Find the program; what is left of the run goes at the end.

    Raises:
        TargetError: `not_found`, where it is not there.
    """
    try:
        program = find_program(agent, words_of(agent.command)[0], run_context.folder.resolve())
    except ValueError as error:
        raise TargetError(f"target.command: {error}", code="bad_request") from error
    scratch = await in_thread(make_scratch, _PREFIX, run_context.run_id) if agent.copy else None
    try:
        yield CommandConnection(
            agent=agent,
            run_context=run_context,
            program=program,
            environment=environment_of(agent),
            secrets=secrets_of(agent),
            scratch=scratch,
        )
    finally:
        if run_context.run_id:
            await in_thread(kill_marked, RUN_MARK, run_context.run_id)
        if scratch is not None:
            await in_thread(remove_folder, scratch)


def clean_up(run_id: str) -> list[str]:
    """End the processes of a run and delete its folders; return a line for each thing.

    Raises:
        OSError: a folder cannot be deleted.
    """
    ended = kill_marked(RUN_MARK, run_id)
    gone = [f"{ended} processes of the agent" if ended > 1 else "a process of the agent"]
    gone = gone if ended else []
    for folder in scratch_folders(_PREFIX, run_id):
        remove_folder(folder)
        gone.append(f"folder {folder}")
    return gone
