"""Calls of the suite's functions that make agents and set up a server, for targets of Letta.

A factory is `async (client, sample) -> agent id`; a setup is `()`, `(client)` or `(client, model)`.
A function that is decorated for letta-evals is given a sample as there, any other Regrade's own.
Errors of the client's library are returned as what they mean for an attempt; whatever else a
function raises is a breach of contract that names the line of the user's code.
"""

import inspect
import traceback
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec

from harness.endpoints.failures import classify
from harness.shims.function_marks import allowed_forms, signature_problem
from harness.shims.letta_samples import letta_sample
from harness.system.redaction import redacted_line
from harness.system.texts import error_line
from harness.system.user_calls import UserCodeError, caller_of
from harness.types.code import CodeRef
from harness.types.errors import Fault, TargetError
from harness.types.marks import MarkKind, mark_of
from harness.types.samples import Sample

_WIDTH = 500
_WITH_MODEL = 2


async def make_agent(ref: CodeRef, client: Any, sample: Sample) -> str:
    """Let a factory make an agent, and return its id.

    Raises:
        TargetError: `agent_contract`, where it raised or returned no id; what `classify` makes of
            it, where the server or the way to it failed.
    """
    found = await _called(ref, "", client, sample_for(ref, sample))
    if isinstance(found, str) and found:
        return str(found)
    shown = "an empty text" if found == "" else f"a value of type {type(found).__name__}"
    shown = "None" if found is None else shown
    raise TargetError(
        f"{ref.text} returned {shown}", code="agent_contract", hint="return the id of the agent"
    )


async def set_up(ref: CodeRef, client: Any, model: str | None) -> None:
    """Call a setup with as many of (client, model) as it takes; None for the agents' own model.

    Raises:
        TargetError: as `make_agent` does; the message begins with `setup failed`.
    """
    await _called(ref, "setup failed: ", *(client, model)[: _count(ref)])


def takes_model(ref: CodeRef) -> bool:
    """Say whether a setup is to be called once for every model."""
    return _count(ref) >= _WITH_MODEL


def agent_script_faults(ref: CodeRef) -> Iterator[Fault]:
    """Yield what keeps an object from being an agent factory."""
    return _faults(ref, "agent factory")


def setup_script_faults(ref: CodeRef) -> Iterator[Fault]:
    """Yield what keeps an object from being a setup."""
    return _faults(ref, "suite setup")


def _faults(ref: CodeRef, kind: MarkKind) -> Iterator[Fault]:
    mark = mark_of(ref.value)
    if mark is not None and mark.kind != kind:
        yield _fault(ref, kind, f"{ref.name} is decorated as {_article(mark.kind)}")
    elif mark is None and not inspect.isroutine(ref.value):
        yield _fault(ref, kind, f"{ref.name} is {_article(type(ref.value).__name__)}")
    elif mark is None and (problem := signature_problem(ref.value, kind)):
        yield _fault(ref, kind, f"the {kind} {ref.name} {problem}")
    # What a decorator found wrong is reported where the file is loaded.


def _fault(ref: CodeRef, kind: MarkKind, problem: str) -> Fault:
    code = getattr(inspect.unwrap(ref.value), "__code__", None)
    line = code.co_firstlineno if code and Path(code.co_filename) == ref.file.path else 0
    return Fault(file=ref.file.text, line=line, problem=problem, allowed=allowed_forms(kind))


def _article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"


def _count(ref: CodeRef) -> int:
    return len(inspect.signature(ref.value).parameters)


def sample_for(ref: CodeRef, sample: Sample) -> Any:
    """Return the sample that a factory is given, as a copy: of letta-evals where it is its."""
    mark = mark_of(ref.value)
    if mark is not None and mark.style == "letta-evals":
        return letta_sample(sample)
    return deepcopy(msgspec.structs.replace(sample, graders=()))


async def _called(ref: CodeRef, prefix: str, /, *args: Any) -> Any:
    try:
        return await caller_of(ref.value)(*args)
    except UserCodeError as raised:
        raise _failure(ref, prefix, raised.error) from raised.error


def _failure(ref: CodeRef, prefix: str, error: BaseException) -> TargetError:
    place = f" ({_place(ref, error)})"
    try:
        known = classify(error)
        if known is not None:
            return TargetError(
                f"{prefix}{known}{place}",
                code=known.code,
                retry_after=known.retry_after,
                hint=known.hint,
            )
    except BaseException as broken:  # noqa: BLE001  (exceptions are the user's code too)
        error = broken if isinstance(error, TargetError) else error
    text = redacted_line(f"{prefix}{ref.text} raised {error_line(error)}", _WIDTH)
    return TargetError(f"{text}{place}", code="agent_contract")


def _place(ref: CodeRef, error: BaseException) -> str:
    """Return `file:line` of the user's own code where it raised."""
    folder = ref.file.path.parent
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).parent.is_relative_to(folder)]
    inside = [f for f in own if Path(f.filename) == ref.file.path]
    frame = next(reversed(inside or own), None)
    return f"{Path(frame.filename).name}:{frame.lineno}" if frame else ref.file.text
