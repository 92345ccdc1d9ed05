"""Whether a run that was to be compared as it ends was, and what came of it."""

import shlex
from dataclasses import replace
from pathlib import Path

import msgspec

from harness.running.run_options import ComparedWith
from harness.storing.manifests import Manifest
from harness.storing.run_folders import COMPARISON
from harness.storing.stored_verdicts import stored_verdicts
from harness.types.errors import StoreError


def planned_comparison(manifest: Manifest) -> ComparedWith | None:
    """Return what a run was to be compared with; None where it was not, or not by the command."""
    told = manifest.compared_with
    return None if told is None else msgspec.convert(told, ComparedWith)


def gone_on_with(given: ComparedWith | None, manifest: Manifest) -> ComparedWith | None:
    """Fill what is not chosen of a comparison by what the run was to be compared with at first.

    `given` has an empty baseline where none is chosen; so has what is returned, if the run was not
    to be compared either.
    """
    planned = planned_comparison(manifest)
    if given is None or planned is None:
        return given or planned
    return replace(
        given,
        baseline=given.baseline or planned.baseline,
        metrics=given.metrics or planned.metrics,
        margins=given.margins or planned.margins,
        required=given.required or planned.required,
    )


def comparison_words(planned: ComparedWith) -> str:
    """Return the options of the command line that ask for a comparison."""
    words = ["--baseline", planned.baseline]
    words += [word for name in planned.metrics for word in ("--metric", name)]
    words += [word for text in planned.margins for word in ("--margin", text)]
    return shlex.join([*words, *(["--require-baseline"] if planned.required else [])])


def known_against(folder: Path, manifest: Manifest) -> str:
    """Say in a sentence part what its own comparison has against a run; empty for nothing.

    A first night has a comparison that says so. One that is missing, damaged or failed may have
    been a regression: the run was killed before it was written, or the disk was full.
    """
    try:
        found = stored_verdicts(folder)
    except StoreError:
        return f"has a damaged {COMPARISON}"
    if found is None:
        planned = manifest.compared_with is not None
        return "was to be compared with its baseline, and was not" if planned else ""
    if any(one.verdict.verdict == "regressed" for one in found.comparisons):
        return "regressed against its own baseline"
    return "could not be compared with its baseline" if found.problems else ""
