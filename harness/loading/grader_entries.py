"""The entries of `graders`: a mapping or a list, each bound to the grader it names."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from harness.documents.nodes import Listing, Location, Table, describe, is_null
from harness.documents.shapes import option_hints
from harness.loading.code_files import is_code_ref
from harness.loading.custom_functions import FunctionNeeds
from harness.loading.fingerprints import fingerprint
from harness.loading.grader_options import GraderEntry
from harness.loading.grader_parts import (
    BoundPart,
    GraderType,
    bind_extractor_part,
    bind_grader_part,
    find_grader_type,
    name_of,
)
from harness.loading.letta_evals_graders import JUDGE, JUDGES, native_grader
from harness.loading.load_context import LoadContext
from harness.loading.misplaced_keys import put_right
from harness.system.suggestions import suggest
from harness.types.grades import RECORDED, Role
from harness.types.suites import GraderSpec

TRIAL_METRIC = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """What the entries came to: bound graders, the names in use, functions yet to be checked.

    `names` has every entry's name, also of those that are broken.
    """

    specs: tuple[GraderSpec, ...] = ()
    names: Mapping[str, Location] = field(default_factory=dict)
    needs: tuple[FunctionNeeds, ...] = ()

    @property
    def kinds(self) -> set[str]:
        """Return what the entries name as their graders."""
        return {name_of(at) for at in self.names.values()}


def bind_graders(location: Location, context: LoadContext, *, role: Role) -> Entries:
    """Bind every entry; `role` is that of graders which name none."""
    names = _name_entries(location, context)
    made = [_bind_entry(name, at, context, role) for name, at in names.items()]
    bound = [entry for entry in made if entry is not None]
    return Entries(
        specs=tuple(spec for spec, _ in bound),
        names=names,
        needs=tuple(needs for _, all_needs in bound for needs in all_needs),
    )


def bind_row_graders(
    location: Location | None, context: LoadContext, *, role: Role, taken: Collection[str]
) -> Entries:
    """Bind the graders of one sample; a name that the suite's graders have is a fault."""
    if location is None:
        return Entries()
    entries = bind_graders(location, context, role=role)
    for name, at in entries.names.items():
        if name in taken:
            context.findings.fault(at, f'the suite has a grader "{name}" already', "another name")
    return entries


def _name_entries(location: Location, context: LoadContext) -> dict[str, Location]:
    if isinstance(location.node, Table):
        names = dict(location.children())
    elif isinstance(location.node, Listing):
        names = _name_listed(location, context)
    elif is_null(location.node):
        names = {}
    else:
        found = f"found {describe(location.node)}"
        context.findings.fault(location, found, "a mapping by name, or a list")
        return {}
    if not names:
        context.findings.fault(location, "there is no grader", "a suite has at least one")
    for name, at in names.items():
        problem = f'a grader cannot be called "{name}"'
        if name == TRIAL_METRIC or not name.strip():
            context.findings.fault(at, problem, '"trial" stands for the trial as a whole')
        elif name.startswith(RECORDED):
            allowed = f'"{RECORDED}..." stands for what a record says of its own result'
            context.findings.fault(at, problem, allowed)
    return names


def _name_listed(location: Location, context: LoadContext) -> dict[str, Location]:
    given = {name for at in location.items() if (name := at.text("name")) is not None}
    names: dict[str, Location] = {}
    for at in location.items():
        name = at.text("name")
        if name is None:
            name = _unused(name_of(at) or "grader", given | set(names))
        elif name in names:
            line = names[name].node.position.line
            shown = f"; the other is on line {line}" if line else ""
            problem = f'there are two graders called "{name}"{shown}'
            context.findings.fault(at.child("name") or at, problem, "names are unique")
            continue
        names[name] = at
    return names


def _unused(base: str, taken: set[str]) -> str:
    plain = base.rpartition(":")[2] if is_code_ref(base) else base
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name


def _bind_entry(
    name: str, location: Location, context: LoadContext, role: Role
) -> tuple[GraderSpec, list[FunctionNeeds]] | None:
    """Bind one entry; None where that was a fault, and all of its parts were looked at."""
    native = native_grader(location, context)
    if native is None or _has_other_kind(native, context):
        return None
    foreign = () if native is location else option_hints(context.plugins.graders[JUDGE])
    location = native
    grader_type = find_grader_type(location, context)
    if isinstance(grader_type, type):
        inner, own = option_hints(grader_type), option_hints(GraderEntry)
        location = put_right(location, context.findings, "config", own=own, inner=inner)
    entry = context.bind(GraderEntry, location, foreign=foreign)
    isolation = entry.isolation if entry else "thread"
    grader = bind_grader_part(location, context, grader_type, isolation) if grader_type else None
    parts = _bind_parts(location, context, grader_type)
    _refuse_two_thresholds(location, context, grader_type)
    extractor = bind_extractor_part(location, context, grader)
    if entry is None or grader is None or extractor is None or parts is None:
        return None
    shown = entry.display_name or entry.name or ""
    spec = GraderSpec(
        name=name,
        display_name="" if shown == name else shown,
        kind=name_of(location),
        grader=grader.plugin,
        extractor=extractor.plugin,
        turn=entry.turn,
        weight=entry.weight,
        threshold=entry.threshold,
        op=entry.op,
        role=entry.role or role,
        fingerprint=_fingerprint(entry, name_of(location), grader, extractor),
        fault=grader.fault or extractor.fault,
    )
    spec = _with_parts(spec, parts.specs)
    return spec, [*(part.needs for part in (grader, extractor) if part.needs), *parts.needs]


def _refuse_two_thresholds(
    location: Location, context: LoadContext, grader_type: GraderType | None
) -> None:
    """Report a threshold of an entry whose grader has one of its own among its options."""
    option, config = getattr(grader_type, "threshold_option", None), location.child("config")
    if option and config and config.child(option) and (at := location.child("threshold")):
        problem = f"`threshold` and `config.{option}` are both given"
        context.findings.fault(at, problem, "one of the two")


def _bind_parts(
    location: Location, context: LoadContext, grader_type: GraderType | None
) -> Entries | None:
    """Bind the graders that a combining grader is made of; None where that was a fault."""
    option, config = getattr(grader_type, "parts_option", None), location.child("config")
    at = config.child(option) if option and config else None
    if at is None:
        return Entries()  # of another grader, or the check of the options says that it is missing
    before = len(context.findings.faults)
    context = replace(context, refuses_lint=True)
    if grader_type and getattr(grader_type, "parts_single", False):
        written = [at]
        made = _bind_entry(name_of(at) or "grader", at, context, "required")
        entries = Entries(specs=(made[0],), needs=tuple(made[1])) if made else None
    else:
        written = [*at.items(), *(child for _, child in at.children())]
        entries = bind_graders(at, context, role="required")
    for part in written:
        for key in ("role", "weight"):
            if part.child(key):
                problem = f"a part of a combination has no `{key}`"
                context.findings.key_fault(part, key, problem, "leave it out")
    return entries if len(context.findings.faults) == before else None


def _with_parts(spec: GraderSpec, parts: tuple[GraderSpec, ...]) -> GraderSpec:
    """Return a combination with its parts; the turn of the whole is that of parts without one.

    A single part hands its turn up, so that a turn that was never reached fails the whole.
    """
    if not parts:
        return spec
    turn = parts[0].turn if spec.turn is None and len(parts) == 1 else spec.turn
    parts = tuple(replace(part, turn=turn) if part.turn is None else part for part in parts)
    prints = [spec.fingerprint, *(part.fingerprint for part in parts)]
    return replace(spec, parts=parts, turn=turn, fingerprint=fingerprint("combination", prints))


def _fingerprint(entry: GraderEntry, name: str, grader: BoundPart, extractor: BoundPart) -> str:
    code = [part.code for part in (grader, extractor) if part.code]
    return fingerprint(
        "custom" if grader.code else name,
        grader.plugin,
        extractor.plugin,
        code,
        [entry.turn, entry.threshold, *([entry.op] if entry.op != "gte" else [])],
        type(extractor.plugin).__qualname__,
    )


def _has_other_kind(location: Location, context: LoadContext) -> bool:
    """Say whether an entry is of a kind that is not known, so that nothing is known of its keys."""
    kind, at = location.text("kind"), location.child("kind")
    if kind is None or at is None or kind == "tool":
        return False
    allowed = suggest(kind, ["tool", *JUDGES])
    if kind in context.plugins.graders:
        allowed = f"write `type: {kind}`, or `kind: tool` with a `function`"
    context.findings.fault(at, f'unknown kind of grader "{kind}"', allowed)
    return True
