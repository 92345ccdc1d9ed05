"""Makes `import letta_evals` work where that package is not installed.

The finder stands at the end of `sys.meta_path`: it is asked for what nobody else has, so that an
installed letta-evals, or a file of that name beside the suite, is never hidden. It stays there,
since functions import also when they are called.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from harness.shims.stand_ins import MODULES, PACKAGE

_PLACE = f"<regrade's {PACKAGE}>"
"""The path of our packages: by it the finder knows that a module is asked for inside of them."""


def offer_letta_evals() -> None:
    """Let files import the names of letta-evals; once is enough, and more does no harm."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def stands_in() -> bool:
    """Say whether it is Regrade that gives the names of letta-evals here."""
    spec = getattr(sys.modules.get(PACKAGE), "__spec__", None)
    return spec is not None and spec.origin == _PLACE


class _Finder(MetaPathFinder):
    """Finds the modules of letta-evals that Regrade stands in for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_ours = fullname == PACKAGE or (path is not None and _PLACE in path)
        if fullname not in MODULES or not is_ours:
            return None
        is_package = any(name.startswith(f"{fullname}.") for name in MODULES)
        spec = ModuleSpec(fullname, _Loader(), origin=_PLACE, is_package=is_package)
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(_PLACE)
        return spec


class _Loader(Loader):
    """Fills a module whose members are imported when they are asked for."""

    def exec_module(self, module: ModuleType) -> None:
        members = MODULES[module.__name__]
        fields: dict[str, Any] = vars(module)
        fields["__doc__"] = "Names of letta-evals that Regrade stands in for."
        fields["__all__"] = list(members)
        fields["__version__"] = "regrade"

        def get(name: str) -> Any:
            if name not in members:
                raise AttributeError(f"Regrade's {module.__name__} has no {name!r}")
            fields[name] = value = getattr(import_module(members[name]), name)
            return value

        fields["__getattr__"] = get
