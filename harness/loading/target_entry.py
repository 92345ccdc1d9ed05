"""The entry `target`: its kind, its models, and the target bound to its options."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness.documents.nodes import Listing, Location, Table, describe, is_null, text_of
from harness.documents.shapes import option_hints
from harness.loading.environment import expand_node
from harness.loading.fingerprints import fingerprint
from harness.loading.letta_evals_targets import TARGET_KEYS
from harness.loading.linting import lint, lint_models, lint_target_files, lint_target_keys
from harness.loading.load_context import LoadContext
from harness.system.suggestions import list_names, suggest
from harness.system.texts import error_line
from harness.types.code import Fixture, SuitePath
from harness.types.suites import SCRIPTED, TargetSpec

DEFAULT_MODEL = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetHead:
    """What every target has, whatever its kind."""

    kind: str = field(default="", metadata={"description": "The kind of agent."})
    models: tuple[str, ...] | None = field(
        default=None, metadata={"min_length": 1, "description": "The models to run, in order."}
    )
    model: str | None = field(default=None, metadata={"description": "The one model to run."})
    script: SuitePath | None = field(
        default=None, metadata={"description": "What the models called scripted/... say."}
    )


_HEAD = frozenset(option_hints(TargetHead))


def verbatim_options(target: type[Any]) -> frozenset[str]:
    """Return the options of a target that are prose, in which `${NAME}` is left alone."""
    return frozenset(f.name for f in fields(target) if f.metadata.get("verbatim"))


def bind_target(
    location: Location, context: LoadContext, environ: Mapping[str, str] | None
) -> TargetSpec | None:
    """Bind the target; None where that was a fault."""
    if not isinstance(location.node, Table):
        context.findings.fault(
            location, f"found {describe(location.node)}", "a mapping with a `kind`"
        )
        return None
    kind = location.text("kind")
    known = context.plugins.targets
    target_type = known.get(kind) if kind is not None else None
    verbatim = verbatim_options(target_type) if target_type else frozenset()
    node, unset = expand_node(
        location, os.environ if environ is None else environ, verbatim=verbatim | {"kind"}
    )
    for at, problem in unset:
        context.findings.reference(at, problem)
    before = len(context.findings.faults)
    expanded, inside = Location(node, location.path), context.already_expanded()
    head = _bind_head(expanded, inside, target_type)
    if kind is not None and target_type is None:
        at = location.child("kind") or location
        context.findings.fault(at, f'unknown kind of target "{kind}"', suggest(kind, known))
    target = _bind_options(expanded, inside, target_type) if target_type else None
    if unset:
        # A value that could not be filled in is no second fault for being what it is.
        paths = {at.path for at, _ in unset}
        later = context.findings.faults[before:]
        context.findings.faults[before:] = [fault for fault in later if fault.path not in paths]
    if head is None or target is None or unset:
        return None
    models = head.models or ((head.model,) if head.model is not None else (DEFAULT_MODEL,))
    lint_target_keys(target, models, expanded, context)
    lint_target_files(target, expanded, context)
    lint_models(target, models, expanded, context)
    return TargetSpec(
        kind=head.kind,
        models=models,
        target=target,
        script=head.script,
        fingerprint=fingerprint(head.kind, target, head.script, *_keyed_parts(target, context)),
        folder=context.folder.path,
    )


def _keyed_parts(target: Any, context: LoadContext) -> Sequence[Any]:
    """Return what a target says of itself beside its options: its files."""
    parts = getattr(target, "keyed_parts", None)
    return [parts(context.folder.path)] if callable(parts) else []


def _bind_head(
    location: Location, context: LoadContext, target_type: type[Any] | None
) -> TargetHead | None:
    if location.child("kind") is None:
        known = list_names(sorted(context.plugins.targets))
        context.findings.fault(location, '"kind" is missing', known)
    # Without a known kind nothing is known of the other keys, so none of them is a fault.
    others = option_hints(target_type) if target_type else {key for key, _ in location.children()}
    before = len(context.findings.faults)
    head = context.bind(TargetHead, location, also=others, foreign=_foreign(location, context))
    _check_models(location, context)
    _check_given(location, target_type, context)
    return head if len(context.findings.faults) == before else None


def _foreign(location: Location, context: LoadContext) -> Collection[str]:
    """Return the keys that the author may know a target's options by."""
    kind = location.text("kind") or ""
    return TARGET_KEYS.get(kind, ()) if context.dialect == "letta-evals" else ()


def _check_given(location: Location, target_type: type[Any] | None, context: LoadContext) -> None:
    given = [at for key in ("models", "model") if (at := location.child(key))]
    for at in given:
        if is_null(at.node):
            context.findings.fault(at, "found nothing", "names of models, or leave it out")
    if not given and getattr(target_type, "needs_models", False):
        other = " or `model_handles:`" if location.text("kind") in TARGET_KEYS else ""
        allowed = f"`models:`{other} under `target` lists the models to run"
        context.findings.fault(location, "no model is named", allowed)


def _check_models(location: Location, context: LoadContext) -> None:
    listed, single = location.child("models"), location.child("model")
    if listed and single:
        context.findings.fault(single, "`model` and `models` are both given", "one of the two")
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
            context.findings.fault(model, "this is no name of a model", "a text on one line")
        elif name in seen:
            context.findings.fault(model, f'the model "{name}" is listed twice', "each model once")
        elif name.startswith(SCRIPTED) and location.child("script") is None:
            context.findings.fault(
                model, f'"{name}" needs a script', "`script:` under `target` says what it answers"
            )
        seen.add(name)


def _bind_options(location: Location, context: LoadContext, target_type: type[Any]) -> Any:
    # An unknown key is the same fault here as with the head, and shown once.
    foreign = _foreign(location, context)
    target = context.bind(target_type, location, free="json", also=_HEAD, foreign=foreign)
    if target is not None:
        lint(target, location, context)
    return target


def check_target(
    target: Any, suite: Location, context: LoadContext, fixtures: Collection[Fixture]
) -> None:
    """Report what a target finds wrong with the user's code, now that the fixtures are known."""
    # A file that cannot be loaded may hold the very fixture that is asked for.
    if not hasattr(target, "check") or context.code is None or context.code.faults:
        return
    try:
        found = list(target.check(frozenset(fixture.name for fixture in fixtures)))
    except Exception as error:  # noqa: BLE001  (a plug-in's own check may raise anything)
        at = suite.child("target") or suite
        context.findings.fault(at, f"the target's check broke: {error_line(error)}")
        return
    folder = context.folder
    context.findings.faults.extend(
        replace(fault, file=folder.show(folder.path / fault.file)) for fault in found
    )
