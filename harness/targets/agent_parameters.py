"""What a Python agent asks for by the names of its parameters, and what it is given."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from harness.types.code import CodeRef
from harness.types.errors import Fault, SuiteError
from harness.types.protocols import AttemptContext

Asked = Mapping[str, Callable[[AttemptContext], Any]]
"""How each parameter of an agent is filled in."""

_OWN: Asked = {
    "sample": lambda context: context.sample,
    "model": lambda context: context.model,
    "epoch": lambda context: context.epoch,
}
_NAMED = frozenset({inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY})


def ask_by_name(agent: CodeRef, fixture_names: frozenset[str], *, first_is_sample: bool) -> Asked:
    """Say how an agent's parameters are filled in.

    With `first_is_sample` the first parameter is the sample, whatever its name, unless that is a
    name of something else. A parameter with a default may have any name, and keeps its default.

    Raises:
        SuiteError: a parameter is none of what there is.
    """
    asked: dict[str, Callable[[AttemptContext], Any]] = {}
    for index, parameter in enumerate(_parameters(agent)):
        source = _source(parameter.name, fixture_names)
        if source is None and first_is_sample and index == 0:
            source = _OWN["sample"]
        if source is not None and parameter.kind in _NAMED:
            asked[parameter.name] = source
        elif _must_be_given(parameter):
            known = ", ".join([*_OWN, *sorted(fixture_names)])
            refuse(agent, f"asks for {parameter.name}", f"by name there is: {known}")
    return asked


def given(asked: Asked, context: AttemptContext) -> dict[str, Any]:
    """Give the arguments an agent asked for."""
    return {name: source(context) for name, source in asked.items()}


def _parameters(agent: CodeRef) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(agent.value).parameters.values())
    except (ValueError, TypeError):
        # A class in C may have no signature to look at: it is made without arguments.
        return []


def _source(name: str, fixture_names: frozenset[str]) -> Callable[[AttemptContext], Any] | None:
    if name in fixture_names:
        return lambda context: context.fixtures[name]
    return _OWN.get(name)


def _must_be_given(parameter: inspect.Parameter) -> bool:
    variable = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return parameter.kind not in variable and parameter.default is inspect.Parameter.empty


def refuse(agent: CodeRef, problem: str, allowed: str) -> NoReturn:
    """Say that an object of the suite's file is no agent.

    Raises:
        SuiteError: always.
    """
    code = getattr(inspect.unwrap(agent.value), "__code__", None)
    line = getattr(code, "co_firstlineno", 0)
    fault = Fault(
        file=agent.file.text, line=line, problem=f"{agent.name} {problem}", allowed=allowed
    )
    raise SuiteError([fault])
