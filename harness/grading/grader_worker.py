"""The inside of a worker process: imports one file of a suite, then grades call after call.

In come, over standard input, frames of a pickle each: first the path of the file, then a `Request`
for each call. Out go, over what was standard output, frames of a Grade as JSON each; an empty one
says that the file was imported. What the function prints goes to standard error.
"""

import asyncio
import inspect
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from harness.grading.error_grades import error_grade, grade_of_exception, grade_of_user_error
from harness.grading.returned_values import as_grade
from harness.shims.letta_evals_modules import offer_letta_evals
from harness.system.json_values import scrub_json
from harness.system.memory_pressure import go_first_without_memory
from harness.system.patterns import time_limit
from harness.system.private_modules import PrivateModules
from harness.system.processes import end_this_process_after
from harness.types.grades import Grade
from harness.types.marks import public_names

LENGTH_BYTES = 8
_GRACE_SECONDS = 5.0
"""How long the parent may take to end a worker that has overrun, before it ends itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call: the function's name in the file, what it is given, and how long it may take."""

    name: str
    arguments: dict[str, Any]
    seconds: float


def frame(data: bytes) -> bytes:
    """Return the data after its length."""
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def main() -> None:
    """Serve calls until standard input ends."""
    go_first_without_memory()
    requests, answers = _private_pipes()
    own_pid = os.getpid()
    path = pickle.loads(_read_frame(requests))  # noqa: S301  (from our own parent)
    module = _loaded(Path(path))
    if isinstance(module, Grade):
        _write(answers, msgspec.json.encode(module))
        return
    _write(answers, b"")
    while data := _read_frame(requests):
        grade = _serve(module, pickle.loads(data))  # noqa: S301  (as above)
        if os.getpid() != own_pid:
            # The function has forked, and this is the child: the answer is its parent's to give.
            os._exit(0)
        _write(answers, _encoded(grade))


def _encoded(grade: Grade) -> bytes:
    try:
        return msgspec.json.encode(grade)
    except UnicodeEncodeError:  # lone surrogates
        return msgspec.json.encode(scrub_json(msgspec.to_builtins(grade)))


def _private_pipes() -> tuple[Any, Any]:
    """Keep the pipes to the parent apart, so that the user's code neither reads nor writes them."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def _read_frame(pipe: Any) -> bytes:
    """Read what `frame` made; nothing where the pipe was closed."""
    length = int.from_bytes(pipe.read(LENGTH_BYTES), "big")
    data: bytes = pipe.read(length)
    return data if len(data) == length else b""


def _write(pipe: Any, data: bytes) -> None:
    pipe.write(frame(data))
    pipe.flush()


def _loaded(path: Path) -> ModuleType | Grade:
    offer_letta_evals()
    try:
        return PrivateModules(path.parent).load(path)
    except BaseException as error:  # noqa: BLE001  (whatever the user's file raises is reported)
        return grade_of_exception(error, source=str(path))


def _serve(module: ModuleType, request: Request) -> Grade:
    function: Any = public_names(module).get(request.name)
    if function is None:
        return error_grade("grader_broke", f"its file has no {request.name!r} any more")
    end_this_process_after(request.seconds + _GRACE_SECONDS)
    try:
        return _grade(function, request)
    finally:
        end_this_process_after(0)


def _grade(function: Callable[..., Any], request: Request) -> Grade:
    try:
        with time_limit(request.seconds):
            value = function(**request.arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(_wait(value))
        return as_grade(value)
    except BaseException as error:  # noqa: BLE001  (whatever the user's function raises)
        return grade_of_user_error(error, function)


async def _wait(value: Any) -> Any:
    return await value
