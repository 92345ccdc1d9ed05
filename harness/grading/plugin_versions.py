"""Which release of which package a plug-in comes from."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import Distribution, entry_points, packages_distributions, version

_GROUPS = ("regrade.graders", "regrade.extractors", "regrade.targets")


@lru_cache(maxsize=256)
def release_of(plugin: type) -> str:
    """Return the package and version of a plug-in's class, such as `regrade==0.1.0`.

    Empty for a class of no installed package.
    """
    package = plugin.__module__.partition(".")[0]
    offered = _offered().get(package)
    if offered is not None:
        return offered
    names = sorted(set(_installed().get(package, ())))
    return " ".join(f"{name}=={version(name)}" for name in names)


@lru_cache(maxsize=1)
def _offered() -> dict[str, str]:
    """Return the release of every package that offers plug-ins, by the name it is imported by.

    Its entry points name it also where it is installed in editable mode, without a list of files.
    """
    points = [point for group in _GROUPS for point in entry_points(group=group)]
    return {point.module.partition(".")[0]: _release(point.dist) for point in points if point.dist}


@lru_cache(maxsize=1)
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def _release(distribution: Distribution) -> str:
    return f"{distribution.name}=={distribution.version}"
