"""The entry `target`: its kind, its models, and the target bound to its options."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness.loading.binding import Manner, bind
from harness.loading.environment import expand_node
from harness.loading.fingerprints import fingerprint
from harness.loading.linting import lint
from harness.loading.nodes import Listing, Spot, Table, describe, text_of
from harness.loading.shapes import option_hints
from harness.loading.workbench import Workbench
from harness.system.suggestions import find_close, list_names, suggest
from harness.system.texts import error_line
from harness.types.code import Fixture, SuitePath
from harness.types.suites import TargetSpec

DEFAULT_MODEL = "default"
SCRIPTED = "scripted/"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetHead:
    """What every target has, whatever its kind."""

    kind: str = field(metadata={"description": "The kind of agent."})
    models: tuple[str, ...] | None = field(
        default=None, metadata={"min_length": 1, "description": "The models to run, in order."}
    )
    model: str | None = field(default=None, metadata={"description": "The one model to run."})
    script: SuitePath | None = field(
        default=None, metadata={"description": "What the models called scripted/... say."}
    )


_HEAD = frozenset(option_hints(TargetHead))


def verbatim_options(target: type[Any]) -> frozenset[str]:
    """Give the options of a target that are prose, in which `${NAME}` is left alone."""
    return frozenset(f.name for f in fields(target) if f.metadata.get("verbatim"))


def bind_target(
    spot: Spot, bench: Workbench, environ: Mapping[str, str] | None
) -> TargetSpec | None:
    """Bind the target; None where that was a fault."""
    if not isinstance(spot.node, Table):
        bench.findings.fault(spot, f"found {describe(spot.node)}", "a mapping with a `kind`")
        return None
    kind = spot.text("kind")
    known = bench.plugins.targets
    target_type = known.get(kind) if kind is not None else None
    verbatim = verbatim_options(target_type) if target_type else frozenset()
    node, unset = expand_node(
        spot, os.environ if environ is None else environ, verbatim=verbatim | {"kind"}
    )
    for at, problem in unset:
        bench.report(at, problem)
    before = len(bench.findings.faults)
    expanded, inside = Spot(node, spot.path), bench.already_expanded()
    head = _bind_head(expanded, inside, target_type)
    if kind is not None and target_type is None:
        at = spot.child("kind") or spot
        bench.findings.fault(at, f'unknown kind of target "{kind}"', suggest(kind, known))
    target = _bind_options(expanded, inside, target_type) if target_type else None
    if unset:
        # A value that could not be filled in is no second fault for being what it is.
        paths = {at.path for at, _ in unset}
        later = bench.findings.faults[before:]
        bench.findings.faults[before:] = [fault for fault in later if fault.path not in paths]
    if head is None or target is None or unset:
        return None
    return TargetSpec(
        kind=head.kind,
        models=head.models or ((head.model,) if head.model is not None else (DEFAULT_MODEL,)),
        target=target,
        script=head.script,
        fingerprint=fingerprint(head.kind, target, head.script),
    )


def _bind_head(spot: Spot, bench: Workbench, target_type: type[Any] | None) -> TargetHead | None:
    if spot.child("kind") is None:
        bench.findings.fault(spot, '"kind" is missing', list_names(sorted(bench.plugins.targets)))
    # Without a known kind nothing is known of the other keys, so none of them is a fault.
    options = set(option_hints(target_type)) if target_type else {k for k, _ in spot.children()}
    manner = Manner(handled=frozenset(options), excused=frozenset({"kind"}))
    before = len(bench.findings.faults)
    head = bind(TargetHead, spot, bench, manner=manner)
    _check_models(spot, bench)
    return head if len(bench.findings.faults) == before else None


def _check_models(spot: Spot, bench: Workbench) -> None:
    listed, single = spot.child("models"), spot.child("model")
    if listed and single:
        bench.findings.fault(single, "`model` and `models` are both given", "one of the two")
    at = [
        *(listed.items() if listed and isinstance(listed.node, Listing) else []),
        *filter(None, [single]),
    ]
    seen: set[str] = set()
    for model in at:
        name = text_of(model.node)
        if name is None:
            continue
        if not name.strip() or not name.isprintable():
            bench.findings.fault(model, "this is no name of a model", "a text on one line")
        elif name in seen:
            bench.findings.fault(model, f'the model "{name}" is listed twice', "each model once")
        elif name.startswith(SCRIPTED) and spot.child("script") is None:
            bench.findings.fault(
                model, f'"{name}" needs a script', "`script:` under `target` says what it answers"
            )
        seen.add(name)


def _bind_options(spot: Spot, bench: Workbench, target_type: type[Any]) -> Any:
    own = spot.without(*_HEAD)
    # Keys that are no options were reported with the head.
    unknown = [key for key, _ in own.children() if key not in option_hints(target_type)]
    meant = frozenset(
        close for key in unknown if (close := find_close(key, option_hints(target_type)))
    )
    manner = Manner(free="json", excused=meant)
    target = bind(target_type, own.without(*unknown), bench, manner=manner)
    if target is not None:
        lint(target, spot, bench)
    return target


def check_target(target: Any, suite: Spot, bench: Workbench, fixtures: Collection[Fixture]) -> None:
    """Report what a target finds wrong with the user's code, now that the fixtures are known."""
    check = getattr(target, "check", None)
    # A file that cannot be loaded may hold the very fixture that is asked for.
    if not callable(check) or bench.code is None or bench.code.faults:
        return
    try:
        found = list(check(frozenset(fixture.name for fixture in fixtures)))
    except Exception as error:  # noqa: BLE001  (a plug-in's own check may raise anything)
        at = suite.child("target") or suite
        bench.findings.fault(at, f"the target's check broke: {error_line(error)}")
        return
    folder = bench.folder
    bench.findings.faults.extend(
        replace(fault, file=folder.show(folder.path / fault.file)) for fault in found
    )
