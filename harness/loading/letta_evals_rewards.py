"""The key `reward` of letta-evals: the grader that decides, or a function that composes a score.

Source: letta-evals 0.21 to 0.26.
"""

from collections.abc import Collection
from dataclasses import dataclass

from harness.documents.nodes import Entry, Location, Table, describe
from harness.loading.gate_entries import check_metric
from harness.loading.letta_evals_keys import scalar
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest

_KINDS = ("metric", "custom")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReward:
    """A reward of `kind: metric`."""

    kind: str
    metric_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomReward:
    """A reward of `kind: custom`."""

    kind: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LettaReward:
    """The grader that decides; `entry` is what to add to the graders for it, where it is new."""

    grader: str
    entry: Entry | None = None


def read_reward(
    location: Location, context: LoadContext, names: Collection[str]
) -> LettaReward | None:
    """Read a reward, held against the names of the suite's graders; None where it was a fault."""
    kind = location.text("kind")
    if kind == "metric":
        return _metric(location, context, names)
    if kind == "custom":
        reward = context.bind(CustomReward, location)
        return _custom(location, names) if reward else None
    at = location.child("kind")
    if at is None and isinstance(location.node, Table):
        context.findings.fault(location, '"kind" is missing', f"one of: {', '.join(_KINDS)}")
    else:
        found = f"found {describe((at or location).node)}"
        allowed = suggest(kind or "", _KINDS) if at else "a mapping with a `kind`"
        context.findings.fault(at or location, found, allowed)
    return None


def _metric(location: Location, context: LoadContext, names: Collection[str]) -> LettaReward | None:
    check_metric(location, "metric_key", context, names)
    reward = context.bind(MetricReward, location)
    return LettaReward(grader=reward.metric_key) if reward else None


def _custom(location: Location, names: Collection[str]) -> LettaReward:
    name, number = "reward", 1
    while name in names:
        number += 1
        name = f"reward-{number}"
    position = location.node.position
    function = location.child("function") or location
    entries = {
        "name": Entry(node=scalar(name, position), position=position),
        "kind": Entry(node=scalar("tool", position), position=position),
        "function": Entry(
            node=function.node, position=location.key_position("function"), path=function.path
        ),
    }
    table = Table(entries=entries, position=position)
    return LettaReward(grader=name, entry=Entry(node=table, position=position, path=location.path))
