"""What is done once a run before Letta Code can be driven: finding it, and connecting models.

The home folders that are prepared here hold addresses and keys of models; every trial works in a
copy of one.
"""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.system.child_commands import Finished, TooMuchOutputError, run_command
from harness.system.time_limits import limited
from harness.targets.letta_code_backends import PROVIDER
from harness.targets.letta_code_failures import ended_failure, start_failure
from harness.types.errors import TargetError

TESTED = "0.34.12"
"""The version of the command that this target was made for."""

PREPARED = "prepared"
"""The folder, inside that of the run, that holds the prepared home folders."""

_INSTALL = f"install it (pip install letta=={TESTED}), or name its path as target.command"
_READY_SECONDS = 60.0
_VERSION = re.compile(r"(\d+\.\d[\w.+-]*)\s+\(Letta Code\)")
_SHOWN = 100
_MISCALLED = re.compile(
    r"unknown option|invalid permission mode|argument (is )?(missing|ambiguous)"
    r"|does not take an argument",
    re.IGNORECASE,
)
"""What the command says of arguments before it looks for a prompt."""


def find_command(text: str, folder: Path) -> list[str]:
    """Return the program as a path, with its arguments; a path starts at the suite's folder.

    Raises:
        TargetError: `not_found`.
    """
    try:
        program, *arguments = shlex.split(text) or [""]
    except ValueError:
        program, arguments = text, []
    separators = {"/", os.sep, os.altsep or "/"}
    name = str(folder / program) if separators & set(program) else program
    found = shutil.which(name)
    if found is None:
        message = f'the command "{program}" of Letta Code is not there'
        raise TargetError(message, code="not_found", hint=_INSTALL)
    return [str(Path(found).absolute()), *arguments]


@dataclass(frozen=True, slots=True)
class Preparation:
    """Runs the command outside of any trial."""

    argv: Sequence[str]
    folder: Path
    environment: Mapping[str, str]

    async def version(self) -> str:
        """Return the version of the command.

        Raises:
            TargetError: `bad_request`, where it is some other program.
        """
        done = await self._run(self.folder, ["--version"])
        found = _VERSION.search(done.output)
        if found is not None:
            return found[1]
        said = (done.output.strip() or done.errors.strip() or "it says nothing").partition("\n")[0]
        message = f"{self.argv[0]} is not Letta Code: asked for its version, it says: "
        raise TargetError(message + said[:_SHOWN], code="bad_request", hint=_INSTALL)

    async def connect(self, name: str, url: str, key: str | None) -> Path:
        """Return a home folder in which the models of an endpoint are known.

        Raises:
            TargetError: the endpoint cannot be asked, or refuses the key.
        """
        home = self.folder / f"home-{name}"
        home.mkdir()
        arguments = ["--backend", "local", "connect", PROVIDER, "--base-url", url]
        done = await self._run(home, [*arguments, *(["--api-key", key] if key else [])])
        if done.exit_code != 0:
            said = done.errors.strip() or done.output.strip()
            secrets = (key,) if key else ()
            raise ended_failure(done.exit_code, f"connect to {url}: {said}", secrets)
        return home

    async def try_arguments(self, arguments: Sequence[str]) -> None:
        """Call the command as a turn does, but without a prompt: it refuses either way.

        Raises:
            TargetError: `bad_request`, where it refuses the arguments.
        """
        home = self.folder / "home-of-arguments"
        home.mkdir()
        form = ("--output-format", "stream-json", "-p")
        done = await self._run(home, ["--backend", "local", "--new-agent", *arguments, *form])
        said = done.errors.strip() or done.output.strip()
        first = said.partition("\n")[0]
        if done.exit_code != 0 and _MISCALLED.search(first):
            message = f"{self.argv[0]} refuses target.flags or target.permission_mode: {first}"
            raise TargetError(message, code="bad_request")

    async def _run(self, home: Path, arguments: Sequence[str]) -> Finished:
        homes = dict.fromkeys(("HOME", "USERPROFILE"), str(home))
        work = run_command(
            [*self.argv, *arguments], cwd=home, environment={**self.environment, **homes}
        )
        try:
            return await limited(work, _READY_SECONDS)
        except TimeoutError as error:
            message = f"{self.argv[0]} {arguments[0]} has not ended after {_READY_SECONDS:g} s"
            raise TargetError(message, code="connection_lost") from error
        except (OSError, TooMuchOutputError) as error:
            raise start_failure(error) from error
