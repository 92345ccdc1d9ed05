"""Eval specs of Vally (0.1 to 0.18), put as native suites have them.

A stimulus becomes a sample with graders of its own, `defaults` (formerly `config`) become epochs
and limits. Faults show the user's own keys and lines. What only matters to those who drive an
agent, and which no target can honour, is kept for `run` to refuse by its name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.documents.nodes import (
    Entry,
    Listing,
    Location,
    Node,
    Scalar,
    Table,
    describe,
    is_null,
    text_of,
)
from harness.loading.letta_evals_keys import scalar
from harness.loading.load_context import LoadContext
from harness.loading.vally_durations import read_seconds
from harness.loading.vally_environments import Environments
from harness.loading.vally_stimuli import read_stimuli
from harness.system.suggestions import suggest
from harness.types.errors import Fault
from harness.types.suites import MOST_EPOCHS

_EXECUTORS = ("copilot-sdk", "mock", "claude-cli")
_DEFAULT_TIMEOUT = 120.0  # seconds
_SETTINGS = ("defaults", "config")
_Effort = Literal["low", "medium", "high", "xhigh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VallyHead:
    """What a spec says beside its stimuli, settings and scoring."""

    name: str = field(metadata={"min_length": 1})
    description: str = ""
    version: Any = None
    type: Literal["capability", "regression"] | None = None
    tags: Any = None
    metadata: Any = None
    environment: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VallyDefaults:
    """How trials are run; `executor` and `timeout` are looked at by themselves."""

    runs: int = field(default=1, metadata={"ge": 0, "le": MOST_EPOCHS})
    timeout: Any = None
    model: str | None = None
    judge_model: str | None = None
    executor: Any = None
    reasoning_effort: _Effort | None = None
    judge_reasoning_effort: _Effort | None = None
    judge_provider: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VallySuite:
    """A spec as a native document; `grade_only` is what keeps it from being run."""

    node: Node
    grade_only: tuple[Fault, ...]


def is_vally(node: Node) -> bool:
    """Say whether a document is an eval spec of Vally."""
    return isinstance(node, Table) and "stimuli" in node.entries


def native_vally(node: Node, context: LoadContext) -> VallySuite:
    """Return a spec in the native spelling; faults go to the findings."""
    spec = Location(node)
    context.bind(VallyHead, spec.without("stimuli", "scoring", *_SETTINGS), also=_OWN)
    settings = _settings(spec, context)
    environments = Environments(context)
    stimuli = read_stimuli(spec, context, environments)
    refused = [*environments.refusals(spec), *_unhonoured(settings, context), *stimuli.grade_only]
    entries = {
        # One that is missing was reported.
        "name": Entry(node=scalar("spec")),
        **_kept(spec, "name", "description"),
        **_run_entries(settings, context),
        "samples": Entry(
            node=stimuli.samples, position=spec.key_position("stimuli"), path="stimuli"
        ),
        **_scoring(spec),
    }
    native = Table(entries=entries, position=spec.node.position)
    return VallySuite(node=native, grade_only=tuple(refused))


_OWN = ("stimuli", "scoring", *_SETTINGS)


def _kept(spec: Location, *keys: str) -> dict[str, Entry]:
    entries: Mapping[str, Entry] = spec.node.entries if isinstance(spec.node, Table) else {}
    return {key: entries[key] for key in keys if key in entries}


def _settings(spec: Location, context: LoadContext) -> Location | None:
    """Return the settings under their present or their former name, checked."""
    given = [at for key in _SETTINGS if (at := spec.child(key)) and not is_null(at.node)]
    if len(given) > 1:
        problem = "`defaults` and `config` are both given"
        context.findings.fault(given[1], problem, "one of the two: they mean the same")
    if not given:
        return None
    context.bind(VallyDefaults, given[0])
    if model := given[0].text("model"):
        problem = f'the models are those of the target, not "{model}"'
        context.findings.note_key(given[0], "model", problem, "name it with --model")
    _check_executor(given[0], context)
    return given[0] if isinstance(given[0].node, Table) else None


def _check_executor(settings: Location, context: LoadContext) -> None:
    if not isinstance(settings.node, Table):
        return
    at = settings.child("executor")
    if at is None:
        context.findings.fault(settings, '"executor" is missing', _listed_executors())
        return
    named = at.child("name") if isinstance(at.node, Table) else at
    name = text_of(named.node) if named else None
    if not name or not name.strip():
        context.findings.fault(named or at, "the executor has no name", _listed_executors())
    elif name not in _EXECUTORS and "/" not in name:
        allowed = f"{suggest(name, _EXECUTORS)}; or the name of a package, such as @scope/name"
        context.findings.fault(named or at, f'unknown executor "{name}"', allowed)


def _listed_executors() -> str:
    return f"one of {', '.join(_EXECUTORS)}, or the name of a package, such as @scope/name"


def _run_entries(settings: Location | None, context: LoadContext) -> dict[str, Entry]:
    """Return epochs and limits."""
    runs = settings.child("runs") if settings else None
    timeout = settings.child("timeout") if settings else None
    seconds = _seconds(timeout, context)
    limits = {
        "trial_seconds": _entry(scalar(seconds), timeout),
        "turn_seconds": _entry(scalar(None)),
    }
    entries = {"limits": Entry(node=Table(entries=limits))}
    number = runs.node.value if runs and isinstance(runs.node, Scalar) else None
    if runs is not None and isinstance(number, int) and number >= 1:
        entries["epochs"] = _entry(runs.node, runs)
    return entries


def _seconds(timeout: Location | None, context: LoadContext) -> float:
    if timeout is None or is_null(timeout.node):
        return _DEFAULT_TIMEOUT
    seconds = read_seconds(text_of(timeout.node) or "")
    if seconds is None:
        allowed = "a duration with its unit: 30000ms, 300s, 5m or 1h"
        context.findings.fault(timeout, f"found {describe(timeout.node)}", allowed)
    return seconds or _DEFAULT_TIMEOUT


def _entry(node: Node, written: Location | None = None) -> Entry:
    if written is None:
        return Entry(node=node)
    return Entry(node=node, position=written.node.position, path=written.path)


def _scoring(spec: Location) -> dict[str, Entry]:
    """Return when a trial passes, and the gate that the spec as a whole has to meet.

    With a threshold the mean of the trials' scores has to reach it, without one every trial passes.
    """
    scoring = spec.child("scoring")
    threshold = scoring.child("threshold") if scoring else None
    decides = threshold is not None and not is_null(threshold.node)
    value = _entry(threshold.node, threshold) if decides and threshold else _entry(scalar(1.0))
    gate = {
        "metric": _entry(scalar("trial")),
        "aggregation": _entry(scalar("mean" if decides else "pass_rate")),
        "op": _entry(scalar("gte")),
        "value": value,
    }
    gates = Entry(node=Listing(items=(Table(entries=gate),)))
    if scoring is None or is_null(scoring.node):
        return {"gates": gates}
    return {"scoring": _entry(scoring.without("weights").node, scoring), "gates": gates}


def _unhonoured(settings: Location | None, context: LoadContext) -> Iterator[Fault]:
    """Return the settings that a run cannot honour."""
    for key, problem, allowed in _REFUSED:
        at = settings.child(key) if settings else None
        if at is None or is_null(at.node):
            continue
        if key != "runs" or (isinstance(at.node, Scalar) and at.node.value == 0):
            yield context.findings.make(at.path, at.node.position, problem, allowed)


_REFUSED = (
    ("runs", "with 0 runs a spec is only checked", "1 or more; or `regrade validate`"),
    ("reasoning_effort", "no target takes it from the spec", "set it in `request` of the target"),
)
