"""Graders and extractors that are functions of a suite's file, and what their parameters may be."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.documents.nodes import Location
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest
from harness.types.code import CodeRef, CustomExtractor, CustomGrader
from harness.types.errors import Fault
from harness.types.marks import Isolation, Style, mark_of
from harness.types.protocols import AGENT_STATE

GRADER_PARAMETERS = ("trajectory", "sample", "submission", "config", "grades")
"""What a grader's function is given by name, beside the end state of fixtures and agent."""

EXTRACTOR_PARAMETERS = ("trajectory", "config", AGENT_STATE)
"""What an extractor's function is given by name."""

COMPOSER = "reward composer"
"""The kind of a function of letta-evals that judges a trial by the grades it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionNeeds:
    """A function of the suite and the names it asks for, to be checked against the fixtures."""

    name: str
    kind: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    optional: tuple[str, ...]
    file: str
    line: int
    style: Style = "regrade"
    is_composer: bool = False

    @property
    def wants_state(self) -> bool:
        """Say whether it is given the end state of the agent."""
        return AGENT_STATE in (*self.parameters, *self.optional)


def ref_needs(ref: CodeRef, kind: str, file: str) -> FunctionNeeds | None:
    """Return the parameters of a referenced function; None where it is no function."""
    if not callable(ref.value) or inspect.isclass(ref.value):
        return None
    return function_needs(ref.value, name=ref.name, kind=kind, file=file)


def function_needs(
    function: Callable[..., Any], *, name: str, kind: str, file: str
) -> FunctionNeeds | None:
    """Return the parameters that are filled, and apart those with a default of no known name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    code = getattr(inspect.unwrap(function), "__code__", None)
    mark = mark_of(function)
    named = [p for p in parameters if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
    filled = [p for p in named if p.default is p.empty or p.name in GRADER_PARAMETERS]
    return FunctionNeeds(
        name=name,
        kind=kind,
        function=function,
        parameters=tuple(p.name for p in filled),
        optional=tuple(p.name for p in named if p not in filled),
        file=file,
        line=code.co_firstlineno if code else 0,
        style=mark.style if mark else "regrade",
        is_composer=mark is not None and mark.kind == COMPOSER,
    )


def check_needs(needs: FunctionNeeds, fixtures: Mapping[str, Any]) -> Fault | None:
    """Return the fault of a function that asks for what nobody gives, or asks for too little."""
    if needs.style == "letta-evals":
        return None  # its decorator has looked at it
    if needs.kind == "grader":
        given = [*GRADER_PARAMETERS, AGENT_STATE, *fixtures]
        needed = {"trajectory", "submission", "grades"}
        form = "(sample, submission) or (trajectory, sample)"
    else:
        given = list(EXTRACTOR_PARAMETERS)
        needed, form = {"trajectory"}, "(trajectory) or (trajectory, config)"
    unknown = [name for name in needs.parameters if name not in given]
    if unknown:
        problem = f'the {needs.kind} {needs.name} asks for "{unknown[0]}", which nobody gives'
        return _fault(needs, problem, _instead(unknown[0], given))
    # Extractors of letta-evals have it first, and so have all others.
    first = needs.parameters[:1] if needs.kind == "extractor" else needs.parameters
    if needed.isdisjoint(first):
        return _fault(needs, f"the {needs.kind} {needs.name} asks for nothing to work on", form)
    return None


def _instead(name: str, given: Collection[str]) -> str:
    if name == "ctx":
        return "a reward composer of letta-evals is decorated with @reward_composer"
    return suggest(name, given)


def _fault(needs: FunctionNeeds, problem: str, allowed: str) -> Fault:
    return Fault(file=needs.file, line=needs.line, problem=problem, allowed=allowed)


def bind_grader(
    ref: CodeRef,
    location: Location,
    context: LoadContext,
    *,
    config: Mapping[str, Any],
    isolation: Isolation,
) -> tuple[CustomGrader, FunctionNeeds] | None:
    """Make a grader of a function; None where that was a fault."""
    at = location.child("type") or location.child("function") or location
    needs = _needs_at(ref, "grader", at, context)
    if needs is None or not _takes_config(needs, location.child("config"), config, context):
        return None
    grader = CustomGrader(
        name=ref.name,
        function=ref.value,
        file=ref.file.path,
        parameters=needs.parameters,
        optional=needs.optional,
        config=config,
        isolation=isolation,
        style=needs.style,
        is_composer=needs.is_composer,
    )
    return grader, needs


def bind_extractor(
    ref: CodeRef, location: Location, context: LoadContext, *, config: Mapping[str, Any]
) -> tuple[CustomExtractor, FunctionNeeds] | None:
    """Make an extractor of a function; None where that was a fault."""
    needs = _needs_at(ref, "extractor", location.child("extractor") or location, context)
    if needs is None or not _takes_config(
        needs, location.child("extractor_config"), config, context
    ):
        return None
    extractor = CustomExtractor(
        name=ref.name,
        function=ref.value,
        parameters=needs.parameters,
        optional=needs.optional,
        config=config,
        style=needs.style,
    )
    return extractor, needs


def _needs_at(
    ref: CodeRef, kind: str, location: Location, context: LoadContext
) -> FunctionNeeds | None:
    mark = mark_of(ref.value)
    judges = {kind, COMPOSER} if kind == "grader" else {kind}
    if mark is not None and mark.kind not in judges:
        context.findings.fault(location, f"{ref.text} is decorated as {_article(mark.kind)}")
        return None
    needs = ref_needs(ref, kind, context.folder.show(Path(ref.file.path)))
    if needs is None:
        found = f"{ref.text} is {_article(type(ref.value).__name__)}"
        context.findings.fault(location, found, f"a function that works as {_article(kind)}")
    return needs


def _article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"


def _takes_config(
    needs: FunctionNeeds, location: Location | None, config: Mapping[str, Any], context: LoadContext
) -> bool:
    if not config or location is None or "config" in needs.parameters:
        return True
    allowed = "a parameter `config` receives it"
    if needs.style == "letta-evals":
        allowed = "leave it out; `extra_vars` of a sample reach a grader of letta-evals"
    context.findings.fault(location, f"the function {needs.name} takes no config", allowed)
    return False
