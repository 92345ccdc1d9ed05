"""A suite's own Python files: found, run once, and every way they can fail as one fault."""

import inspect
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from harness.documents.findings import BadReference
from harness.loading.suite_paths import Folder, resolve_path
from harness.shims.letta_evals_modules import offer_letta_evals, stands_in
from harness.shims.stand_ins import PACKAGE
from harness.system.private_modules import OWN_PACKAGES, PrivateModules
from harness.system.suggestions import suggest
from harness.system.texts import error_line
from harness.types.code import CodeFile, CodeRef
from harness.types.errors import Fault
from harness.types.marks import MarkKind, mark_of, own_names, public_names

_PRIVATE = re.compile(r"regrade_suite_[0-9a-f]{16}\.?")
_REFERENCE = re.compile(r".*\.py:[^:/\\]*", re.DOTALL | re.IGNORECASE)


def is_code_ref(text: str) -> bool:
    """Say whether a text names an object in a Python file, such as `tools.py:look_up`."""
    return _REFERENCE.fullmatch(text) is not None


class BrokenFile(BadReference):
    """A Python file cannot be loaded; the fault about it is kept once, in `CodeFiles.faults`."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, reported=True)


class CodeFiles:
    """The Python files of one suite, loaded as they are asked for.

    `faults` holds one fault for every file that cannot be loaded, at the line of the user's code.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._folders: dict[Path, PrivateModules] = {}
        self._loaded: dict[Path, CodeFile] = {}
        self.faults: dict[Path, Fault] = {}

    def file(self, text: str, environ: Mapping[str, str] | None) -> CodeFile:
        """Load a file, such as `tools.py`; the same file is loaded once.

        Raises:
            BrokenFile: it cannot be loaded; see `faults`.
            BadReference: there is no such file, or it is no Python file.
        """
        found = resolve_path(text, self._folder, environ)
        if found.path.suffix.lower() != ".py" or not found.path.is_file():
            raise BadReference(f'"{found.text}" is no Python file', "a file whose name ends in .py")
        if found.path in self.faults:
            raise BrokenFile(self.faults[found.path].problem)
        if found.path not in self._loaded:
            self._loaded[found.path] = self._load(found.text, found.path)
        return self._loaded[found.path]

    def ref(self, text: str, environ: Mapping[str, str] | None, *, classes: bool = True) -> CodeRef:
        """Return an object of a file, such as `agent.py:Agent`; split at the last colon.

        `classes` says whether a class may be meant where the name is misspelt.

        Raises:
            BrokenFile, BadReference: as `file` does; also where the file has no such name.
        """
        path, colon, name = text.rpartition(":")
        if not colon or not name or not path.lower().endswith(".py"):
            raise BadReference(f'"{text}" names no object of a Python file', "write file.py:name")
        file = self.file(path, environ)
        names = public_names(file.module)
        if name not in names:
            known = own_names(file.module, classes=classes)
            raise BadReference(f'{file.text} has no "{name}"', suggest(name, known))
        return CodeRef(text=text, file=file, name=name, value=names[name])

    def marked(self, kind: MarkKind, name: str) -> CodeRef | None:
        """Return a function that a loaded file calls by that name, as letta-evals registers it."""
        for file in self._loaded.values():
            value = public_names(file.module).get(name)
            if (mark := mark_of(value)) and (mark.kind, mark.style) == (kind, "letta-evals"):
                return CodeRef(text=f"{file.text}:{name}", file=file, name=name, value=value)
        return None

    def misused_decorators(self) -> list[Fault]:
        """Return a fault for each function whose decorator does not fit its signature."""
        return [
            Fault(
                file=self._folder.show(path),
                line=value.__code__.co_firstlineno,
                problem=f"the {mark.kind} {value.__name__} {mark.problem}",
                allowed=mark.allowed,
            )
            for path, module in self.modules().items()
            for value in dict.fromkeys(filter(inspect.isfunction, list(vars(module).values())))
            if value.__module__ == module.__name__ and (mark := mark_of(value)) and mark.problem
        ]

    def modules(self) -> dict[Path, ModuleType]:
        """Return every module that was loaded, siblings included, by path."""
        return {
            modules.sources[name][0]: module
            for modules in self._folders.values()
            for name, module in modules.modules().items()
        }

    def hidden_siblings(self) -> list[Fault]:
        """Return a fault for each import of `harness` or `graders` beside a file of that name."""
        return [
            Fault(
                file=self._folder.show(Path(file)),
                line=line,
                problem=f'"{name}" means Regrade\'s package here, not the file beside this one',
                allowed=f"a relative import, such as `from . import {name}`, reaches the file",
            )
            for modules in self._folders.values()
            for file, line, name in dict.fromkeys(modules.hidden_by_own)
        ]

    def _load(self, text: str, path: Path) -> CodeFile:
        modules = self._folders.setdefault(path.parent, PrivateModules(path.parent))
        offer_letta_evals()
        try:
            module = modules.load(path)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a user's file may raise anything, SystemExit too
            fault = self._explain(error, path)
            self.faults[path] = fault
            raise BrokenFile(fault.problem) from error
        return CodeFile(text=text, path=path, module=module, sha256=modules.sha256(module.__name__))

    def _explain(self, error: BaseException, path: Path) -> Fault:
        if isinstance(error, SyntaxError) and error.filename:
            return Fault(
                file=self._folder.show(Path(error.filename)),
                line=max(error.lineno or 0, 0),
                column=max(error.offset or 0, 0),
                problem=f"the file is no Python: {error.msg}",
            )
        own = {str(source) for modules in self._folders.values() for source in _paths(modules)}
        frames = traceback.extract_tb(error.__traceback__)
        lines = [(frame.filename, frame.lineno or 0) for frame in frames if frame.filename in own]
        file, line = lines[-1] if lines else (str(path), 0)
        return Fault(
            file=self._folder.show(Path(file)),
            line=line,
            problem=f"the file cannot be loaded: {_error_line(error)}",
            allowed=_advice(error, Path(file).parent),
        )


def _paths(modules: PrivateModules) -> list[Path]:
    return [path for path, _ in modules.sources.values()]


def _error_line(error: BaseException) -> str:
    return " ".join(_PRIVATE.sub("", error_line(error)).split())


def _advice(error: BaseException, folder: Path) -> str:
    missing = getattr(error, "name", None) or ""
    top = str(missing).partition(".")[0]
    if isinstance(error, ImportError) and top in OWN_PACKAGES:
        if (folder / f"{top}.py").is_file() or (folder / top).is_dir():
            return (
                f'"{top}" means Regrade\'s package; `from . import {top}` reaches the file beside'
            )
        return ""
    if isinstance(error, ImportError) and top == PACKAGE and stands_in():
        return "Regrade gives the names of letta-evals that suites use; install it for all of them"
    if isinstance(error, ModuleNotFoundError) and top and top not in sys.stdlib_module_names:
        inner = f"{str(missing).replace('.', '/')}.py"
        if (folder / top).is_dir():
            return f"there is no {inner} beside the file"
        return f"install the package that gives {top}, or put {inner} beside the file"
    return ""
