"""Which program a command agent is: its words, its file, its variables, what tells it apart."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness.system.child_environment import plain_environment
from harness.system.secret_values import says_secret, secrets_in
from harness.types.errors import TargetError

if TYPE_CHECKING:
    from harness.targets.command_agent import CommandAgent


def words_of(command: str | Sequence[str]) -> list[str]:
    """Return the program and its arguments.

    Raises:
        ValueError: there is no program in it, or a quote is not closed.
    """
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"this cannot be split into words: {error}") from None
    else:
        words = list(command)
    if not words or not words[0].strip():
        raise ValueError("it names no program")
    if any("\0" in word for word in words):
        raise ValueError("it holds a null character")
    return words


def filled(words: Sequence[str], folder: Path, model: str) -> list[str]:
    """Return words with what stands for `{model}`, `{suite}` and `{python}` in them."""
    places = {"{suite}": str(folder), "{python}": sys.executable, "{model}": model}
    return [_filled(word, places) for word in words]


def _filled(word: str, places: Mapping[str, str]) -> str:
    for place, text in places.items():
        word = word.replace(place, text)
    return word


def find_program(agent: "CommandAgent", word: str, folder: Path) -> str:
    """Return the path of the program; one with a folder in it starts at the suite's.

    Raises:
        TargetError: `not_found`.
    """
    program = filled([word], folder, "")[0]
    separators = {"/", os.sep, os.altsep or "/"}
    has_folder = bool(separators & set(program))
    name = str(folder / program) if has_folder else program
    found = shutil.which(name, path=environment_of(agent).get("PATH"))
    if found is not None:
        return str(Path(found).absolute())
    if has_folder and Path(name).is_file():
        problem, hint = f'the program "{program}" is not executable', f"chmod +x {program}"
    else:
        where = "the suite's folder" if has_folder else "PATH"
        problem, hint = f'there is no program "{program}" in {where}', "check target.command"
    raise TargetError(problem, code="not_found", hint=hint)


def environment_of(agent: "CommandAgent") -> dict[str, str]:
    """Return what the program sees of our environment, and what the suite gives it."""
    return {**plain_environment(os.environ, passed=agent.passed), **agent.given}


def secrets_of(agent: "CommandAgent") -> tuple[str, ...]:
    """Return the values among the program's variables that must not be stored."""
    return tuple(secrets_in(environment_of(agent)))


def key_files(agent: "CommandAgent", folder: Path) -> dict[str, str]:
    """Return the hashes of the suite's files that the command names, by their words in it."""
    try:
        words = filled(words_of(agent.command), folder, "")
    except ValueError:
        return {}
    places = [folder, *([agent.cwd.path] if agent.cwd else [])]
    found: dict[str, str] = {}
    for word in words:
        for path in (place / word for place in places):
            if _is_ours(path, places):
                name = Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
                found[name] = sha256(path.read_bytes()).hexdigest()
    return found


def _is_ours(path: Path, places: Sequence[Path]) -> bool:
    try:
        inside = any(path.resolve().is_relative_to(place.resolve()) for place in places)
        return inside and path.is_file()
    except (OSError, ValueError):
        return False


def keyed_variables(agent: "CommandAgent") -> dict[str, str | None]:
    """Return the variables of the suite; of those that are called like secrets the names alone.

    A new key does not make a new agent.
    """
    given = {name: None if says_secret(name) else text for name, text in agent.given.items()}
    return {**dict.fromkeys(agent.passed), **given}
