"""The target `command`: any program as an agent, one process a trial."""

import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.system.secret_values import secrets_in
from harness.targets.command_programs import find_program, key_files, keyed_variables, words_of
from harness.types.code import SuitePath
from harness.types.errors import TargetError
from harness.types.protocols import Connection, RunContext

Protocol = Literal["auto", "jsonl", "text"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = "REGRADE_"


@dataclass(frozen=True, kw_only=True)
class CommandAgent:
    """Drives a program: prompts go in and events come out as lines of JSON.

    A trial is one process in a group of its own, which ends with all that can be found of what it
    has started.
    """

    command: str | tuple[str, ...] = field(
        metadata={
            "min_length": 1,
            "description": "The program with its arguments: a list, or a text that is split as a "
            "shell does; no shell is asked. In arguments {model} is the model, {suite} the suite's "
            "folder, {python} the Python that runs Regrade.",
        }
    )
    protocol: Protocol = field(
        default="auto",
        metadata={
            "description": "What goes in and comes out: `jsonl` events, `text` (the prompt as it "
            "is; all output is the answer), or by default `auto`: lines of JSON in; out as the "
            "first event tells, plain text otherwise."
        },
    )
    cwd: SuitePath | None = field(
        default=None,
        metadata={"description": "The folder to work in; by default the suite's."},
    )
    copy: bool = field(
        default=False,
        metadata={"description": "Work in a copy of cwd, made for each trial and deleted after."},
    )
    env: dict[str, str] | tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Further environment variables that the program sees: a list of names "
            "that are passed on, or a mapping from name to value.",
            "keyed": False,
        },
    )
    max_output_mb: int = field(
        default=16,
        metadata={
            "ge": 1,
            "le": 1024,
            "description": "How much the program may print in a trial, in MiB.",
            "keyed": False,
        },
    )

    @property
    def answers_once(self) -> bool:
        """Say whether its agents can take one turn only."""
        return self.protocol == "text"

    @property
    def passed(self) -> tuple[str, ...]:
        """Return the names of the variables that are passed on."""
        return self.env if isinstance(self.env, tuple) else ()

    @property
    def given(self) -> Mapping[str, str]:
        """Return the variables whose values the suite gives."""
        return self.env if isinstance(self.env, dict) else {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the values that the suite gives to variables that are called like secrets."""
        return tuple(secrets_in(self.given))

    def lint(self) -> Iterator[tuple[str, str]]:
        """Yield (option, problem) for options that cannot work."""
        try:
            words_of(self.command)
        except ValueError as error:
            yield "command", str(error)
        if self.copy and self.cwd is None:
            yield "copy", "cwd says which folder is copied"
        if self.cwd is not None and not self.cwd.path.is_dir():
            yield "cwd", "this is no folder"
        yield from self._lint_env()

    def _lint_env(self) -> Iterator[tuple[str, str]]:
        for name in self.env:
            if not _NAME.fullmatch(name):
                yield "env", f"{name!r} cannot be the name of a variable"
            elif name.startswith(_OURS):
                yield "env", f"{name}: names that begin with {_OURS} are Regrade's own"
        for name, value in self.given.items():
            if "\0" in value:
                yield "env", f"the value of {name} holds a null character"

    def lint_files(self, folder: Path, /) -> Iterator[tuple[str, str]]:
        """Yield that the program is not there, or that a variable is not set."""
        try:
            find_program(self, words_of(self.command)[0], folder)
        except (TargetError, ValueError) as error:
            yield "command", str(error)
        for name in self.passed:
            if name not in os.environ:
                yield "env", f"the environment variable {name} is not set"

    def keyed_parts(self, folder: Path, /) -> Mapping[str, Any]:
        """Return what tells two such targets apart beside their options: files, and variables."""
        return {"files": key_files(self, folder), "env": keyed_variables(self)}

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run: find the program.

        Raises:
            TargetError: `not_found`, where it is not there.
        """
        # Processes are asyncio's, which `regrade --help` goes without.
        from harness.targets.command_connection import connected  # noqa: PLC0415

        async with connected(self, run_context) as connection:
            yield connection

    async def clean(self, run_id: str) -> Sequence[str]:
        """End the processes that a run left, and delete its folders.

        Raises:
            OSError: a folder cannot be deleted.
        """
        # Processes are asyncio's, which `regrade --help` goes without.
        from harness.system.threads import in_thread  # noqa: PLC0415
        from harness.targets.command_connection import clean_up  # noqa: PLC0415

        return await in_thread(clean_up, run_id)
