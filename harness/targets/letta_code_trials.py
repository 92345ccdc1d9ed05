"""One trial of Letta Code, ready to be started: folders, environment and arguments."""

import os
import secrets as random_texts
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.system.child_environment import RUN_MARK, TRIAL_MARK
from harness.system.texts import one_line
from harness.targets.letta_code import Backend, LettaCode
from harness.targets.letta_code_backends import backend_of
from harness.targets.letta_code_environment import base_environment, is_provider_key
from harness.targets.letta_code_flags import resolve_flags, split_flags
from harness.targets.letta_code_folders import Folders, make_folders
from harness.targets.letta_code_memory import sample_memory
from harness.targets.letta_code_providers import provider_variables
from harness.targets.letta_code_variables import MEMORY_VARIABLES, sample_environment
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, RunContext

_WIDTH = 200
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all trials of a run have: the program that was found, its version, prepared homes.

    `homes` are by what the names of models begin with; `secrets` are the keys in them. `server` is
    (address, key) of the server.
    """

    agent: LettaCode
    run_context: RunContext
    argv: Sequence[str]
    version: str
    run_folder: Path
    homes: Mapping[str, Path]
    secrets: tuple[str, ...] = ()
    server: tuple[str, str | None] | None = None

    @property
    def folder(self) -> Path:
        """Return the suite's folder."""
        return self.run_context.folder.resolve()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTrial:
    """What every command of one trial is run with.

    `work` is where it works, `pwd` what stands for `{pwd}` in prompts; `mark` tells its processes
    from all others; `secrets` are values that must not be stored. `memory` is the memory folder
    that the sample or the suite names.
    """

    context: AttemptContext
    backend: Backend
    folders: Folders
    work: Path
    pwd: Path
    environment: Mapping[str, str]
    secrets: tuple[str, ...]
    mark: str
    memory: Path | None = None

    @property
    def model(self) -> str:
        """Return the model."""
        return self.context.model


def open_trial(shared: Shared, context: AttemptContext) -> CodeTrial:
    """Make the folders of a trial, and say how its commands are run; it blocks.

    Raises:
        TargetError: `bad_request`, where the sample has what cannot be used.
        OSError: a folder cannot be made.
    """
    agent = shared.agent
    if context.sample.history:
        raise TargetError("Letta Code takes no history of a sample", code="bad_request")
    own = _sample_variables(shared, context.sample.extra_vars)
    backend = backend_of(agent, context.model)
    folders = make_folders(
        shared.run_folder,
        home=_home(shared, context.model, backend),
        files=agent.files.path if agent.files else None,
    )
    work = _working_folder(shared, context.model, folders)
    mark = random_texts.token_hex(16)
    # A server has keys of its own.
    keys = provider_variables(context.model) if backend == "local" else ()
    environment = {
        **base_environment(os.environ, pass_env=agent.pass_env, keys=keys),
        **own,
        **_server_environment(shared, backend),
        **_trial_environment(folders, mark),
        RUN_MARK: shared.run_context.run_id,
    }
    is_given_folder = agent.working_dir is not None or agent.files is not None
    trial = CodeTrial(
        context=context,
        backend=backend,
        folders=folders,
        work=work,
        pwd=work if is_given_folder else shared.folder,
        environment=environment,
        secrets=(*shared.secrets, *_secrets(environment, agent.pass_env)),
        mark=mark,
        memory=_named_memory(shared, own, context.sample.extra_vars),
    )
    return trial if trial.memory is None else in_memory(trial, trial.memory)


def in_memory(trial: CodeTrial, memory: Path) -> CodeTrial:
    """Return a trial that works in a memory folder, which is made where it is missing; it blocks.

    Raises:
        TargetError: `bad_request`, where the folder cannot be made.
    """
    try:
        memory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f'the memory folder "{one_line(str(memory), _WIDTH)}" cannot be made: {reason}'
        raise TargetError(problem, code="bad_request") from error
    named = dict.fromkeys(MEMORY_VARIABLES, str(memory))
    return replace(trial, memory=memory, work=memory, environment={**trial.environment, **named})


def common_arguments(agent: LettaCode) -> list[str]:
    """Return the arguments that every turn is given, but the flags."""
    mode = ["--permission-mode", agent.permission_mode] if agent.permission_mode else ["--yolo"]
    return [
        *mode,
        *_joined("--allowedTools", agent.allowed_tools),
        *_joined("--disallowedTools", agent.disallowed_tools),
        *(["--skills", str(agent.skills_dir.path.resolve())] if agent.skills_dir else []),
    ]


def suite_flags(agent: LettaCode, folder: Path) -> list[str]:
    """Return the flags of the suite, which lies in `folder`."""
    return resolve_flags(split_flags(agent.flags), folder)


def _joined(flag: str, names: Iterable[str]) -> list[str]:
    text = ",".join(names)
    return [flag, text] if text else []


def _home(shared: Shared, model: str, backend: Backend) -> Path | None:
    if backend != "local":
        return None
    return next((home for start, home in shared.homes.items() if model.startswith(start)), None)


def _working_folder(shared: Shared, model: str, folders: Folders) -> Path:
    agent = shared.agent
    if agent.working_dir is None:
        return folders.work
    folder = shared.folder / agent.working_dir
    if agent.sandbox:
        # The names of models are texts on one line, of any characters: none leads elsewhere.
        name = model.rpartition("/")[2].replace("\\", "-")
        folder = folder / ("-" if name in {"", ".", ".."} else name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _server_environment(shared: Shared, backend: Backend) -> dict[str, str]:
    if backend == "local" or shared.server is None:
        return {}
    url, key = shared.server
    # Headless, the command refuses to start without a key, also where a server needs none.
    return {"LETTA_BASE_URL": url, "LETTA_API_KEY": key or "none"}


def _trial_environment(folders: Folders, mark: str) -> dict[str, str]:
    temporary = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folders.temporary))
    home = dict.fromkeys(("HOME", "USERPROFILE"), str(folders.home))
    return {**home, **temporary, TRIAL_MARK: mark}


def _secrets(environment: Mapping[str, str], pass_env: Iterable[str]) -> Iterable[str]:
    passed = set(pass_env)
    return (
        value
        for name, value in environment.items()
        if is_provider_key(name)
        or name == "LETTA_API_KEY"
        or (name in passed and name.upper().endswith(_SECRET_NAMES))
    )


def _sample_variables(shared: Shared, extra_vars: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that a sample sets; those that name a memory folder hold its path."""
    agent = shared.agent
    folders = MEMORY_VARIABLES if agent.memory_workspace else ()
    own = sample_environment(extra_vars, {*agent.sample_env, *folders})
    named = {name: own[name] for name in MEMORY_VARIABLES if own.get(name)}
    return own | {name: str(_sample_memory(shared, text)) for name, text in named.items()}


def _sample_memory(shared: Shared, text: Any) -> Path:
    return sample_memory(text, shared.folder, shared.agent.memory_dir)


def _named_memory(
    shared: Shared, own: Mapping[str, str], extra_vars: Mapping[str, Any]
) -> Path | None:
    """Return the memory folder that is named: by the sample first, then by the suite."""
    if not shared.agent.memory_workspace:
        return None
    named = next((own[name] for name in MEMORY_VARIABLES if own.get(name)), None)
    if named is not None:
        return Path(named)
    text = extra_vars.get("memory_dir")
    if text is not None and text != "":
        return _sample_memory(shared, text)
    text = shared.agent.memory_dir
    return (shared.folder / text).resolve() if text else None
