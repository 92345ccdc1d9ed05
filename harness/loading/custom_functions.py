"""Graders and extractors that are functions of a suite's file, and what their parameters may be."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.loading.nodes import Spot
from harness.loading.workbench import Workbench
from harness.system.suggestions import suggest
from harness.types.code import CodeRef, CustomExtractor, CustomGrader
from harness.types.errors import Fault
from harness.types.marks import MARK, Isolation, Mark

GRADER_PARAMETERS = ("trajectory", "sample", "submission", "config")
"""What a grader's function is given by name, beside the end state of the suite's fixtures."""

EXTRACTOR_PARAMETERS = ("trajectory", "config")
"""What an extractor's function is given by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A function of the suite and the names it asks for, to be held against the fixtures."""

    name: str
    kind: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    optional: tuple[str, ...]
    file: str
    line: int


def mark_of(value: object) -> Mark | None:
    """Give the mark a decorator has left on a function; None for everything else."""
    mark = value.__dict__.get(MARK) if inspect.isfunction(value) else None
    return mark if isinstance(mark, Mark) else None


def ask(ref: CodeRef, kind: str, file: str) -> Asked | None:
    """Give the parameters of a referenced function; None where it is no function."""
    if not callable(ref.value) or inspect.isclass(ref.value):
        return None
    return ask_function(ref.value, name=ref.name, kind=kind, file=file)


def ask_function(function: Callable[..., Any], *, name: str, kind: str, file: str) -> Asked | None:
    """Give the parameters that are filled, and apart those with a default of no known name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    code = getattr(inspect.unwrap(function), "__code__", None)
    named = [p for p in parameters if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
    filled = [p for p in named if p.default is p.empty or p.name in GRADER_PARAMETERS]
    return Asked(
        name=name,
        kind=kind,
        function=function,
        parameters=tuple(p.name for p in filled),
        optional=tuple(p.name for p in named if p not in filled),
        file=file,
        line=code.co_firstlineno if code else 0,
    )


def check_asked(asked: Asked, fixtures: Mapping[str, Any]) -> Fault | None:
    """Give the fault of a function that asks for what nobody gives, or asks for too little."""
    if asked.kind == "grader":
        given = [*GRADER_PARAMETERS, *fixtures]
        needed, form = {"trajectory", "submission"}, "(sample, submission) or (trajectory, sample)"
    else:
        given = list(EXTRACTOR_PARAMETERS)
        needed, form = {"trajectory"}, "(trajectory) or (trajectory, config)"
    unknown = [name for name in asked.parameters if name not in given]
    if unknown:
        problem = f'the {asked.kind} {asked.name} asks for "{unknown[0]}", which nobody gives'
        return _fault(asked, problem, suggest(unknown[0], given))
    # Extractors are called by position.
    first = asked.parameters[:1] if asked.kind == "extractor" else asked.parameters
    if needed.isdisjoint(first):
        return _fault(asked, f"the {asked.kind} {asked.name} asks for nothing to work on", form)
    return None


def _fault(asked: Asked, problem: str, allowed: str) -> Fault:
    return Fault(file=asked.file, line=asked.line, problem=problem, allowed=allowed)


def bind_grader(
    ref: CodeRef,
    spot: Spot,
    bench: Workbench,
    *,
    config: Mapping[str, Any],
    isolation: Isolation,
) -> tuple[CustomGrader, Asked] | None:
    """Make a grader of a function; None where that was a fault."""
    at = spot.child("type") or spot.child("function") or spot
    asked = _ask_at(ref, "grader", at, bench)
    if asked is None or not _takes_config(asked, spot.child("config"), config, bench):
        return None
    grader = CustomGrader(
        name=ref.name,
        function=ref.value,
        file=ref.file.path,
        parameters=asked.parameters,
        optional=asked.optional,
        config=config,
        isolation=isolation,
    )
    return grader, asked


def bind_extractor(
    ref: CodeRef, spot: Spot, bench: Workbench, *, config: Mapping[str, Any]
) -> tuple[CustomExtractor, Asked] | None:
    """Make an extractor of a function; None where that was a fault."""
    asked = _ask_at(ref, "extractor", spot.child("extractor") or spot, bench)
    if asked is None or not _takes_config(asked, spot.child("extractor_config"), config, bench):
        return None
    extractor = CustomExtractor(
        name=ref.name, function=ref.value, parameters=asked.parameters, config=config
    )
    return extractor, asked


def _ask_at(ref: CodeRef, kind: str, spot: Spot, bench: Workbench) -> Asked | None:
    mark = mark_of(ref.value)
    if mark is not None and mark.kind != kind:
        bench.findings.fault(spot, f"{ref.text} is decorated as {_article(mark.kind)}")
        return None
    asked = ask(ref, kind, bench.folder.show(Path(ref.file.path)))
    if asked is None:
        found = f"{ref.text} is {_article(type(ref.value).__name__)}"
        bench.findings.fault(spot, found, f"a function that works as {_article(kind)}")
    return asked


def _article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"


def _takes_config(
    asked: Asked, spot: Spot | None, config: Mapping[str, Any], bench: Workbench
) -> bool:
    if not config or spot is None or "config" in asked.parameters:
        return True
    bench.findings.fault(
        spot, f"the function {asked.name} takes no config", "a parameter `config` receives it"
    )
    return False
