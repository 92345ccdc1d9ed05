"""A file of environment variables, read only where the user names one."""

import io
import os
from collections.abc import MutableMapping
from pathlib import Path

from dotenv.main import DotEnv
from dotenv.parser import Binding, parse_stream

from harness.types.errors import Fault, InputError


def read_env_file(path: Path, environ: MutableMapping[str, str] = os.environ) -> None:
    """Set the variables of a `.env` file; those that are set already stay as they are.

    Lines are `NAME=value`, `export NAME=value`, or comments; `${NAME}` in a value is filled in.

    Raises:
        InputError: the file cannot be read, or a line of it is none of these.
    """
    text = _text(path)
    bindings = list(parse_stream(io.StringIO(text)))
    faults = [
        Fault(file=str(path), line=_line(one), problem="no variable", allowed="NAME=value")
        for one in bindings
        # A name alone sets nothing.
        if one.error or (one.key is not None and one.value is None)
    ]
    if faults:
        raise InputError(faults)
    variables = DotEnv(None, stream=io.StringIO(text), override=False).dict()
    for name, value in variables.items():
        if value is not None and "\0" in value:
            raise InputError([Fault(file=str(path), problem=f"the value of {name} holds a NUL")])
        environ.setdefault(name, value or "")


def _line(binding: Binding) -> int:
    """Return the line of a binding, whose text begins with the blank lines before it."""
    text = binding.original.string
    return binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([Fault(file=str(path), problem="is not UTF-8")]) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or type(error).__name__}"
        raise InputError([Fault(file=str(path), problem=problem)]) from error
