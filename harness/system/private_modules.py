"""Python files of a suite as modules of a private package.

Sibling files are imported by their plain name or by a relative import, and no other suite sees
them. `harness` and `graders` always mean Regrade's own packages. `sys.path` is not touched: each
module runs with its own `__import__`.
"""

import builtins
import hashlib
import importlib.util
import secrets
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

OWN_PACKAGES = ("harness", "graders")
"""The packages of Regrade, which no file of a suite can hide."""

_PREFIX = "regrade_suite_"


def package_of(module: str) -> str:
    """Return the private package that a module belongs to; empty for any other module."""
    top = module.partition(".")[0]
    return top if top.startswith(_PREFIX) else ""


class PrivateModules:
    """The modules of one folder, each run once; `sources` are the bytes of what was run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = f"{_PREFIX}{secrets.token_hex(8)}"
        self.sources: dict[str, tuple[Path, bytes]] = {}
        self.imports: dict[str, set[str]] = {}
        self.hidden_by_own: list[tuple[str, int, str]] = []
        self._builtins = {**vars(builtins), "__import__": self._import}
        root = ModuleType(self.package)
        root.__path__ = [str(folder)]
        root.__dict__["__builtins__"] = self._builtins
        sys.modules[self.package] = root

    def load(self, path: Path) -> ModuleType:
        """Return the module of a file of this folder; whatever the file raises is raised here."""
        return self._load(f"{self.package}.{path.stem.replace('.', '_')}", path)

    def modules(self) -> dict[str, ModuleType]:
        """Return what was loaded, in the order in which it was asked for, by module name."""
        return {name: sys.modules[name] for name in self.sources if name in sys.modules}

    def sha256(self, module: str) -> str:
        """Hash a module and the files beside it that it imports, directly or not."""
        reached, waiting = {module}, [module]
        while waiting:
            more = self.imports.get(waiting.pop(), set()) - reached
            reached |= more
            waiting.extend(more)
        digest = hashlib.sha256()
        for name in sorted(reached & self.sources.keys()):
            # The name is hashed without the package's, which differs from load to load.
            data = self.sources[name][1]
            digest.update(f"{name[len(self.package) :]}:{len(data)}:".encode() + data)
        return f"sha256:{digest.hexdigest()}"

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002  (the name `__import__` has)
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        importer = str((globals or {}).get("__name__", ""))
        top = name.partition(".")[0]
        if level:
            package = str((globals or {}).get("__package__") or self.package)
            absolute = importlib.util.resolve_name("." * level + name, package)
        elif top in OWN_PACKAGES:
            self._note_hidden(top)
            claim_own_package(top)
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        elif self._is_sibling(top):
            absolute = f"{self.package}.{name}"
        else:
            return builtins.__import__(name, globals, locals, fromlist or (), 0)
        module = self._load_dotted(absolute, importer)
        for item in fromlist or ():
            if not hasattr(module, item) and self._is_there(f"{absolute}.{item}"):
                self._load_dotted(f"{absolute}.{item}", importer)
        if fromlist or level:
            return module
        return sys.modules[f"{self.package}.{top}"]

    def _load_dotted(self, absolute: str, importer: str) -> ModuleType:
        module = sys.modules[self.package]
        parts = absolute.split(".")
        for end in range(2, len(parts) + 1):
            name = ".".join(parts[:end])
            self._note(importer, name)
            if name in sys.modules:
                module = sys.modules[name]
            elif path := self._find(name):
                module = self._load(name, path)
            elif (folder := self._place(name)).is_dir():
                module = self._add_folder(name, folder)
            else:
                plain = name.removeprefix(f"{self.package}.")
                raise ModuleNotFoundError(f"No module named {plain!r} beside the file", name=plain)
        return module

    def _load(self, name: str, path: Path) -> ModuleType:
        if name in sys.modules:
            return sys.modules[name]
        loader = _Source(name, str(path), self.sources)
        spec = importlib.util.spec_from_file_location(
            name,
            path,
            loader=loader,
            submodule_search_locations=[str(path.parent)] if path.name == "__init__.py" else None,
        )
        module = importlib.util.module_from_spec(_given(spec))
        module.__dict__["__builtins__"] = self._builtins
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        parent, _, plain = name.rpartition(".")
        setattr(sys.modules[parent], plain, module)
        return module

    def _add_folder(self, name: str, folder: Path) -> ModuleType:
        """Make a folder without `__init__.py` a package, as Python does."""
        module = ModuleType(name)
        module.__path__ = [str(folder)]
        module.__dict__["__builtins__"] = self._builtins
        sys.modules[name] = module
        parent, _, plain = name.rpartition(".")
        setattr(sys.modules[parent], plain, module)
        return module

    def _place(self, name: str) -> Path:
        return self.folder.joinpath(*name.split(".")[1:])

    def _is_there(self, name: str) -> bool:
        return self._find(name) is not None or self._place(name).is_dir()

    def _find(self, name: str) -> Path | None:
        base = self._place(name)
        for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if path.is_file():
                return path
        return None

    def _is_sibling(self, top: str) -> bool:
        name = f"{self.package}.{top}"
        if self._find(name) is not None:
            return True
        # As for Python itself, a bare folder hides no module that is there.
        return self._place(name).is_dir() and importlib.util.find_spec(top) is None

    def _note(self, importer: str, imported: str) -> None:
        self.imports.setdefault(importer, set()).add(imported)

    def _note_hidden(self, top: str) -> None:
        if not (self.folder / f"{top}.py").is_file():
            return
        # The frame above `_import` is the import statement of the suite's file.
        frame = sys._getframe(2)  # noqa: SLF001  (there is no other way to a caller's line)
        self.hidden_by_own.append((frame.f_code.co_filename, frame.f_lineno, top))


class _Source(SourceFileLoader):
    """Loads from the source alone, so that no stale bytecode is run and none is left behind."""

    def __init__(self, name: str, path: str, sources: dict[str, tuple[Path, bytes]]) -> None:
        super().__init__(name, path)
        self._sources = sources

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        data = self.get_data(path)
        self._sources[fullname] = (Path(path), data)
        code: CodeType = compile(data, path, "exec", dont_inherit=True)
        return code


def _given(spec: ModuleSpec | None) -> ModuleSpec:
    if spec is None:
        raise ImportError("a Python file without a loader")
    return spec


def claim_own_package(name: str) -> None:
    """Make a name of `OWN_PACKAGES` mean Regrade's package, also where a project has such a folder.

    Raises:
        ImportError: another package of that name was imported before.
    """
    own = Path(sys.modules["harness"].__path__[0]).parent / name / "__init__.py"
    loaded = sys.modules.get(name)
    if loaded is not None:
        file = getattr(loaded, "__file__", None)
        if file is None or not own.samefile(file):
            raise ImportError(
                f'the package "{name}" that is loaded is not Regrade\'s but {file or "a folder"}; '
                "rename it, or start regrade where it cannot be imported"
            )
        return
    spec = _given(
        importlib.util.spec_from_file_location(
            name, own, submodule_search_locations=[str(own.parent)]
        )
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _given_loader(spec).exec_module(module)


def _given_loader(spec: ModuleSpec) -> Any:
    if spec.loader is None:
        raise ImportError(f"the package {spec.name} cannot be loaded")
    return spec.loader
