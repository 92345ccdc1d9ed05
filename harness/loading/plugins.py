"""Plug-ins by name, found through entry points; one that is broken is a fault and no more."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_type_hints

from harness.system.private_modules import claim_own_package
from harness.system.texts import error_line
from harness.types.errors import Fault
from harness.types.taxonomy import Taxonomy

GRADERS, EXTRACTORS, TARGETS = "regrade.graders", "regrade.extractors", "regrade.targets"
IMPORTERS = "regrade.importers"
_OWN = "regrade"
_METHODS = {
    GRADERS: ("grade", "grade_with", "combine"),
    EXTRACTORS: ("extract", "extract_from"),
    TARGETS: ("connect",),
    IMPORTERS: ("read",),
}
_IN_SUITES = (GRADERS, EXTRACTORS, TARGETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The plug-ins of one group by name, and what is wrong with those that cannot be used."""

    plugins: Mapping[str, type[Any]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """The plug-ins that a suite can name."""

    graders: Mapping[str, type[Any]]
    extractors: Mapping[str, type[Any]]
    targets: Mapping[str, type[Any]]
    faults: tuple[Fault, ...] = ()


def find_plugins(group: str) -> Mapping[str, type[Any]]:
    """Return the usable plug-ins of a group: a name -> the frozen dataclass of its options."""
    return find_group(group).plugins


def find_group(group: str) -> Found:
    """Return the usable plug-ins of a group, and the faults of the packages with broken ones."""
    return discover(group, entry_points(group=group))


def find_all_plugins() -> Plugins:
    """Return what suites can name, and the faults of the packages that offer broken plug-ins."""
    found = {group: discover(group, entry_points(group=group)) for group in _IN_SUITES}
    return Plugins(
        graders=found[GRADERS].plugins,
        extractors=found[EXTRACTORS].plugins,
        targets=found[TARGETS].plugins,
        faults=tuple(fault for one in found.values() for fault in one.faults),
    )


def discover(group: str, points: Iterable[EntryPoint]) -> Found:
    """Load and check the mappings that entry points name.

    A name that two packages offer is usable in neither, unless one of them is Regrade itself.
    """
    plugins: dict[str, type[Any]] = {}
    packages: dict[str, str] = {}
    faults: list[Fault] = []
    for point in sorted(points, key=lambda point: (_package_of(point) != _OWN, _package_of(point))):
        offered, broken = _load(group, point)
        faults.extend(broken)
        for name, plugin in offered.items():
            if name in packages:
                faults.append(_clash(group, name, packages[name], _package_of(point)))
                if packages[name] != _OWN:
                    plugins.pop(name, None)
            else:
                packages[name] = _package_of(point)
                plugins[name] = plugin
    return Found(plugins=plugins, faults=tuple(faults))


def _package_of(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "unknown"


def _clash(group: str, name: str, first: str, second: str) -> Fault:
    kept = f"{first}'s counts" if first == _OWN else "neither can be used"
    return Fault(
        file=second,
        path=group,
        problem=f'the packages {first} and {second} both offer "{name}"',
        allowed=f"{kept}; uninstall one of them",
    )


def _load(group: str, point: EntryPoint) -> tuple[dict[str, type[Any]], list[Fault]]:
    try:
        if _package_of(point) == _OWN:
            claim_own_package(point.value.partition(".")[0])
        offered = point.load()
    except Exception as error:  # noqa: BLE001  (a stranger's package may raise anything)
        return {}, [_broken(group, point, f"cannot be loaded: {error_line(error)}")]
    if not isinstance(offered, Mapping):
        return {}, [_broken(group, point, "is no mapping from names to dataclasses")]
    usable: dict[str, type[Any]] = {}
    faults = []
    for name, plugin in offered.items():
        if problem := _check(group, name, plugin):
            faults.append(_broken(group, point, f"offers {name!r}, which {problem}"))
        else:
            usable[name] = plugin
    return usable, faults


def _broken(group: str, point: EntryPoint, problem: str) -> Fault:
    return Fault(
        file=_package_of(point),
        path=group,
        problem=f'the plug-in "{point.value}" {" ".join(problem.split())}',
        allowed="repair or uninstall the package",
    )


def _check(group: str, name: object, plugin: Any) -> str | None:
    if not isinstance(name, str) or not name or ":" in name:
        return "has no usable name"
    if not isinstance(plugin, type) or not dataclasses.is_dataclass(plugin):
        return "is no dataclass"
    if not plugin.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return "is a dataclass that is not frozen"
    return _check_members(group, plugin)


def _check_members(group: str, plugin: type[Any]) -> str | None:
    if not any(callable(getattr(plugin, method, None)) for method in _METHODS[group]):
        return f"has no method {_METHODS[group][0]}"
    if group == IMPORTERS and not callable(getattr(plugin, "claims", None)):
        return "has no method claims"
    if group == GRADERS and not isinstance(getattr(plugin, "taxonomy", None), Taxonomy):
        return "declares no taxonomy"
    if group == GRADERS and getattr(plugin, "reads", None) not in {"submission", "trajectory"}:
        return 'does not say that it reads "submission" or "trajectory"'
    try:
        get_type_hints(plugin)
    except Exception as error:  # noqa: BLE001  (an annotation is any expression)
        return f"has an option whose type is unknown: {error}"
    return None
