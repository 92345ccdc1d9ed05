"""The short form of a plug-in: `@grader`, `@extractor` and `@fixture` in a suite's Python file.

A decorator leaves the function as it is and sets a mark on it, which is found when the file is
loaded. Nothing is registered by importing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Literal, TypeVar, overload

MARK = "__regrade__"
"""The attribute that holds the mark of a decorated function."""

Isolation = Literal["thread", "process"]
Scope = Literal["run", "trial"]
Style = Literal["regrade", "letta-evals"]
"""How a function is called: with Regrade's records, or with those of letta-evals."""

MarkKind = Literal[
    "grader", "extractor", "fixture", "agent factory", "suite setup", "reward composer"
]
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a decorator said of a function.

    `problem` is what is wrong with its signature, and `allowed` what it may be; they are reported
    when the file is loaded.
    """

    kind: MarkKind
    name: str
    scope: Scope = "trial"
    style: Style = "regrade"
    problem: str = ""
    allowed: str = ""


def mark_of(value: object) -> Mark | None:
    """Return the mark that a decorator has left on a function; None for everything else."""
    # Only functions carry marks; asking any object for an attribute could run its code.
    fields = value.__dict__ if isinstance(value, FunctionType) else {}
    mark = fields.get(MARK)
    return mark if isinstance(mark, Mark) else _foreign_mark(fields, value)


_FOREIGN: Mapping[str, MarkKind] = MappingProxyType(
    {
        "_is_grader": "grader",
        "_is_extractor": "extractor",
        "_is_agent_factory": "agent factory",
        "_is_suite_setup": "suite setup",
        "_is_reward_composer": "reward composer",
    }
)
"""The attributes that the decorators of letta-evals set."""


def _foreign_mark(fields: Mapping[str, Any], function: Any) -> Mark | None:
    """Read what the decorators of an installed letta-evals leave."""
    for name, kind in _FOREIGN.items():
        if fields.get(name) is True:
            return Mark(kind=kind, name=function.__name__, style="letta-evals")
    return None


def _marker(mark_kind: Any, name: str | None, scope: Scope = "trial") -> Callable[[_F], _F]:
    def set_mark(function: _F) -> _F:
        mark = Mark(kind=mark_kind, name=name or function.__name__, scope=scope)
        setattr(function, MARK, mark)
        return function

    return set_mark


def public_names(module: ModuleType) -> dict[str, object]:
    """Return what `file.py:name` may name in a module: attributes, and the names of its marks."""
    names = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    for value in list(names.values()):
        if mark := mark_of(value):
            names.setdefault(mark.name, value)
    return names


def own_names(module: ModuleType, *, classes: bool) -> list[str]:
    """Return the names of the functions that a module defines, and of its classes if wanted."""
    wanted = (FunctionType, type) if classes else FunctionType
    return [
        name
        for name, value in public_names(module).items()
        if isinstance(value, wanted)
        and not name.startswith("_")
        and value.__module__ == module.__name__
    ]


@overload
def grader(function: _F, /) -> _F: ...
@overload
def grader(*, name: str | None = None) -> Callable[[_F], _F]: ...
def grader(function: Any = None, /, *, name: str | None = None) -> Any:
    """Make a function a grader: `(sample, submission)` or `(trajectory, ...)` -> a judgement.

    It returns a Grade, a float in 0..1, a bool, or an object with `score` and `rationale`; it
    may be async. A first parameter called `trajectory` receives the whole trajectory instead of
    the extracted text. Further parameters receive, by name, the `sample`, the end state of the
    fixture of that name, and as `agent_state` that of the agent, where its target tells it. With
    a parameter `grades` it runs after the other graders, and receives their grades by name.
    """
    return _marker("grader", name)(function) if function else _marker("grader", name)


@overload
def extractor(function: _F, /) -> _F: ...
@overload
def extractor(*, name: str | None = None) -> Callable[[_F], _F]: ...
def extractor(function: Any = None, /, *, name: str | None = None) -> Any:
    """Make a function an extractor: `(trajectory)` or `(trajectory, config)` -> text.

    A parameter `agent_state` receives the end state of the agent, where its target tells it.
    """
    return _marker("extractor", name)(function) if function else _marker("extractor", name)


@overload
def fixture(function: _F, /) -> _F: ...
@overload
def fixture(*, scope: Scope = "trial", name: str | None = None) -> Callable[[_F], _F]: ...
def fixture(function: Any = None, /, *, scope: Scope = "trial", name: str | None = None) -> Any:
    """Make a generator function a fixture: it yields an object, and clears up after the yield.

    Tools and Python agents receive the object by parameter name; a fixture may ask for other
    fixtures, and one of scope `trial` for the `sample`. `run` is one object a run, `trial` a
    fresh one each attempt. An object with `snapshot()` has its JSON stored with the trial.
    """
    marker = _marker("fixture", name, scope)
    return marker(function) if function else marker
