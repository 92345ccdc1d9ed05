"""The inside of a worker process: imports one file of a suite, then grades call after call.

In come, over standard input, frames of a pickle each: first a `FunctionPlace`, then
the arguments of a call by name. Out go, over what was standard output, frames of a Grade as JSON
each; empty for a file that was imported. What the function prints goes to standard error.
"""

import asyncio
import inspect
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from harness.grading.broken_graders import broken, broken_by
from harness.grading.returned_values import as_grade
from harness.system.patterns import time_limit
from harness.system.private_modules import PrivateModules
from harness.types.errors import GraderError
from harness.types.grades import Grade

_LENGTH_BYTES = 8
_ANY_LENGTH_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class FunctionPlace:
    """Where a function is found: its file, and its name there."""

    file: str
    name: str


def write_frame(pipe: Any, data: bytes) -> None:
    """Write a length and that many bytes."""
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    pipe.flush()


def read_frame(pipe: Any) -> bytes:
    """Read what `write_frame` wrote.

    Raises:
        EOFError: the pipe was closed.
    """
    head = pipe.read(_LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    data: bytes = pipe.read(length) if len(head) == _LENGTH_BYTES else b""
    if len(head) < _LENGTH_BYTES or len(data) < length:
        raise EOFError
    return data


def main() -> None:
    """Serve calls until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    try:
        function = _served(requests, answers)
        while function is not None:
            arguments = pickle.loads(read_frame(requests))  # noqa: S301  (from our own parent)
            grade = _grade(function, arguments)
            write_frame(answers, msgspec.json.encode(grade))
    except EOFError:
        return


def _served(requests: BinaryIO, answers: BinaryIO) -> Callable[..., Any] | None:
    place = pickle.loads(read_frame(requests))  # noqa: S301  (from our own parent)
    try:
        file = Path(place.file)
        function: Any = PrivateModules(file.parent).load(file)
        for part in place.name.split("."):
            function = getattr(function, part)
    except BaseException as error:  # noqa: BLE001  (the user's file; told to the parent)
        write_frame(answers, msgspec.json.encode(broken_by(error, source=place.file)))
        return None
    write_frame(answers, b"")
    plain: Callable[..., Any] = inspect.unwrap(function)
    return plain


def _grade(function: Callable[..., Any], arguments: dict[str, Any]) -> Grade:
    try:
        with time_limit(_ANY_LENGTH_SECONDS):  # the parent keeps the time
            value = function(**arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(_wait(value))
        return as_grade(value)
    except GraderError as error:
        return broken(error.code, str(error))
    except BaseException as error:  # noqa: BLE001  (a function of the user's; told as a grade)
        code = getattr(inspect.unwrap(function), "__code__", None)
        return broken_by(error, source=getattr(code, "co_filename", None))


async def _wait(value: Any) -> Any:
    return await value
