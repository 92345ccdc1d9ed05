"""The grader and the extractor that an entry names, each bound to its options."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.documents.nodes import Location, Table, describe, is_null
from harness.documents.shapes import Free, free_value
from harness.loading.code_files import is_code_ref
from harness.loading.custom_functions import FunctionNeeds, bind_extractor, bind_grader
from harness.loading.linting import lint, lint_keys
from harness.loading.load_context import LoadContext
from harness.loading.refused_graders import REFUSED_GRADERS
from harness.system.suggestions import suggest
from harness.types.code import CodeRef
from harness.types.marks import Isolation

DEFAULT_EXTRACTOR = "last_assistant"

GraderType = type[Any] | CodeRef


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPart:
    """A grader or extractor, bound to its options.

    `code` and `needs` are set for a function of the suite's file; `plugin` is None for an
    extractor that nobody needs. `fault` says why its options cannot work; empty where they can.
    """

    plugin: Any
    code: CodeRef | None = None
    needs: FunctionNeeds | None = None
    fault: str = ""


def find_grader_type(location: Location, context: LoadContext) -> GraderType | None:
    """Find the grader that an entry names; None where that was a fault."""
    if not isinstance(location.node, Table):
        return None
    by_type, by_function = location.child("type"), location.child("function")
    at = by_type or by_function
    if at is None or (by_type and by_function):
        problem = "the entry names two graders" if at else "the entry names no grader"
        allowed = "`kind: tool` with `function`, or `type` with `config`"
        context.findings.fault(location, problem, allowed)
        return None
    if by_type and (kind := location.child("kind")):
        problem = "`kind` and `type` are both given"
        context.findings.fault(kind, problem, "one of the two")
    name = name_of(location)
    if is_null(at.node) or name == "":
        context.findings.fault(at, f"found {describe(at.node)}", "the name of a grader")
    # Without a text, the check of the entry says what was found.
    return _grader_called(name, at, context, text_only=by_type is None) if name else None


def name_of(location: Location) -> str:
    """Return what an entry names as its grader; empty where it names none."""
    return location.text("type") or location.text("function") or ""


def _grader_called(
    name: str, at: Location, context: LoadContext, *, text_only: bool
) -> GraderType | None:
    if is_code_ref(name):
        return context.code_ref(at, name)
    known = context.plugins.graders
    own = context.marked("grader", name)
    if name not in known:
        if own is not None:
            return own
        unknown = (f'unknown grader "{name}"', suggest(name, known))
        context.findings.fault(at, *REFUSED_GRADERS.get(name, unknown))
        return None
    if text_only and known[name].reads != "submission":
        problem = f'"{name}" reads the trajectory, not a text taken out of it'
        context.findings.fault(at, problem, f"write `type: {name}`")
        return None
    if own is not None:
        problem = f'"{name}" is the built-in grader, which no function replaces'
        context.findings.warn(at, problem, f"the function is reached by `{own.text}`")
    return known[name]


def bind_grader_part(
    location: Location, context: LoadContext, grader_type: GraderType, isolation: Isolation
) -> BoundPart | None:
    """Bind the grader of an entry to its `config`; None where that was a fault."""
    at = location.child("config")
    if isinstance(grader_type, CodeRef):
        config = _free_config(at)
        made = bind_grader(grader_type, location, context, config=config, isolation=isolation)
        return BoundPart(plugin=made[0], code=grader_type, needs=made[1]) if made else None
    if isolation != "thread":
        at = location.child("isolation") or location
        problem = "only a function of the suite can be isolated"
        context.findings.fault(at, problem, "leave it out")
        return None
    return _bind_plugin(grader_type, location, "config", context)


def bind_extractor_part(
    location: Location, context: LoadContext, grader: BoundPart | None
) -> BoundPart | None:
    """Bind the extractor of an entry to its options; None where that was a fault.

    `grader` is None where it is broken; the extractor is looked at all the same.
    """
    at = location.child("extractor")
    config = location.child("extractor_config")
    if grader is not None and grader.plugin.reads == "trajectory":
        if unused := at or config:
            problem = "the grader reads the trajectory; there is nothing to extract"
            context.findings.fault(unused, problem, "leave it out")
            return None
        return BoundPart(plugin=None)
    default = at is None or is_null(at.node)
    name = DEFAULT_EXTRACTOR if default else location.text("extractor")
    # Without a name, the check of the entry says what was found.
    return _extractor_called(name, location, context) if name else None


def _extractor_called(name: str, location: Location, context: LoadContext) -> BoundPart | None:
    at = location.child("extractor") or location
    known = context.plugins.extractors
    marked = None if name in known else context.marked("extractor", name)
    if marked or is_code_ref(name):
        ref = marked or context.code_ref(at, name)
        config = _free_config(location.child("extractor_config"))
        made = bind_extractor(ref, location, context, config=config) if ref else None
        return BoundPart(plugin=made[0], code=ref, needs=made[1]) if made else None
    if name not in known:
        context.findings.fault(at, f'unknown extractor "{name}"', suggest(name, known))
        return None
    return _bind_plugin(known[name], location, "extractor_config", context)


def _bind_plugin(
    plugin_type: type[Any], location: Location, key: str, context: LoadContext
) -> BoundPart | None:
    at = location.child(key)
    if at is None or is_null(at.node):
        at = Location(Table(position=location.node.position), location.path_of(key))
    if not isinstance(at.node, Table):
        return None  # the check of the entry says what was found
    free: Free = "json" if getattr(plugin_type, "json_numbers", False) else "written"
    plugin = context.bind(plugin_type, at, free=free)
    if plugin is None:
        return None
    problems = [
        f"{key}.{option}: {why}" if option else why for option, why in lint(plugin, at, context)
    ]
    lint_keys(plugin, at, context)
    return BoundPart(plugin=plugin, fault="; ".join(problems))


def _free_config(at: Location | None) -> Mapping[str, Any]:
    if at is None or not isinstance(at.node, Table):
        return {}
    config: Mapping[str, Any] = free_value(at.node)
    return config
