"""Tools of an agent: the functions of a suite's Python file come in, callable tools go out.

Every public function that the file defines is a tool, or those it names in `__all__`, except its
fixtures, graders and extractors. Name, description and JSON schema come from signature and
docstring. A parameter named like a fixture receives the fixture's object, and is hidden from the
agent.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.targets.source_lines import fault_at
from harness.targets.tool_schemas import Parameters, SchemaError, describe_tool, read_parameters
from harness.types.code import CodeFile
from harness.types.errors import Fault, SuiteError
from harness.types.marks import MARK


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One function an agent may call; `fixtures` are the parameters it never sees."""

    name: str
    function: Callable[..., Any]
    description: str
    parameters: Parameters
    fixtures: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Return the tool as the `tools` of a request hold it."""
        function = {"name": self.name, "description": self.description}
        return {
            "type": "function",
            "function": {**function, "parameters": self.parameters.schema},
        }

    def bind(
        self, arguments: Mapping[str, Any], objects: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Check an agent's arguments; return the positional and the named ones of the call.

        `objects` are those of the tool's fixtures by name.

        Raises:
            ValueError: they do not fit; the text names every fault in one line.
        """
        try:
            checked: BaseModel = self.parameters.model.model_validate(arguments)
        except ValidationError as error:
            raise ValueError(_describe(error)) from error
        return self.parameters.spread(checked, objects)


def _describe(error: ValidationError) -> str:
    return "; ".join(_fault(fault) for fault in error.errors(include_url=False))


def _fault(fault: Any) -> str:
    place = ".".join(map(str, fault["loc"])) or "arguments"
    kind = fault["type"]
    found = "" if kind in {"missing", "extra_forbidden"} else f", got {fault['input']!r:.100}"
    return f"{place}: {fault['msg']}{found}"


Toolbox = Mapping[str, Tool]
"""The tools of one file by name, in the order of the file."""


def build_toolbox(code: CodeFile, fixture_names: frozenset[str]) -> Toolbox:
    """Make tools of a file's functions.

    Raises:
        SuiteError: with the faults that `tool_faults` finds.
    """
    if faults := list(tool_faults(code, fixture_names)):
        raise SuiteError(faults)
    return {name: _tool(name, function, fixture_names) for name, function in _tool_functions(code)}


def tool_faults(code: CodeFile, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for each function that cannot be a tool, or one for a file without tools."""
    listed = getattr(code.module, "__all__", ())
    if not isinstance(listed, list | tuple | set | frozenset):
        yield Fault(file=code.text, problem="__all__ is no list", allowed="a list of names")
        return
    functions = list(_tool_functions(code))
    for name, function in functions:
        try:
            _tool(name, function, fixture_names)
        except SchemaError as error:
            yield fault_at(code, function, f"tool {name}: {error}", error.allowed)
    if not functions:
        allowed = "functions at the top of the file, whose names do not begin with _"
        yield Fault(file=code.text, problem="the file defines no tools", allowed=allowed)


def _tool_functions(code: CodeFile) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of a file that are tools, by name."""
    module = code.module
    listed = getattr(module, "__all__", None)
    for name, value in list(vars(module).items()):
        if not inspect.isroutine(value) or hasattr(value, MARK):
            continue
        # A method of a class in C, such as `str.lower`, has no module.
        own = getattr(
            value, "__module__", module.__name__
        ) == module.__name__ and not name.startswith("_")
        if own if listed is None else name in listed:
            yield name, value


def _tool(name: str, function: Callable[..., Any], fixture_names: frozenset[str]) -> Tool:
    description, documented = describe_tool(name, function)
    parameters = read_parameters(function, hidden=fixture_names, documented=documented)
    return Tool(
        name=name,
        function=function,
        description=description,
        parameters=parameters,
        fixtures=parameters.hidden,
    )
