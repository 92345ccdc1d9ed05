"""The commands that show a trial again, and drive its sample again."""

import shlex
from pathlib import Path

from harness.running.sample_places import shown_path
from harness.storing.manifests import Manifest

_ASIDE = "tries"
"""The folder for runs of one sample, so that the next whole run has no such one as its baseline."""


def commands_of(
    folder: Path, manifest: Manifest | None, sample_id: str, model: str
) -> tuple[str, ...]:
    """Return commands for a shell: the first shows what happened, the second drives it again.

    Where nothing was driven, or the suite was made in Python, there is no second.
    """
    show = ["regrade", "show", shown_path(folder), f"--model={model}", "--", sample_id]
    if not sample_id.startswith("-"):
        show.remove("--")
    again = _driving(manifest, sample_id, model) if manifest else []
    return tuple(shlex.join(words) for words in (show, again) if words)


def _driving(manifest: Manifest, sample_id: str, model: str) -> list[str]:
    if manifest.suite_file is None or manifest.graded_from is not None:
        return []
    words = ["regrade", "run", shown_path(Path(manifest.suite_file))]
    if manifest.target_file is not None:
        words.append(f"--target={shown_path(Path(manifest.target_file))}")
    words += [f"--param={one}" for one in manifest.parameters]
    # A suite without models has one that is called so, and takes no other.
    named = [] if manifest.models == ("default",) else [f"--model={model}"]
    return [*words, *named, f"--sample={sample_id}", f"--out={_ASIDE}"]
