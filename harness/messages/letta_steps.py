"""The steps of a turn of Letta: messages come in, each model reply's index and usage go out.

A step is one reply of the model. The server numbers them by `step_id`, Letta Code's own backend by
`run_id`. A reply without either belongs to the step before it, or to a new one after a result.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from harness.messages.completions import read_usage, text_or_none
from harness.system.texts import scrub
from harness.types.trajectories import Step, Usage

_MODEL_KEYS = ("api_model_handle", "model_handle", "model")


class LettaSteps:
    """Counts the steps of one turn, and holds what is known of each."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._ids: list[str | None] = []
        self._index: dict[str, int] = {}
        self._unmetered = 0
        self._answered = False
        self._early_stop: str | None = None

    @property
    def all(self) -> tuple[Step, ...]:
        """Return the steps so far, in order.

        A usage that covers several steps stands on the last of them: the sum is right, and that of
        the others is unknown.
        """
        return tuple(self._steps)

    @property
    def ids(self) -> tuple[str | None, ...]:
        """Return the `step_id` of each step; None where the source gives none."""
        return tuple(self._ids)

    def of_reply(self, message: Mapping[str, Any]) -> int:
        """Return the index of the step that a reply belongs to; it may begin the step."""
        known = self._find(message)
        if known is not None:
            return known
        if _keys(message) or not self._steps or self._answered:
            self._begin(message)
        return len(self._steps) - 1

    def of_result(self, message: Mapping[str, Any]) -> int | None:
        """Return the index of the step whose calls a message answers, None before any step."""
        self._answered = True
        known = self._find(message)
        if known is None and self._steps:
            return len(self._steps) - 1
        return known

    def of_other(self, message: Mapping[str, Any]) -> int | None:
        """Return the index of the step that a message names, None for one that names none."""
        return self._find(message)

    def _find(self, message: Mapping[str, Any]) -> int | None:
        keys = _keys(message)
        return self._index.get(keys[0]) if keys else None

    def _begin(self, message: Mapping[str, Any]) -> None:
        for key in _keys(message)[:1]:
            self._index[key] = len(self._steps)
        self._answered = False
        self._ids.append(_text(message.get("step_id")))
        self._steps.append(Step())

    def add_usage(self, message: Mapping[str, Any]) -> None:
        """Add the usage of all steps since the last usage.

        A usage without a step before it is that of a reply that said nothing yet: it begins one.
        """
        usage = read_usage(message)
        if self._unmetered >= len(self._steps):
            if not any((usage.input_tokens, usage.output_tokens, message.get("step_count"))):
                return
            self._begin(message)
            self._steps[-1] = replace(self._steps[-1], stop_reason=self._early_stop)
        self._early_stop = None
        self._unmetered = len(self._steps)
        self._steps[-1] = replace(self._steps[-1], usage=self._steps[-1].usage + usage)

    def add_stop(self, reason: str, message: Mapping[str, Any]) -> None:
        """Say why a step ended: the one that the record names, else the last.

        Where the last step has ended already, it is why the next one did, if only a usage follows.
        """
        index = self._find(message)
        last = self._steps[-1] if self._steps else None
        if index is None and (_keys(message) or last is None or last.stop_reason is not None):
            self._early_stop = reason
            return
        place = len(self._steps) - 1 if index is None else index
        self._steps[place] = replace(self._steps[place], stop_reason=reason)


def _keys(message: Mapping[str, Any]) -> list[str]:
    ids = (_text(message.get("step_id")), _text(message.get("run_id")))
    return [key for key in ids if key is not None]


def _text(value: Any) -> str | None:
    text = text_or_none(value)
    return None if text is None else scrub(text)


def with_step_rows(
    steps: Sequence[Step], ids: Sequence[str | None], rows: Iterable[Mapping[str, Any]]
) -> tuple[Step, ...]:
    """Give steps the usage, model and stop reason that the server's list of steps holds of them.

    `rows` are the items of `runs.steps.list`, in any order. The sum over the turn stays that of the
    reply: what it holds beyond the rows (steps without a row, a compaction's own call) is counted
    for the last step without a row, else for the last step.
    """
    by_id = {row["id"]: row for row in rows if isinstance(row.get("id"), str)}
    found = [by_id.get(one) if one is not None else None for one in ids]
    if not any(found):
        return tuple(steps)
    total = sum((step.usage for step in steps), Usage())
    refined = [_with_row(*pair) for pair in zip(steps, found, strict=True)]
    rest = _difference(total, sum((step.usage for step in refined), Usage()))
    bare = [index for index, row in enumerate(found) if row is None]
    last = bare[-1] if bare else len(refined) - 1
    refined[last] = replace(refined[last], usage=refined[last].usage + rest)
    return tuple(refined)


def _with_row(step: Step, row: Mapping[str, Any] | None) -> Step:
    if row is None:
        return replace(step, usage=Usage())
    models = (_text(row.get(key)) for key in _MODEL_KEYS)
    return replace(
        step,
        usage=read_usage(row),
        model=next(filter(None, models), step.model),
        stop_reason=step.stop_reason or _text(row.get("stop_reason")),
    )


def _difference(whole: Usage, part: Usage) -> Usage:
    def beyond(one: int | None, other: int | None) -> int | None:
        rest = (one or 0) - (other or 0)
        return rest if rest > 0 else None

    return Usage(
        input_tokens=beyond(whole.input_tokens, part.input_tokens),
        output_tokens=beyond(whole.output_tokens, part.output_tokens),
        cost_usd=whole.cost_usd,
    )
