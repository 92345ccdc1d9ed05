"""The target `letta_code`: the command `letta` (Letta Code) in headless mode."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from harness.system.suggestions import list_names
from harness.targets.letta_addresses import address_problems, missing_key
from harness.targets.letta_code_flags import PERMISSION_MODES, flag_problems
from harness.targets.letta_code_variables import is_guarded
from harness.types.code import CodeRef, SuitePath
from harness.types.errors import Fault, TargetError
from harness.types.protocols import Connection, RunContext
from harness.types.suites import SCRIPTED

Backend = Literal["local", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """An OpenAI-compatible endpoint whose models are called `openai-compatible/NAME`."""

    base_url: str = field(metadata={"description": "Address of the API.", "pattern": "^https?://."})
    api_key_env: str | None = field(
        default=None,
        metadata={"description": "Name of the environment variable that holds the key, if any."},
    )


@dataclass(frozen=True, kw_only=True)
class LettaCode:
    """Drives Letta Code: one process of the command a turn, one conversation a trial.

    Every trial has a home folder and a working folder of its own, which are deleted with all that
    the agent has left running.
    """

    needs_models: ClassVar[bool] = True
    keeps_memory: ClassVar[bool] = True
    takes_history: ClassVar[bool] = False

    command: str = field(
        default="letta",
        metadata={
            "description": "The program, with arguments if need be. A path with a folder in it "
            "starts at the suite's."
        },
    )
    backend: Backend | None = field(
        default=None,
        metadata={
            "description": "Where agents live: `local`, in the trial's home folder, or `server`. "
            "By default on a server where base_url or agent_script is given, or LETTA_BASE_URL or "
            "a key is there and the model is not called scripted/ or openai-compatible/."
        },
    )
    base_url: str | None = field(
        default=None,
        metadata={
            "description": "Address of a Letta server (which needs Redis for this command). By "
            "default that of the environment variable LETTA_BASE_URL, else Letta Cloud's.",
            "pattern": "^https?://.",
        },
    )
    api_key: str | None = field(
        default=None,
        metadata={
            "description": "Key of the server; better left to api_key_env.",
            "keyed": False,
        },
    )
    api_key_env: str = field(
        default="LETTA_API_KEY",
        metadata={"description": "Name of the environment variable that holds the server's key."},
    )
    project_id: str | None = field(
        default=None,
        metadata={
            "description": "Project of Letta Cloud that agent_script makes agents in; by "
            "default that of LETTA_PROJECT_ID."
        },
    )
    provider: Provider | None = field(
        default=None,
        metadata={
            "description": "An OpenAI-compatible endpoint for models called openai-compatible/NAME "
            "(local backend). Other providers take their keys from the environment."
        },
    )
    agent_script: CodeRef | None = field(
        default=None,
        metadata={
            "description": "Function `(client, sample)` that makes an agent on the server and "
            "returns its id; in place of a new agent of Letta Code."
        },
    )
    setup_script: CodeRef | None = field(
        default=None,
        metadata={
            "description": "Function `()`, `(client)` or `(client, model_handle)` that is called "
            "before the first trial; the last form once a model."
        },
    )
    flags: str | None = field(
        default=None,
        metadata={
            "description": "Further flags of the command, as in a shell. Relative paths behind "
            "--skills and --import start at the suite's folder."
        },
    )
    permission_mode: str | None = field(
        default=None,
        metadata={
            "description": "What tools may do unasked: unrestricted, standard, acceptEdits or "
            "strict. By default everything (--yolo)."
        },
    )
    allowed_tools: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Tools that may always run; restricts nothing unless permission_mode is "
            "strict."
        },
    )
    disallowed_tools: tuple[str, ...] = field(
        default=(), metadata={"description": "Tools that are denied."}
    )
    skills_dir: SuitePath | None = field(
        default=None, metadata={"description": "Folder of skills, passed as --skills."}
    )
    files: SuitePath | None = field(
        default=None,
        metadata={"description": "Folder whose copy is the working folder of every trial."},
    )
    collect: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Patterns such as `**/*.py`: files of the working folder whose texts "
            "are stored with the trial, as `files` of the agent's state."
        },
    )
    working_dir: str | None = field(
        default=None,
        metadata={
            "description": "Folder to work in, in place and shared by all trials; made where it is "
            "missing."
        },
    )
    sandbox: bool = field(
        default=True,
        metadata={
            "description": "Work in the subfolder of working_dir that is called as the last part "
            "of the model's name."
        },
    )
    memory_workspace: bool = field(
        default=False,
        metadata={
            "description": "Work in the agent's memory folder, which MEMORY_DIR and "
            "LETTA_MEMORY_DIR name."
        },
    )
    memory_dir: str | None = field(
        default=None,
        metadata={"description": "The memory folder of memory_workspace, shared by all trials."},
    )
    pass_env: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Names of environment variables that the command sees, beside PATH, "
            "locale, proxies and the key of the model's provider."
        },
    )
    sample_env: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Names of the variables that a sample may set as extra_vars.env; `*` is "
            "any. Those that say what is run, where keys go or what a key is are never allowed."
        },
    )
    keep_files: bool = field(
        default=False,
        metadata={
            "description": "Keep the folders of every trial; its state says where they are.",
            "keyed": False,
        },
    )
    keep_agents: bool = field(
        default=False,
        metadata={"description": "Keep agents that were made on a server.", "keyed": False},
    )

    def lint(self) -> Iterator[tuple[str, str]]:
        """Yield (option, problem) for options that cannot work."""
        for problem in flag_problems(self.flags):
            yield "flags", problem
        yield from self._lint_folders()
        for name in filter(is_guarded, self.sample_env):
            yield "sample_env", f"{name} is never a sample's to set; pass_env takes it from outside"
        for problem in address_problems(self.base_url):
            yield "base_url", problem
        if self.permission_mode not in {None, *PERMISSION_MODES}:
            yield "permission_mode", f"unknown mode; {list_names(PERMISSION_MODES)}"
        if self.backend == "local":
            for option in ("base_url", "api_key", "agent_script"):
                if getattr(self, option) is not None:
                    yield option, "it is for agents on a server, but backend is local"

    def _lint_folders(self) -> Iterator[tuple[str, str]]:
        if self.files is not None and not self.files.path.is_dir():
            yield "files", "this is no folder"
        if self.files is not None and (self.working_dir or self.memory_workspace):
            yield "files", "working_dir or memory_workspace says already where to work"
        if self.working_dir is not None and self.memory_workspace:
            yield "working_dir", "memory_workspace says already where to work"
        if self.memory_dir is not None and not self.memory_workspace:
            yield "memory_dir", "it is used with `memory_workspace: true` only"
        if any(Path(pattern).is_absolute() or not pattern for pattern in self.collect):
            yield "collect", "patterns start at the working folder"

    def lint_models(self, models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield which models the backend does not know."""
        if self.backend == "server":
            for model in models:
                if model.startswith(SCRIPTED):
                    yield "backend", f"{model} is served to the local backend only"

    def lint_keys(self, models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield the keys that are not there, of Letta Cloud and of the provider."""
        from harness.targets.letta_code_backends import backend_of, provider_key  # noqa: PLC0415

        if any(backend_of(self, model) == "server" for model in models):
            yield from missing_key(self.base_url, key=self.api_key, variable=self.api_key_env)
        try:
            provider_key(self)
        except TargetError as error:
            yield "provider", error.line

    def check(self, _fixture_names: frozenset[str]) -> Iterator[Fault]:
        """Yield what keeps the suite's functions from being an agent factory and a setup."""
        if self.agent_script is None and self.setup_script is None:
            return
        # What these functions are given is made by pydantic; `regrade --help` goes without it.
        from harness.shims.agent_functions import (  # noqa: PLC0415
            agent_script_faults,
            setup_script_faults,
        )

        if self.agent_script is not None:
            yield from agent_script_faults(self.agent_script)
        if self.setup_script is not None:
            yield from setup_script_faults(self.setup_script)

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run: find the command, and prepare what every home folder holds.

        Raises:
            TargetError: the command is not there, or cannot reach the models; a setup failed.
        """
        from harness.targets.letta_code_connection import connected  # noqa: PLC0415

        async with connected(self, run_context) as connection:
            yield connection

    async def clean(self, run_id: str) -> Sequence[str]:
        """End the processes that a run left, and delete its folders and its agents on a server.

        Raises:
            TargetError: the server cannot be asked.
        """
        from harness.system.threads import in_thread  # noqa: PLC0415
        from harness.targets.letta_code_backends import backend_of  # noqa: PLC0415
        from harness.targets.letta_code_leftovers import clean_machine  # noqa: PLC0415

        gone = await in_thread(clean_machine, run_id, self.keep_files)
        if backend_of(self, "") == "local":
            return gone
        from harness.targets.letta_code_server import clean_server  # noqa: PLC0415

        return [*gone, *await clean_server(self, run_id)]
