"""The entries of `graders`: a mapping or a list, each bound to the grader it names."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.loading.binding import Manner, bind
from harness.loading.code_files import is_code_ref
from harness.loading.custom_functions import Asked, bind_extractor, bind_grader
from harness.loading.fingerprints import fingerprint
from harness.loading.linting import lint
from harness.loading.nodes import Listing, Spot, Table, describe, is_null
from harness.loading.shapes import free_value, option_hints
from harness.loading.workbench import Workbench
from harness.system.suggestions import suggest
from harness.types.code import CodeRef
from harness.types.grades import Role
from harness.types.marks import Isolation
from harness.types.suites import GraderSpec

DEFAULT_EXTRACTOR = "last_assistant"
TRIAL_METRIC = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderEntry:
    """One grader: `kind: tool` with a `function`, or a `type` with its `config`."""

    kind: Literal["tool"] | None = field(
        default=None, metadata={"description": "`tool` names a function that grades a text."}
    )
    function: str | None = field(
        default=None,
        metadata={"description": "With `kind: tool`: a built-in grader, or file.py:function."},
    )
    type: str | None = field(
        default=None, metadata={"description": "Any grader by its name, or file.py:function."}
    )
    config: Mapping[str, Any] | None = field(
        default=None, metadata={"description": "Options of the grader."}
    )
    extractor: str | None = field(
        default=None,
        metadata={
            "description": "What takes the text out of the trajectory: a built-in extractor or "
            "file.py:function; last_assistant if left out."
        },
    )
    extractor_config: Mapping[str, Any] | None = field(
        default=None, metadata={"description": "Options of the extractor."}
    )
    turn: int | None = field(
        default=None,
        metadata={"description": "Grade one user turn alone: 0-based, negative from the end."},
    )
    weight: float = field(
        default=1.0, metadata={"ge": 0, "description": "Weight in the score of a trial."}
    )
    threshold: float = field(
        default=1.0,
        metadata={"ge": 0, "le": 1, "description": "The score from which on a grade has passed."},
    )
    role: Role | None = field(
        default=None,
        metadata={
            "description": "required: its failure fails the trial; scored: it counts in the "
            "weighted mean; observed: it never decides."
        },
    )
    isolation: Isolation = field(
        default="thread",
        metadata={"description": "Where a function of the suite runs: thread or process."},
    )
    name: str | None = field(
        default=None, metadata={"description": "The grader's name, where `graders` is a list."}
    )
    display_name: str | None = field(
        default=None, metadata={"description": "What a person reads in place of the name."}
    )


@dataclass(slots=True)
class Entries:
    """What the entries came to: bound graders, the names in use, functions yet to be checked.

    `names` has every entry's name, also of those that are broken; `kinds` what each names.
    """

    specs: list[GraderSpec] = field(default_factory=list)
    names: dict[str, Spot] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)


def bind_graders(spot: Spot, bench: Workbench, *, role: Role) -> Entries:
    """Bind every entry; `role` is that of graders which name none."""
    entries = Entries()
    for name, at in _named(spot, bench, entries):
        made = bind_entry(name, at, bench, role=role)
        entries.kinds[name] = at.text("type") or at.text("function") or ""
        if made is not None:
            entries.specs.append(made[0])
            entries.asked.extend(made[1])
    return entries


def bind_row_graders(
    spot: Spot | None, bench: Workbench, *, role: Role, taken: Collection[str]
) -> Entries:
    """Bind the graders of one sample; a name that the suite's graders have is a fault."""
    if spot is None or is_null(spot.node):
        return Entries()
    entries = bind_graders(spot, bench, role=role)
    for name, at in entries.names.items():
        if name in taken:
            bench.findings.fault(at, f'the suite has a grader "{name}" already', "another name")
    return entries


def _named(spot: Spot, bench: Workbench, entries: Entries) -> Iterator[tuple[str, Spot]]:
    if isinstance(spot.node, Table):
        found = list(spot.children())
    elif isinstance(spot.node, Listing):
        found = _list_names(spot, bench)
    elif is_null(spot.node):
        found = []
    else:
        allowed = "a mapping by name, or a list"
        bench.findings.fault(spot, f"found {describe(spot.node)}", allowed)
        return
    if not found:
        bench.findings.fault(spot, "there is no grader", "a suite has at least one")
    for name, at in found:
        entries.names[name] = at
        if name == TRIAL_METRIC or not name.strip():
            problem = f'a grader cannot be called "{name}"'
            bench.findings.fault(at, problem, '"trial" stands for the trial as a whole')
        yield name, at


def _list_names(spot: Spot, bench: Workbench) -> list[tuple[str, Spot]]:
    given = {name for at in spot.items() if (name := at.text("name")) is not None}
    names: dict[str, Spot] = {}
    for at in spot.items():
        name = at.text("name")
        if name is None:
            name = _unused(at.text("type") or at.text("function") or "grader", given | set(names))
        elif name in names:
            line = names[name].node.place.line
            shown = f"; the other is on line {line}" if line else ""
            where = at.child("name") or at
            problem = f'there are two graders called "{name}"{shown}'
            bench.findings.fault(where, problem, "names are unique")
            continue
        names[name] = at
    return list(names.items())


def _unused(base: str, taken: set[str]) -> str:
    plain = base.rpartition(":")[2] if is_code_ref(base) else base
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name


def bind_entry(
    name: str, spot: Spot, bench: Workbench, *, role: Role
) -> tuple[GraderSpec, list[Asked]] | None:
    """Bind one entry; None where that was a fault, and all of its parts were looked at."""
    if _has_other_kind(spot, bench):
        return None
    grader_type = _grader_type(spot, bench)
    entry = bind(GraderEntry, spot, bench, manner=_manner(grader_type))
    bound = _bind_parts(spot, bench, grader_type, entry)
    if entry is None or bound is None:
        return None
    spec = GraderSpec(
        name=name,
        display_name=_display_name(entry, name),
        kind=spot.text("type") or spot.text("function") or "",
        grader=bound.grader,
        extractor=bound.extractor,
        turn=entry.turn,
        weight=entry.weight,
        threshold=entry.threshold,
        role=entry.role or role,
        fingerprint=fingerprint(
            bound.kind,
            bound.grader,
            bound.extractor,
            list(bound.code),
            [entry.turn, entry.threshold],
            type(bound.extractor).__qualname__,
        ),
    )
    return spec, bound.asked


def _has_other_kind(spot: Spot, bench: Workbench) -> bool:
    """Say whether an entry is of a kind that is not known, so that nothing is known of its keys."""
    kind, at = spot.text("kind"), spot.child("kind")
    if kind is None or at is None or kind == "tool":
        return False
    allowed = suggest(kind, ["tool"])
    if kind in bench.plugins.graders:
        allowed = f"write `type: {kind}`, or `kind: tool` with a `function`"
    bench.findings.fault(at, f'unknown kind of grader "{kind}"', allowed)
    return True


def _display_name(entry: GraderEntry, name: str) -> str:
    shown = entry.display_name or entry.name or ""
    return "" if shown == name else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The grader and the extractor of an entry, bound to their options."""

    kind: str
    grader: Any
    extractor: Any
    code: tuple[CodeRef, ...]
    asked: list[Asked]


def _bind_parts(
    spot: Spot, bench: Workbench, grader_type: type[Any] | CodeRef | None, entry: GraderEntry | None
) -> _Parts | None:
    asked: list[Asked] = []
    code: list[CodeRef] = []
    isolation: Isolation = entry.isolation if entry else "thread"
    grader = _bind_grader(spot, bench, grader_type, isolation, asked)
    if isinstance(grader_type, CodeRef):
        code.append(grader_type)
    elif entry and entry.isolation != "thread":
        at = spot.child("isolation") or spot
        bench.findings.fault(at, "only a function of the suite can be isolated", "leave it out")
        grader = None
    extractor = _bind_extractor(spot, bench, grader, code=code, asked=asked)
    if grader is None or extractor is _BROKEN:
        return None
    return _Parts(
        kind="custom" if isinstance(grader_type, CodeRef) else _name_of(spot),
        grader=grader,
        extractor=extractor,
        code=tuple(code),
        asked=asked,
    )


def _name_of(spot: Spot) -> str:
    return spot.text("type") or spot.text("function") or ""


_BROKEN = object()


def _grader_type(spot: Spot, bench: Workbench) -> type[Any] | CodeRef | None:
    """Find the grader that an entry names; None where that was a fault."""
    if not isinstance(spot.node, Table):
        return None
    by_type, by_function = spot.child("type"), spot.child("function")
    at = by_type or by_function
    if at is None or (by_type and by_function):
        problem = "names two graders" if at else "names no grader"
        bench.findings.fault(
            spot, f"the entry {problem}", "`kind: tool` with `function`, or `type` with `config`"
        )
        return None
    if by_type and (kind := spot.child("kind")):
        bench.findings.fault(kind, "`kind` and `type` stand in one entry", "one of the two")
    name = spot.text("type") or spot.text("function")
    # Without a name, the check of the entry says what was found.
    return _grader_called(name, at, bench, by_function=by_function is not None) if name else None


def _grader_called(
    name: str, at: Spot, bench: Workbench, *, by_function: bool
) -> type[Any] | CodeRef | None:
    if is_code_ref(name):
        return bench.code_ref(at, name)
    known = bench.plugins.graders
    if name not in known:
        bench.findings.fault(at, f'unknown grader "{name}"', suggest(name, known))
        return None
    if by_function and known[name].reads != "submission":
        problem = f'"{name}" reads the trajectory, not a text taken out of it'
        bench.findings.fault(at, problem, f"write `type: {name}`")
        return None
    return known[name]


def _manner(grader_type: type[Any] | CodeRef | None) -> Manner:
    options = option_hints(grader_type) if isinstance(grader_type, type) else {}
    return Manner(elsewhere=dict.fromkeys(options, "under `config`"))


def _bind_grader(
    spot: Spot,
    bench: Workbench,
    grader_type: type[Any] | CodeRef | None,
    isolation: Isolation,
    asked: list[Asked],
) -> Any:
    at = spot.child("config")
    if isinstance(grader_type, CodeRef):
        made = bind_grader(grader_type, spot, bench, config=_free_config(at), isolation=isolation)
        if made is None:
            return None
        asked.append(made[1])
        return made[0]
    if grader_type is None or _is_no_mapping(at):
        return None
    one_up = dict.fromkeys(option_hints(GraderEntry), "one level up, beside `config`")
    at = at or Spot(Table(place=spot.node.place), spot.path_of("config"))
    misplaced = frozenset(key for key, _ in spot.children())
    grader = bind(grader_type, at, bench, manner=Manner(elsewhere=one_up, excused=misplaced))
    if grader is not None:
        lint(grader, at, bench)
    return grader


def _is_no_mapping(at: Spot | None) -> bool:
    """Say whether options are something else than a mapping, which the entry's check reports."""
    return at is not None and not isinstance(at.node, Table) and not is_null(at.node)


def _free_config(at: Spot | None) -> Mapping[str, Any]:
    if at is None or not isinstance(at.node, Table):
        return {}
    config: Mapping[str, Any] = free_value(at.node)
    return config


def _bind_extractor(
    spot: Spot, bench: Workbench, grader: Any, *, code: list[CodeRef], asked: list[Asked]
) -> Any:
    at = spot.child("extractor")
    config = spot.child("extractor_config")
    if grader is not None and grader.reads == "trajectory":
        if unused := at or config:
            problem = "the grader reads the trajectory; there is nothing to extract"
            bench.findings.fault(unused, problem, "leave it out")
            return _BROKEN
        return None
    name = DEFAULT_EXTRACTOR if at is None or is_null(at.node) else spot.text("extractor")
    if name is None:
        return _BROKEN
    at = at or spot
    if not is_code_ref(name):
        place = config or Spot(Table(place=at.node.place), spot.path_of("extractor_config"))
        return _extractor_called(name, at, bench, config=place)
    ref = bench.code_ref(at, name)
    made = bind_extractor(ref, spot, bench, config=_free_config(config)) if ref else None
    if ref is None or made is None:
        return _BROKEN
    code.append(ref)
    asked.append(made[1])
    return made[0]


def _extractor_called(name: str, at: Spot, bench: Workbench, *, config: Spot) -> Any:
    known = bench.plugins.extractors
    if name not in known:
        bench.findings.fault(at, f'unknown extractor "{name}"', suggest(name, known))
        return _BROKEN
    if _is_no_mapping(config):
        return _BROKEN
    extractor = bind(known[name], config, bench)
    if extractor is None:
        return _BROKEN
    lint(extractor, config, bench)
    return extractor
