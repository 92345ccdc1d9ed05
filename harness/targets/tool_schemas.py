"""The JSON schema of a tool: a function's signature and docstring come in, a schema goes out."""

import inspect
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from harness.system.texts import error_line

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
_VARIABLE = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
_EMPTY = inspect.Parameter.empty


class SchemaError(ValueError):
    """A function cannot be a tool; `allowed` says what is allowed."""

    def __init__(self, problem: str, allowed: str) -> None:
        super().__init__(problem)
        self.allowed = allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """A function's parameters: those an agent fills in, and `hidden` ones.

    `model` checks the former: its fields are `p0`, `p1`, ... and have the parameters' names as
    aliases, since not every name of a parameter is allowed for a field. `names` maps field to
    parameter.
    """

    schema: dict[str, Any]
    model: type[BaseModel]
    names: Mapping[str, str]
    positional: tuple[str, ...]
    hidden: tuple[str, ...]

    def spread(
        self, checked: BaseModel, objects: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of the call; defaults are left to the function itself."""
        given = {
            name: getattr(checked, field)
            for field, name in self.names.items()
            if field in checked.model_fields_set or name in self.positional
        }
        given |= objects
        return [given.pop(name) for name in self.positional], given


class _PlainSchema(GenerateJsonSchema):
    """A schema without the titles that pydantic derives from names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (pydantic's signature)
        return False


def read_parameters(
    function: Callable[..., Any], *, hidden: frozenset[str], documented: Mapping[str, str]
) -> Parameters:
    """Read a function's parameters; `documented` are their descriptions by name.

    Raises:
        SchemaError: a parameter cannot be filled in by an agent.
    """
    _refuse_variable(function)
    parameters = _signature(function).values()
    shown = [p for p in parameters if p.name not in hidden]
    hints = _hints(function, {parameter.name for parameter in shown})
    fields = {f"p{i}": _field(p, hints, documented) for i, p in enumerate(shown)}
    model = _model(fields, shown)
    return Parameters(
        schema=_schema(model),
        model=model,
        names={f"p{index}": parameter.name for index, parameter in enumerate(shown)},
        positional=tuple(p.name for p in parameters if p.kind is _POSITIONAL),
        hidden=tuple(p.name for p in parameters if p.name in hidden),
    )


def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError) as error:
        raise SchemaError("its signature cannot be read", "functions written in Python") from error


def _refuse_variable(function: Callable[..., Any]) -> None:
    """Refuse a function that takes `*args` or `**kwargs`.

    Raises:
        SchemaError: it does, or its signature cannot be read.
    """
    for parameter in _signature(function).values():
        if parameter.kind in _VARIABLE:
            stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
            raise SchemaError(f"takes {stars}{parameter.name}", "parameters with a name")


def _hints(function: Callable[..., Any], names: AbstractSet[str]) -> Mapping[str, Any]:
    """Evaluate the annotations of these parameters only: those of fixtures may be anything."""
    inner = inspect.unwrap(function)
    if not hasattr(inner, "__annotations__"):
        raise SchemaError("its annotations cannot be read", "functions written in Python")
    try:
        written = {n: a for n, a in inner.__annotations__.items() if n in names}
        holder = SimpleNamespace(__annotations__=written)
        spaces = getattr(inner, "__globals__", {})
        return get_type_hints(holder, globalns=spaces, include_extras=True)
    except Exception as error:
        # Annotations are code: evaluating postponed ones may raise anything.
        problem = f"its annotations cannot be read: {error_line(error)}"
        raise SchemaError(problem, "types that the file imports or defines at its top") from error


def _field(
    parameter: inspect.Parameter, hints: Mapping[str, Any], documented: Mapping[str, str]
) -> tuple[Any, FieldInfo]:
    kind = hints.get(parameter.name, Any)
    field = Field(alias=parameter.name, description=documented.get(parameter.name))
    annotated = getattr(kind, "__metadata__", ())
    if any(isinstance(extra, FieldInfo) and extra.description for extra in annotated):
        field = Field(alias=parameter.name)
    default = parameter.default
    if default is not _EMPTY and _is_json(default):
        field = FieldInfo.merge_field_infos(field, default=default)
    elif default is not _EMPTY:
        field = FieldInfo.merge_field_infos(field, default_factory=lambda: default)
    return kind, field


def _is_json(value: Any) -> bool:
    try:
        to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return False
    return True


def _model(fields: Mapping[str, Any], shown: list[inspect.Parameter]) -> type[BaseModel]:
    definitions: dict[str, Any] = dict(fields)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        return create_model("arguments", __config__=config, **definitions)
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as error:
        raise _schema_error(definitions, shown, error) from error


def _schema_error(
    fields: Mapping[str, Any], shown: list[inspect.Parameter], error: Exception
) -> SchemaError:
    """Return the error that names the parameter without a schema."""
    for parameter, (field, definition) in zip(shown, fields.items(), strict=True):
        try:
            create_model("arguments", **{field: definition})
        except (PydanticSchemaGenerationError, PydanticUserError, TypeError):
            return SchemaError(
                f"parameter {parameter.name} has a type without a JSON schema: {definition[0]}",
                "types of JSON, dataclasses and pydantic models, or the name of a fixture",
            )
    return SchemaError(str(error).partition("\n")[0], "parameters with types of JSON")


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    try:
        schema = model.model_json_schema(schema_generator=_PlainSchema)
    except PydanticUserError as error:
        raise SchemaError(str(error).partition("\n")[0], "types of JSON") from error
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def describe_tool(name: str, function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return a tool's description, and those of its parameters by name, from its docstring.

    Raises:
        SchemaError: endpoints refuse the name.
    """
    if not _NAME.fullmatch(name):
        raise SchemaError("its name is refused by endpoints", "1 to 64 of A-Z a-z 0-9 _ -")
    text = inspect.getdoc(function) or ""
    try:
        parsed = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return text, {}
    documented = {p.arg_name: p.description.strip() for p in parsed.params if p.description}
    return (parsed.description or "").strip(), documented
