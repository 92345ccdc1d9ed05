"""A suite's own Python code, as it was loaded: files, and objects in them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from harness.types.marks import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePath:
    """A path of the suite: `text` as it was written, `path` resolved against the suite's folder."""

    text: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFile:
    """A Python file of the suite (`tools.py`), loaded.

    `sha256` covers the file and the files beside it that it imports.
    """

    text: str
    path: Path
    module: ModuleType = field(compare=False)
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRef:
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
    """A grader that is a function of the suite's file; `parameters` decide what it is given."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    isolation: Literal["thread", "process"] = "thread"

    @property
    def reads(self) -> Literal["submission", "trajectory"]:
        """Say whether it works on the trajectory or on the text taken out of it."""
        first = self.parameters[0] if self.parameters else ""
        return "trajectory" if first == "trajectory" else "submission"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomExtractor:
    """An extractor that is a function of the suite's file."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
