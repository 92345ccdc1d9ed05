"""Runs of a part of their suite: what `--sample`, `--tag`, `--limit` and `--model` left of it."""

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from harness.loading.datasets import open_dataset
from harness.loading.selections import Selection, effective
from harness.running.run_options import RunOptions
from harness.storing.manifests import Manifest
from harness.types.errors import DatasetError
from harness.types.suites import Suite

Narrowing = Mapping[str, Any]
"""What was chosen: `ids`, `tags` and `limit` of samples, and `models`; empty for a whole suite."""

_SAMPLES = ("ids", "tags", "limit")
_OPTIONS = {"ids": "--sample", "tags": "--tag", "limit": "--limit", "models": "--model"}


def narrowed_by(suite: Suite, options: RunOptions) -> dict[str, Any]:
    """Return what options leave of a suite as its file has it; that selects samples, too.

    Samples are chosen only where not all that the suite selects are taken.
    """
    taken, whole = (asdict(effective(one, suite)) for one in (options.selection, Selection()))
    found = {name: _plain(taken[name]) for name in _SAMPLES if taken[name] != whole[name]}
    if any(found.values()) and _takes_all(suite, options.selection):
        found = {}
    own = suite.target.models if suite.target else ()
    if options.models and not set(own) <= set(options.models):
        found["models"] = list(options.models)
    return {name: value for name, value in found.items() if value}


def _takes_all(suite: Suite, selection: Selection) -> bool:
    """Say whether a selection takes the very samples that the suite does by itself.

    A dataset with faults is refused where it is opened to be driven, with all of them.
    """
    try:
        taken, whole = (open_dataset(suite, one) for one in (selection, Selection()))
        if taken.count != whole.count:
            return False
        pairs = zip(taken.samples(), whole.samples(), strict=True)
        return all(one.id == other.id for one, other in pairs)
    except DatasetError:
        return False


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def narrowing_of(manifest: Manifest) -> Narrowing:
    """Return what a stored run took of its suite; of one of an older Regrade, its selection."""
    if manifest.narrowed is not None:
        return manifest.narrowed
    return {name: value for name, value in manifest.selection.items() if value}


def narrowing_words(narrowing: Narrowing) -> str:
    """Say by which options a run was narrowed, such as `--tag hard --limit 5`."""
    return " ".join(_words(narrowing))


def _words(narrowing: Narrowing) -> Iterator[str]:
    for name, option in _OPTIONS.items():
        value = narrowing.get(name) or ()
        for one in value if isinstance(value, list | tuple) else (value,):
            yield f"{option} {shlex.quote(str(one))}"


def samples_of(narrowing: Narrowing) -> Narrowing:
    """Return what was chosen of the samples alone; ids and tags in one order."""
    chosen = {name: narrowing[name] for name in _SAMPLES if narrowing.get(name)}
    return {
        name: sorted(value) if isinstance(value, list | tuple) else value
        for name, value in chosen.items()
    }


def stands_for(manifest: Manifest, narrowing: Narrowing, models: Collection[str] | None) -> bool:
    """Say whether a run can be held against one that was narrowed so, and is on these models.

    It took all samples or chose alike; where its models were chosen, these are among them. Models
    may be any where they are None.
    """
    own = narrowing_of(manifest)
    took = samples_of(own)
    if took and took != samples_of(narrowing):
        return False
    if models is None or "models" not in own:
        return True
    return bool(models) and set(models) <= set(manifest.models)
