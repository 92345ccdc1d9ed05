"""Suites as letta-evals (0.2 to 0.26) writes them, put as native suites have them.

Keys of both may be mixed. What is put elsewhere keeps the place where the user wrote it, so that
a fault shows the user's own line and key. docs/letta-evals.md lists what becomes of every key.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.documents.nodes import (
    Entry,
    Listing,
    Location,
    Node,
    Scalar,
    Table,
    describe,
    text_of,
)
from harness.documents.shapes import option_hints
from harness.loading.custom_functions import FunctionNeeds
from harness.loading.grader_parts import name_of
from harness.loading.letta_evals_gates import Decision, LettaGate, read_gate
from harness.loading.letta_evals_keys import NativeKeys, scalar, with_entry
from harness.loading.letta_evals_rewards import read_reward
from harness.loading.letta_evals_targets import (
    DEFAULT_SECONDS,
    OLD_KINDS,
    TARGET_KEYS,
    keep_state,
    native_kind,
    open_variables,
    put_folder,
    put_target,
)
from harness.loading.load_context import LoadContext
from harness.types.suites import Gate, GraderSpec

TOP_KEYS = (
    *("gate", "reward", "grader", "num_runs", "setup_script", "max_concurrent"),
    *("output", "cleanup", "sandbox"),
)
"""The keys of letta-evals beside those that native suites have too."""

_SIGNS = ("gate", "reward", "grader")
_FIRST_NAME = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """A suite in the native spelling, and its gate, which has none.

    `is_rule` says that a trial passes where its scores meet the gate. `composer` is where a
    function is named that composes the reward, with the name of the grader that it became.
    """

    suite: Location
    gate: Gate | None = None
    is_rule: bool = False
    composer: tuple[str, Location] | None = None


def native_suite(suite: Location, context: LoadContext) -> Translated:
    """Return a suite in the native spelling; a native one as it is."""
    keys = NativeKeys(suite, context)
    is_foreign = is_letta_evals(suite)
    _name_the_one_grader(keys)
    put_target(keys)
    _put_top(keys)
    if is_foreign:
        put_folder(keys)
        open_variables(keys)
    if is_foreign and native_kind(suite.child("target")) in TARGET_KEYS:
        _put_default_limits(keys)
    composer = _put_reward(keys)
    gate = _put_gate(keys)
    return Translated(
        suite=keys.at,
        gate=gate.gate if gate else None,
        is_rule=gate is not None and gate.joint,
        composer=composer,
    )


def check_composer(
    translated: Translated, specs: Iterable[GraderSpec], context: LoadContext
) -> None:
    """Report a function of `reward` that makes no reward of the graders' grades."""
    if translated.composer is None:
        return
    name, at = translated.composer
    spec = next((spec for spec in specs if spec.name == name), None)
    if spec is not None and not getattr(spec.grader, "needs_grades", False):
        problem = f"{text_of(at.node)} does not ask for the grades of the others"
        context.findings.fault(at, problem, "a function (ctx), decorated as a reward_composer")


def with_state(suite: Location, needs: Iterable[FunctionNeeds], context: LoadContext) -> Location:
    """Return a suite whose target stores what extractors of letta-evals want of the agent."""
    keys = NativeKeys(suite, context)
    if any(one.style == "letta-evals" and one.wants_state for one in needs):
        keep_state(keys)
    return keys.at


def is_letta_evals(suite: Location) -> bool:
    """Say whether a suite is one of letta-evals, whose defaults count then."""
    target = suite.child("target")
    if any(suite.child(key) for key in _SIGNS):
        return True
    return target is not None and (
        target.text("kind") in OLD_KINDS or target.child("model_handles") is not None
    )


def _name_the_one_grader(keys: NativeKeys) -> None:
    """Refuse the spelling from before the first release, and go on as if it were put right."""
    at = keys.given("grader")
    if at is None or keys.at.child("graders") or not (at.text("kind") or at.text("function")):
        return
    keys.context.findings.key_fault(
        keys.at,
        "grader",
        "one `grader` is the spelling of letta-evals before its first release",
        f"write `graders:`, below it `{_FIRST_NAME}:`, and the lines of the grader below that; "
        "the rest of the suite can stay",
    )
    keys.take("grader")
    keys.put(at, at.node, "graders", _FIRST_NAME)


def _put_top(keys: NativeKeys) -> None:
    if keys.given("description") is None:
        keys.take("description")
    keys.move(("num_runs",), "epochs")
    keys.move(("max_concurrent",), "limits", "concurrency")
    _put_setup(keys)
    _put_selection(keys)
    _put_cleanup(keys)
    findings, suite = keys.context.findings, keys.at
    if keys.take("output") is not None:
        findings.note_key(
            suite, "output", "has no effect: every run has a directory of its own under --out"
        )
    if keys.take("sandbox") is not None:
        findings.key_fault(
            suite,
            "sandbox",
            "Regrade starts no Modal sandbox, and does not run outside of one unasked",
            "leave it out to drive the agents on this machine",
        )


def _put_setup(keys: NativeKeys) -> None:
    if keys.given("setup_script") is None or keys.given("target") is not None:
        keys.move(("setup_script",), "target", "setup_script")
    elif (at := keys.take("setup_script")) is not None:
        problem = "there is no target that could be set up"
        keys.context.findings.fault(at, problem, "leave it out, or write a `target`")


def _put_selection(keys: NativeKeys) -> None:
    suite, limit = keys.at, keys.given("max_samples")
    value = limit.node.value if limit and isinstance(limit.node, Scalar) else None
    if value == 0 and not isinstance(value, bool):
        keys.take("max_samples")
        problem = "0 takes all samples, as in letta-evals"
        keys.context.findings.note_key(suite, "max_samples", problem, "leave it out")


def _put_cleanup(keys: NativeKeys) -> None:
    """Keep the agents where the suite says so; that they are deleted is the rule here."""
    suite, at = keys.at, keys.take("cleanup")
    if at is None:
        return
    value = at.node.value if isinstance(at.node, Scalar) else None
    if not isinstance(value, bool):
        keys.context.findings.fault(at, f"found {describe(at.node)}", "true or false")
        return
    kind = native_kind(suite.child("target"))
    plugin = keys.context.plugins.targets.get(kind or "")
    if not value and plugin is not None and "keep_agents" in option_hints(plugin):
        keys.put(at, scalar(True, at.node.position), "target", "keep_agents")
    elif not value:
        problem = "has no effect: the agents that Regrade makes are deleted"
        keys.context.findings.note_key(suite, "cleanup", problem)


def _put_default_limits(keys: NativeKeys) -> None:
    limits = keys.at.child("limits")
    if limits is None or not (limits.child("trial_seconds") or limits.child("turn_seconds")):
        keys.default(DEFAULT_SECONDS, "limits", "trial_seconds")
        keys.default(None, "limits", "turn_seconds")


def _put_gate(keys: NativeKeys) -> LettaGate | None:
    """Read the gate, and say of every grader whether it decides."""
    at = keys.take("gate")
    if at is None:
        return None
    gate = read_gate(at, keys.context, _grader_names(keys.at.child("graders")))
    if gate is not None:
        _decide(keys, at, gate.decisions, joint=gate.joint)
    return gate


def _put_reward(keys: NativeKeys) -> tuple[str, Location] | None:
    """Read the reward, and say of every grader whether it decides; return a composer."""
    at = keys.take("reward")
    if at is None:
        return None
    if gate := keys.take("gate"):
        problem = "`gate` and `reward` are both given"
        keys.context.findings.fault(gate, problem, "one of the two; or `gates:` beside `reward`")
    reward = read_reward(at, keys.context, _grader_names(keys.at.child("graders")))
    if reward is None:
        return None
    _decide(keys, at, {reward.grader: Decision()}, joint=False)
    function = at.child("function")
    if reward.entry is None or function is None:
        return None
    _add_grader(keys, reward.grader, reward.entry)
    return reward.grader, function


def _grader_names(graders: Location | None) -> list[str]:
    if graders is None:
        return []
    if isinstance(graders.node, Listing):
        return [at.text("name") or name_of(at) for at in graders.items()]
    return [name for name, _ in graders.children()]


def _add_grader(keys: NativeKeys, name: str, entry: Entry) -> None:
    graders = keys.at.child("graders")
    if graders is not None and isinstance(graders.node, Listing):
        items = (*graders.node.items, entry.node)
        keys.at = _with_graders(keys.at, replace(graders.node, items=items))
    elif graders is not None:
        keys.at = _with_graders(keys.at, with_entry(graders.node, (name,), entry))


def _decide(
    keys: NativeKeys, at: Location, decisions: Mapping[str, Decision], *, joint: bool
) -> None:
    """Write into the entries of graders what decides; what an entry says itself stays."""
    graders = keys.at.child("graders")
    if graders is None:
        return
    deciding = "scored" if joint else "required"
    if isinstance(graders.node, Listing):
        made = [
            _decided(one.node, decisions.get(one.text("name") or name_of(one)), deciding, at)
            for one in graders.items()
        ]
        keys.at = _with_graders(keys.at, replace(graders.node, items=tuple(made)))
    elif isinstance(graders.node, Table):
        entries = {
            name: replace(entry, node=_decided(entry.node, decisions.get(name), deciding, at))
            for name, entry in graders.node.entries.items()
        }
        keys.at = _with_graders(keys.at, replace(graders.node, entries=entries))


def _decided(node: Node, decision: Decision | None, deciding: str, at: Location) -> Node:
    if not isinstance(node, Table):
        return node
    said: dict[str, str | float | None] = {"role": "observed"}
    if decision is not None:
        said = {"role": deciding, "threshold": decision.threshold, "weight": decision.weight}
        said |= {"op": decision.op} if decision.op != "gte" else {}
    position = at.node.position
    added = {
        key: Entry(node=scalar(value, position), position=position, path=at.path)
        for key, value in said.items()
        if value is not None and key not in node.entries
    }
    return replace(node, entries={**node.entries, **added})


def _with_graders(suite: Location, graders: Node) -> Location:
    if not isinstance(suite.node, Table):
        return suite
    entry = replace(suite.node.entries["graders"], node=graders)
    return Location(with_entry(suite.node, ("graders",), entry), suite.path)
