"""Divergences in words that are alike for like differences, and the groups that these make."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from harness.measuring.placed_calls import CallParting
from harness.messages.event_texts import event_text
from harness.system.texts import cut
from harness.types.comparisons import Divergence, DivergenceGroup, DivergenceKind, EventAt
from harness.types.events import Event, ToolCall, ToolResult
from harness.types.trials import Trial

_LONGEST_TEXT = 300
_LONGEST_NAME = 80
_LONGEST_ARGUMENTS = 2_000
_NAMED = 3

_DEFAULT: dict[str, Any] = {}


def divergence(
    kind: DivergenceKind, words: str, *, tool: str | None = None, **places: Any
) -> Divergence:
    """Make a divergence; the name of a tool may be of any length, and is shortened."""
    named = None if tool is None else cut(tool, _LONGEST_NAME)
    return Divergence(kind=kind, words=words, tool=named, **places)


def call_words(kind: CallParting, baseline: str | None, candidate: str | None) -> tuple[str, str]:
    """Return the tool that a difference of calls is about, and the difference in words."""
    one, other = _name(baseline or candidate), _name(candidate or baseline)
    words = {
        "no_call": (one, f"candidate skips `{one}`"),
        "further_call": (other, f"candidate calls `{other}` besides"),
        "other_order": (one, f"candidate calls `{other}` before `{one}`"),
        "other_tool": (one, f"candidate calls `{other}` instead of `{one}`"),
        "other_arguments": (one, f"candidate calls `{one}` with other arguments"),
    }
    if kind == "other_order" and one == other:
        return one, f"candidate makes the calls of `{one}` in another order"
    return words[kind]


def _name(tool: str | None) -> str:
    return cut(tool or "", _LONGEST_NAME)


def argument_words(
    tool: str, differing: Sequence[str], invented: Sequence[str], arguments: Any
) -> str:
    """Say which arguments of a call differ; invented ones, and ones left out, before others."""
    gone = [name for name in differing if name not in (arguments or _DEFAULT)]
    begin = f"candidate calls `{_name(tool)}`"
    if invented:
        return f"{begin} with a made-up {_listed(invented)}"
    if gone:
        return f"{begin} without {_listed(gone)}"
    return f"{begin} with other {_listed(differing) if differing else 'arguments'}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{_name(name)}`" for name in names[:_NAMED])
    return f"{shown}, …" if len(names) > _NAMED else shown


def ending_words(baseline: Trial, candidate: Trial) -> str | None:
    """Say how the ends of two trials differ; None where they do not."""
    one, other = _ending(baseline), _ending(candidate)
    if one == other:
        return None
    if other is None:
        return f"the baseline ended in `{one}`, the candidate does not"
    return f"candidate ends in `{other}`"


def _ending(trial: Trial) -> str | None:
    if trial.status in {"completed", "grading_error"}:
        return None
    return trial.error.code if trial.error else trial.status


def event_at(turn: int, place: int, event: Event, around: str = "") -> EventAt:
    """Show an event, shortened; what it says is cut so that `around` stands in it."""
    named = event.name if isinstance(event, ToolCall | ToolResult) else None
    return EventAt(
        turn=turn,
        event=place,
        type=str(type(event).__struct_config__.tag),
        text=_excerpt(event_text(event), around),
        name=None if named is None else cut(named, _LONGEST_NAME),
        arguments=_arguments(event) if isinstance(event, ToolCall) else None,
    )


def _arguments(call: ToolCall) -> Any:
    # Longer ones are shown as text alone, which is shortened.
    length = len(msgspec.json.encode(call.arguments))
    return call.arguments if length <= _LONGEST_ARGUMENTS else None


def _excerpt(text: str, around: str) -> str:
    start = max(text.find(around) - _LONGEST_TEXT // 2, 0) if around else 0
    if len(text) <= _LONGEST_TEXT:
        start = 0
    return cut(f"…{text[start:]}" if start else text, _LONGEST_TEXT)


def divergence_groups(found: Mapping[str, Divergence], of: int) -> tuple[DivergenceGroup, ...]:
    """Group the first divergences of samples (by id) by what they are, largest group first.

    `of` is how many samples were looked at.
    """
    groups: defaultdict[tuple[DivergenceKind, str, str | None], list[str]] = defaultdict(list)
    for sample_id, one in found.items():
        groups[one.kind, one.words, one.tool].append(sample_id)
    made = [_group(*name, samples, of) for name, samples in groups.items()]
    return tuple(sorted(made, key=lambda group: (-len(group.samples), group.words)))


def _group(
    kind: DivergenceKind, words: str, tool: str | None, samples: Iterable[str], of: int
) -> DivergenceGroup:
    return DivergenceGroup(kind=kind, words=words, tool=tool, samples=tuple(sorted(samples)), of=of)
