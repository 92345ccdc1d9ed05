"""What the trials of a run share of Letta Code: the command, prepared home folders, a server."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.system.child_environment import RUN_MARK
from harness.system.scratch_folders import remove_folder
from harness.system.threads import in_thread
from harness.targets.letta_code import LettaCode
from harness.targets.letta_code_backends import (
    PROVIDER,
    backend_of,
    model_arguments,
    provider_key,
)
from harness.targets.letta_code_environment import base_environment
from harness.targets.letta_code_failures import start_failure
from harness.targets.letta_code_folders import make_run_folder
from harness.targets.letta_code_preparation import PREPARED, Preparation, find_command
from harness.targets.letta_code_session import LettaCodeSession
from harness.targets.letta_code_trials import Shared, common_arguments, open_trial, suite_flags
from harness.types.protocols import AttemptContext, RunContext, Session
from harness.types.suites import SCRIPTED

if TYPE_CHECKING:
    from harness.targets.letta_code_server import CodeServer


class LettaCodeConnection:
    """Opens sessions."""

    def __init__(self, shared: Shared, server: "CodeServer | None") -> None:
        self._shared, self._server = shared, server

    async def open(self, context: AttemptContext) -> Session:
        """Open a session in folders of its own.

        Raises:
            TargetError: what the sample asks for cannot be used; the agent cannot be made.
        """
        try:
            trial = await in_thread(open_trial, self._shared, context)
        except OSError as error:
            raise start_failure(error) from error
        server = self._server if trial.backend == "server" else None
        session = LettaCodeSession(self._shared, trial, server)
        try:
            await session.prepare()
        except BaseException:
            await session.close()
            raise
        return session


@asynccontextmanager
async def connected(
    agent: LettaCode, run_context: RunContext
) -> AsyncIterator[LettaCodeConnection]:
    """Find the command and prepare what the trials share; it goes away at the end.

    Raises:
        TargetError: the command is not there, or cannot reach the models; a setup failed.
    """
    for model in run_context.models:
        # Raises for one that its backend does not know.
        model_arguments(agent, model)
    argv = find_command(agent.command, run_context.folder.resolve())
    run_folder = await in_thread(make_run_folder, run_context.run_id)
    server: CodeServer | None = None
    try:
        server = _server(agent, run_context)
        if server is not None:
            await server.check([m for m in run_context.models if backend_of(agent, m) == "server"])
        shared = await _share(agent, run_context, argv, run_folder, server)
        if agent.setup_script is not None and server is not None:
            await server.set_up(agent.setup_script, run_context.models)
        for name in agent.pass_env:
            if name not in os.environ:
                run_context.warn(f"pass_env: the environment variable {name} is not set")
        if agent.allowed_tools and agent.permission_mode is None:
            run_context.warn(
                "allowed_tools restricts nothing while every tool may run (--yolo); set "
                "permission_mode: strict"
            )
        yield LettaCodeConnection(shared, server)
    finally:
        try:
            if server is not None:
                await server.close()
        finally:
            gone = run_folder / PREPARED if agent.keep_files else run_folder
            await in_thread(remove_folder, gone)


def _server(agent: LettaCode, run_context: RunContext) -> "CodeServer | None":
    """Return the server that agents live on, or that a setup is given."""
    backends = {backend_of(agent, model) for model in run_context.models or ("",)}
    if "server" not in backends and agent.setup_script is None:
        return None
    # The SDK takes a good part of a second to import; the local backend goes without it.
    from harness.targets.letta_code_server import CodeServer  # noqa: PLC0415

    return CodeServer(agent, run_context, needs_key="server" in backends)


async def _share(
    agent: LettaCode,
    run_context: RunContext,
    argv: Sequence[str],
    run_folder: Path,
    server: "CodeServer | None",
) -> Shared:
    environment = base_environment(os.environ, pass_env=agent.pass_env)
    environment[RUN_MARK] = run_context.run_id
    preparation = Preparation(argv, run_folder / PREPARED, environment)
    preparation.folder.mkdir()
    key = provider_key(agent)
    # Each takes a second, most of it to start the command.
    version, homes, refused = await asyncio.gather(
        preparation.version(),
        _homes(agent, run_context, preparation, key),
        _try_arguments(agent, run_context, preparation),
        return_exceptions=True,
    )
    # What is no Letta Code fails in both; its version says why.
    if isinstance(version, BaseException):
        raise version
    if isinstance(homes, BaseException):
        raise homes
    if isinstance(refused, BaseException):
        raise refused
    return Shared(
        agent=agent,
        run_context=run_context,
        argv=argv,
        version=version,
        run_folder=run_folder,
        homes=homes,
        secrets=(key,) if key else (),
        server=None if server is None else (server.url, server.key),
    )


async def _try_arguments(
    agent: LettaCode, run_context: RunContext, preparation: Preparation
) -> None:
    if agent.flags or agent.permission_mode:
        folder = run_context.folder.resolve()
        arguments = [*common_arguments(agent), *suite_flags(agent, folder)]
        await preparation.try_arguments(arguments)


async def _homes(
    agent: LettaCode, run_context: RunContext, preparation: Preparation, key: str | None
) -> dict[str, Path]:
    """Return home folders for the models that have no provider known to the command."""
    homes: dict[str, Path] = {}
    local = [model for model in run_context.models if backend_of(agent, model) == "local"]
    url = run_context.scripted_url
    if url is not None and any(model.startswith(SCRIPTED) for model in local):
        homes[SCRIPTED] = await preparation.connect("scripted", url, None)
    if agent.provider is not None:
        url = agent.provider.base_url
        homes[f"{PROVIDER}/"] = await preparation.connect("provider", url, key)
    return homes
