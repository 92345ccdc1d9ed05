"""What a suite refers to beside itself: paths, its own Python files, and objects in them.

An option of a plug-in that is annotated `SuitePath`, `CodeFile`, `CodeRef` or `SuiteText` is
written as text in the YAML; whoever loads the suite resolves it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.types.marks import Isolation, Scope, Style
from harness.types.protocols import Reads


class _Reference:
    """What is written as text and resolved by the validation's context, a `(class, text)` call."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        # Pydantic asks for this where it checks options; this module must stay light without it.
        from pydantic_core import core_schema  # noqa: PLC0415

        def resolve(text: str, info: Any) -> Any:
            return info.context(cls, text)

        return core_schema.with_info_after_validator_function(resolve, core_schema.str_schema())


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePath(_Reference):
    """A path of the suite: `text` with `/` between folders, `path` from the suite's folder on."""

    text: str
    path: Path


class SuiteText(_Reference, str):
    """A text that the suite alone may give, never a row of a dataset: where a key is sent to.

    `${NAME}` in it is taken from the environment.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file of a dataset on the Hugging Face hub: `text` is its URL.

    `repository` is `organisation/name`. Without `revision` the newest is meant, and without
    `path` the one file of the repository.
    """

    text: str
    repository: str
    revision: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile(_Reference):
    """A Python file of the suite (`tools.py`), loaded.

    `sha256` covers the file and the files beside it that it imports.
    """

    text: str
    path: Path
    module: ModuleType = field(compare=False)
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRef(_Reference):
    """An object in a Python file of the suite (`agent.py:MyAgent`), loaded."""

    text: str
    file: CodeFile
    name: str
    value: Any = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """A fixture of the suite: `parameters` are the names it asks for."""

    name: str
    scope: Scope
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGrader:
    """A grader that is a function of the suite: `name` in `file`.

    `parameters` must be filled; those of `optional` have a default and are filled where there is
    something to fill them with. `style` says with whose records it is called. A composer
    (`is_composer`) is a function of letta-evals that makes a reward of the others' grades.
    """

    name: str
    function: Callable[..., Any]
    file: Path
    parameters: tuple[str, ...]
    optional: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    isolation: Isolation = "thread"
    style: Style = "regrade"
    is_composer: bool = False

    @property
    def needs_grades(self) -> bool:
        """Say whether it runs after the others, since it looks at their grades."""
        return self.is_composer or "grades" in (*self.parameters, *self.optional)

    @property
    def reads(self) -> Reads:
        """Say whether it works on the trajectory or on the text taken out of it."""
        if "submission" in self.parameters:
            return "submission"
        needs_no_text = "trajectory" in self.parameters or self.needs_grades
        return "trajectory" if needs_no_text else "submission"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomExtractor:
    """An extractor that is a function of the suite's file; its fields are as a grader's."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    optional: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    style: Style = "regrade"
