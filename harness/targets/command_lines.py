"""The lines that a command agent prints: a JSON object comes in, what it says goes out.

Each is of a type that is named like an event; besides there are `step` (the numbers of a model
reply), `state` (the end state of the agent) and `turn_end`. An `error` with a `code` says that the
turn could not be driven to its end.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec

from harness.messages.arguments import read_arguments
from harness.messages.completions import read_usage
from harness.messages.outputs import read_output
from harness.system.suggestions import find_close, list_names, suggest
from harness.types.errors import POLICIES, TargetError
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Event,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
)
from harness.types.trajectories import Step

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Index = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
# A time without its zone can be compared with no other.
_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every line may hold; `type` was looked at before."""

    type: str


class _EventLine(_Line, frozen=True, kw_only=True):
    at: _Time | None = None
    step: _Index | None = None
    agent: str | None = None
    parent_call_id: str | None = None


class _Said(_EventLine, frozen=True, kw_only=True):
    text: str


class _Called(_EventLine, frozen=True, kw_only=True):
    name: str
    call_id: str | None = None
    arguments: Any = None


class _Returned(_EventLine, frozen=True, kw_only=True):
    output: Any
    call_id: str | None = None
    name: str | None = None
    ok: bool = True
    structured: Any = None


class _Noted(_EventLine, frozen=True, kw_only=True):
    kind: str
    text: str = ""
    data: Any = None


class _Failed(_EventLine, frozen=True, kw_only=True):
    message: str
    kind: str = "error"
    code: str | None = None
    retry_after: _Seconds | None = None


class _Replied(_Line, frozen=True, kw_only=True):
    usage: dict[str, Any] = {}
    model: str | None = None
    stop_reason: str | None = None
    seconds: _Seconds | None = None


class _State(_Line, frozen=True, kw_only=True):
    data: dict[str, Any]


class _Ended(_Line, frozen=True, kw_only=True):
    """The turn is over."""


_LINES: Mapping[str, type[_Line]] = {
    "assistant_message": _Said,
    "reasoning": _Said,
    "tool_call": _Called,
    "tool_result": _Returned,
    "system": _Noted,
    "error": _Failed,
    "step": _Replied,
    "state": _State,
    "turn_end": _Ended,
}

_OBJECT = re.compile(r"\{\s*[\"']")
"""How an object begins, in Python's own notation too, which programs print by mistake."""

_TYPE = re.compile(r"[\"']type[\"']\s*:\s*[\"']([^\"'\\]*)")

_OURS = frozenset({"turn_timeout", "trial_timeout", "fixture_broke", "target_broke"})
"""Codes that an agent cannot give: whether they hold is not for it to say."""

CODES = frozenset(
    code
    for code, policy in POLICIES.items()
    if policy.status in {"agent_failure", "target_error"} and code not in _OURS
)
"""Codes that an `error` may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a line says: each field is None where it says nothing of that kind."""

    event: Event | None = None
    step: Step | None = None
    state: Mapping[str, Any] | None = None
    failure: TargetError | None = None
    ends: bool = False


def is_meant(record: Mapping[str, Any] | str) -> bool:
    """Say whether an object, or a text that is no whole one, was meant as one of the lines.

    Its type is one of those, close to one, or the beginning of one at the end of a torn line.
    """
    if isinstance(record, str):
        return _is_torn(record)
    kind = record.get("type")
    return isinstance(kind, str) and _is_like(kind)


def _is_torn(text: str) -> bool:
    if _OBJECT.match(text) is None:
        return False
    found = _TYPE.search(text)
    if found is None:
        # Not even its first name is whole.
        return '{"type":"'.startswith("".join(text.split()).replace("'", '"'))
    is_whole = found.end() < len(text)
    return _is_like(found[1]) if is_whole else any(kind.startswith(found[1]) for kind in _LINES)


def _is_like(kind: str) -> bool:
    return kind in _LINES or find_close(kind, _LINES) is not None


def read_line(record: Mapping[str, Any]) -> Told:
    """Read a line.

    Raises:
        ValueError: it is of no known type, or not of the shape that its type has.
    """
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in _LINES:
        raise ValueError(f"unknown type {_shown(kind)}; {suggest(str(kind), _LINES)}")
    shape = _LINES[kind]
    if unknown := sorted(record.keys() - set(shape.__struct_fields__)):
        allowed = sorted(set(shape.__struct_fields__) - {"type"})
        raise ValueError(f'{kind}: unknown field "{unknown[0]}"; {suggest(unknown[0], allowed)}')
    try:
        line = msgspec.convert(record, shape)
    except msgspec.ValidationError as error:
        raise ValueError(f"{kind}: {error}") from None
    return _told(line)


def _shown(kind: Any) -> str:
    return f'"{kind}"' if isinstance(kind, str) else type(kind).__name__


def _told(line: _Line) -> Told:  # noqa: C901, PLR0911  (one line a type)
    match line:
        case _Said(type="reasoning"):
            return Told(event=Reasoning(text=line.text, **_shared(line)))
        case _Said():
            return Told(event=AssistantMessage(text=line.text, **_shared(line)))
        case _Called():
            return Told(event=_call(line))
        case _Returned():
            return Told(event=_result(line))
        case _Noted(kind=kind, text=text, data=data):
            return Told(event=SystemEvent(kind=kind, text=text, data=data, **_shared(line)))
        case _Failed():
            return _failed(line)
        case _Replied():
            return Told(step=_step(line))
        case _State(data=state):
            return Told(state=state)
        case _:
            return Told(ends=True)


def _shared(line: _EventLine) -> dict[str, Any]:
    return {
        "at": line.at,
        "step": line.step,
        "agent": line.agent,
        "parent_call_id": line.parent_call_id,
    }


def _call(line: _Called) -> ToolCall:
    arguments = read_arguments(line.arguments)
    return ToolCall(
        call_id=line.call_id,
        name=line.name,
        arguments=arguments.value,
        arguments_text=arguments.text,
        **_shared(line),
    )


def _result(line: _Returned) -> ToolResult:
    """Return a result without a name, which is that of the call it answers."""
    output = read_output({"content": line.output})
    return ToolResult(
        call_id=line.call_id,
        name=None,
        output=output.text,
        ok=line.ok and output.ok,
        structured=output.structured if line.structured is None else line.structured,
        **_shared(line),
    )


def _failed(line: _Failed) -> Told:
    if line.code is None and line.retry_after is not None:
        raise ValueError("error: retry_after stands beside a code")
    if line.code is not None and line.code not in CODES:
        raise ValueError(f'error: unknown code "{line.code}"; {list_names(sorted(CODES))}')
    kind = line.kind if line.code is None else line.code
    event = ErrorEvent(kind=kind, message=line.message, **_shared(line))
    if line.code is None:
        return Told(event=event)
    failure = TargetError(line.message, code=line.code, retry_after=line.retry_after)
    return Told(event=event, failure=failure)


def _step(line: _Replied) -> Step:
    known = {"input_tokens", "output_tokens", "cost_usd"}
    if unknown := sorted(line.usage.keys() - known):
        raise ValueError(f'step: unknown field "usage.{unknown[0]}"; {list_names(sorted(known))}')
    usage = read_usage({**line.usage, "cost": line.usage.get("cost_usd")})
    for name, number in line.usage.items():
        if number is not None and getattr(usage, name) is None:
            raise ValueError(f'step: "usage.{name}" is no number from 0; tokens are whole numbers')
    return Step(
        usage=usage,
        model=line.model,
        stop_reason=line.stop_reason,
        seconds=line.seconds,
    )
