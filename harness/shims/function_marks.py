"""The decorators of letta-evals: each leaves Regrade's mark, and the attributes that it has there.

What is wrong with a signature is written into the mark and reported with its line when the file
is loaded, so that the faults of a file come all at once. Annotations are read by their names, so
that postponed ones (`from __future__ import annotations`) are as good as any.
"""

import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar, overload

from harness.types.marks import MARK, Mark, MarkKind

_F = TypeVar("_F", bound=Callable[..., Any])

_JUDGEMENTS = ("GradeResult", "Grade", "float", "int", "bool", "dict", "Any")
_REWARDS = ("RewardOutput", *_JUDGEMENTS)
_TEXTS = ("str",)

GRADERS = (("sample", "submission"),)
EXTRACTORS = (("trajectory", "config"), ("trajectory", "config", "agent_state"))
FACTORIES = (("client", "sample"),)
SETUPS = ((), ("client",), ("client", "model_handle"), ("client", "model_name"))
COMPOSERS = (("ctx",),)


@overload
def grader(func: _F, /) -> _F: ...
@overload
def grader(*, name: str | None = None) -> Callable[[_F], _F]: ...
def grader(func: Any = None, /, *, name: str | None = None) -> Any:
    """Make a function `(sample, submission) -> GradeResult` a grader; it may be async."""

    def decorate(function: Any) -> Any:
        _set_mark(function, "grader", name, _problem(function, GRADERS, _JUDGEMENTS))
        function._is_grader = True  # noqa: SLF001  (the attribute of letta-evals)
        return function

    return decorate if func is None else decorate(func)


@overload
def extractor(func: _F, /) -> _F: ...
@overload
def extractor(*, name: str | None = None) -> Callable[[_F], _F]: ...
def extractor(func: Any = None, /, *, name: str | None = None) -> Any:
    """Make a function `(trajectory, config[, agent_state]) -> str` an extractor."""

    def decorate(function: Any) -> Any:
        _set_mark(function, "extractor", name, _problem(function, EXTRACTORS, _TEXTS))
        function._is_extractor = True  # noqa: SLF001  (the attribute of letta-evals)
        function._extractor_param_count = len(_names(function))  # noqa: SLF001  (as above)
        return function

    return decorate if func is None else decorate(func)


def agent_factory(func: _F) -> _F:
    """Make an async function `(client, sample) -> agent id` an agent factory."""
    function: Any = func
    problem = _problem(function, FACTORIES, _TEXTS)
    if not problem and not inspect.iscoroutinefunction(function):
        problem = "has to be async"
    _set_mark(function, "agent factory", None, problem)
    function._is_agent_factory = True  # noqa: SLF001  (the attribute of letta-evals)
    return func


def suite_setup(func: _F) -> _F:
    """Make a function `()`, `(client)` or `(client, model_handle)` the setup of a suite."""
    function: Any = func
    _set_mark(function, "suite setup", None, _problem(function, SETUPS, ("None",)))
    function._is_suite_setup = True  # noqa: SLF001  (the attribute of letta-evals)
    function._suite_setup_param_count = len(_names(function))  # noqa: SLF001  (as above)
    return func


def reward_composer(func: _F) -> _F:
    """Make a function `(ctx) -> RewardOutput` the one that makes the reward of the grades."""
    function: Any = func
    _set_mark(function, "reward composer", None, _problem(function, COMPOSERS, _REWARDS))
    function._is_reward_composer = True  # noqa: SLF001  (the attribute of letta-evals)
    return func


_FORMS = {
    "grader": (GRADERS, "a GradeResult"),
    "extractor": (EXTRACTORS, "a str"),
    "agent factory": (FACTORIES, "the agent's id as a str"),
    "suite setup": (SETUPS, "None"),
    "reward composer": (COMPOSERS, "a RewardOutput, a float, a bool or a dict"),
}


def signature_problem(function: Any, kind: MarkKind) -> str:
    """Return what keeps a function without a decorator from being called as that kind."""
    forms = {"agent factory": FACTORIES, "suite setup": SETUPS}[kind]
    wrong = len(_names(function)) not in {len(form) for form in forms}
    return f"takes {_shown(_names(function))}" if wrong else ""


def allowed_forms(kind: MarkKind) -> str:
    """Say which signatures a kind of function may have, and what it returns."""
    forms, returned = _FORMS[kind]
    shown = " or ".join(_shown(form) for form in forms)
    return f"{shown}, returning {returned}"


def _set_mark(function: Any, kind: MarkKind, name: str | None, problem: str) -> None:
    allowed = allowed_forms(kind) if problem else ""
    mark = Mark(
        kind=kind,
        name=name or function.__name__,
        style="letta-evals",
        problem=problem,
        allowed=allowed,
    )
    setattr(function, MARK, mark)


def _problem(function: Any, forms: Iterable[tuple[str, ...]], returned: tuple[str, ...]) -> str:
    """Return what is wrong with a function's signature.

    Raises:
        TypeError: it is no function.
    """
    if not isinstance(function, FunctionType):
        raise TypeError(f"only a function can be decorated, not {type(function).__name__}")
    names = _names(function)
    if names not in forms:
        return f"takes {_shown(names)}"
    annotation = inspect.signature(function).return_annotation
    if annotation is inspect.Signature.empty or _name_of(annotation) in returned:
        return ""
    return f"is annotated to return {_name_of(annotation)}"


def _names(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _shown(names: Iterable[str]) -> str:
    return f"({', '.join(names)})"


def _name_of(annotation: Any) -> str:
    """Return the plain name of an annotation: `models.GradeResult` is a GradeResult."""
    if annotation is None:
        return "None"
    if not isinstance(annotation, str):
        found = getattr(annotation, "__origin__", annotation)
        annotation = getattr(found, "__name__", str(annotation))
    plain = str(annotation).strip("'\" ").partition("[")[0]
    return "dict" if plain == "Dict" else plain.rpartition(".")[2]
