"""What to do next with a run that has regressed: look, confirm on fresh runs, mend or accept."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.running.sample_places import shown_path
from harness.storing.manifests import Manifest, read_manifest
from harness.types.comparisons import Comparison
from harness.types.errors import StoreError
from harness.types.explanations import NextStep

_EPOCHS = 3
_BEFORE, _AFTER = "confirm/before", "confirm/after"


def regression_step(folder: Path, comparisons: Sequence[Comparison]) -> NextStep | None:
    """Say what to do about a regression, and the commands that confirm it on fresh runs.

    The old version is run from its commit where that is another one; otherwise nobody knows here
    how to have it again, and only the new version is. None where nothing has regressed.
    """
    regressed = [one for one in comparisons if one.verdict.verdict == "regressed"]
    if not regressed:
        return None
    where = "the first divergence" if any(one.divergences for one in regressed) else "the samples"
    words = (
        f"Look at {where}. Wanted as it is? Accept it: {_accepting(folder)}. "
        "Else confirm it on fresh runs of both versions, as docs/nights.md says"
    )
    return NextStep(words=words, command=_confirming(folder, regressed[0]))


def _accepting(folder: Path) -> str:
    out = shown_path(folder.parent)
    elsewhere = [] if out == "runs" else ["--out", out]
    return shlex.join(["regrade", "baseline", "set", folder.name, *elsewhere])


def _confirming(folder: Path, comparison: Comparison) -> str | None:
    try:
        manifest = read_manifest(folder)
    except StoreError:
        return None
    if manifest.suite_file is None:
        return None
    suite = Path(manifest.suite_file)
    after = _run(shown_path(suite), manifest, _AFTER)
    commit = next((one.before for one in comparison.changes if one.what == "commit"), None)
    root = next((one for one in suite.parents if (one / ".git").exists()), None)
    if commit is None or root is None:
        return after
    old = f"../before/{suite.relative_to(root).as_posix()}"
    tree = shlex.join(["git", "worktree", "add", "../before", commit])
    compare = f"regrade compare {_BEFORE}/* {_AFTER}/* --confirmed"
    # Not `&&`: a run that misses its gates is compared all the same.
    return "; ".join([tree, _run(old, manifest, _BEFORE), after, compare])


def _run(suite: str, manifest: Manifest, out: str) -> str:
    parameters = [f"--param={one}" for one in manifest.parameters]
    epochs = str(max(_EPOCHS, manifest.epochs))
    return shlex.join(["regrade", "run", suite, *parameters, "--epochs", epochs, "--out", out])
