"""What a Python agent asks for by the names of its parameters, and what it is given."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.targets.sample_copies import own_copy
from harness.targets.source_lines import fault_at
from harness.types.code import CodeRef
from harness.types.errors import Fault
from harness.types.protocols import AttemptContext

Source = Callable[[AttemptContext], Any]
Sources = Mapping[str, Source]
"""Where the argument for each parameter of an agent comes from, by the parameter's name."""

_OWN: Sources = {
    "sample": lambda context: own_copy(context.sample),
    "model": lambda context: context.model,
    "epoch": lambda context: context.epoch,
}
_NAMED = frozenset({inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY})
_VARIABLE = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


def sources_of(agent: CodeRef, fixture_names: frozenset[str]) -> Sources:
    """Return where the arguments of an agent come from.

    The first parameter of a function is the sample, whatever its name, unless that is the name
    of something else. A parameter with a default may have any name, and keeps its default.
    """
    return {
        parameter.name: source
        for parameter, source in _asked(agent, fixture_names)
        if source is not None and parameter.kind in _NAMED
    }


def arguments_of(sources: Sources, context: AttemptContext) -> dict[str, Any]:
    """Return the arguments for one attempt, by name."""
    return {name: source(context) for name, source in sources.items()}


def agent_faults(agent: CodeRef, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield what keeps an object of the suite's file from being an agent."""
    for problem, allowed in _problems(agent, fixture_names):
        yield fault_at(agent.file, agent.value, f"{agent.name} {problem}", allowed)


def _problems(agent: CodeRef, fixture_names: frozenset[str]) -> Iterator[tuple[str, str]]:
    if not callable(agent.value):
        yield "is no agent", "a function, or a class with send(text)"
    elif inspect.isclass(agent.value) and not callable(getattr(agent.value, "send", None)):
        yield "is a class without send(text)", "a class with a method send(text)"
    known = ", ".join([*_OWN, *sorted(fixture_names)])
    for parameter, source in _asked(agent, fixture_names):
        if parameter.kind in _VARIABLE or parameter.default is not inspect.Parameter.empty:
            continue
        if source is None:
            yield f'asks for "{parameter.name}"', f"by name there is: {known}"
        elif parameter.kind not in _NAMED:
            yield f'asks for "{parameter.name}" by position', "parameters with a name"


def _asked(
    agent: CodeRef, fixture_names: frozenset[str]
) -> Iterator[tuple[inspect.Parameter, Source | None]]:
    is_function = not inspect.isclass(agent.value)
    for index, parameter in enumerate(_parameters(agent)):
        source = _source(parameter.name, fixture_names)
        if source is None and is_function and index == 0:
            source = _OWN["sample"]
        yield parameter, source


def _parameters(agent: CodeRef) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(agent.value).parameters.values())
    except (ValueError, TypeError):
        # A class in C may have no signature to look at: it is made without arguments.
        return []


def _source(name: str, fixture_names: frozenset[str]) -> Source | None:
    if name in fixture_names:
        return lambda context: context.fixtures[name]
    return _OWN.get(name)
