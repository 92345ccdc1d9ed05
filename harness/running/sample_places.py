"""The lines of a dataset at which samples stand, for those who show them."""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from harness.documents.encodings import BOM
from harness.loading.csv_rows import CsvRows
from harness.loading.jsonl_rows import JsonlRows
from harness.storing.manifests import Manifest
from harness.types.explanations import Place


def places_of(
    manifest: Manifest, wanted: Collection[str] | None = None, root: Path | None = None
) -> Mapping[str, Place]:
    """Return where samples stand, by id: those that are wanted, or all.

    Files are named from `root` on, which is where the command runs if nothing is said.

    There are none where the dataset is not there any more, or is not the one that was run; where
    samples stand in the suite, only its file is known, and stands at the empty id.
    """
    if manifest.suite_file is None:
        return {}
    suite_file = Path(manifest.suite_file)
    if manifest.dataset_file is None:
        return {"": Place(shown_path(suite_file, root), 0)}
    path = suite_file.parent / manifest.dataset_file
    if manifest.dataset_provenance is not None or not path.is_file():
        return {}
    return _read(manifest, path, wanted, shown_path(path, root))


def _read(
    manifest: Manifest, path: Path, wanted: Collection[str] | None, shown: str
) -> Mapping[str, Place]:
    found = {"": Place(shown, 0)}
    try:
        with path.open("rb") as lines:
            digest = hashlib.file_digest(lines, hashlib.sha256).hexdigest()
            if f"sha256:{digest}" != manifest.dataset_sha256:
                return found
            lines.seek(0)
            if lines.read(len(BOM)) != BOM:
                lines.seek(0)
            found |= _lines_of(_ids(path, lines), shown, wanted)
    except OSError:
        pass  # it cannot be read any more: no line is better than a wrong one
    return found


def _ids(path: Path, lines: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    is_csv = path.suffix.lower() == ".csv"
    rows = CsvRows(path.name, strips=False) if is_csv else JsonlRows(path.name)
    for row in rows.rows(lines):
        if row.read is not None and row.read.sample is not None:
            yield row.read.sample.id.strip() if is_csv else row.read.sample.id, row.line


def _lines_of(
    ids: Iterable[tuple[str, int]], shown: str, wanted: Collection[str] | None
) -> dict[str, Place]:
    if wanted is None:
        return {sample_id: Place(shown, line) for sample_id, line in ids}
    left, found = set(wanted), dict[str, Place]()
    for sample_id, line in ids:
        if sample_id in left:
            found[sample_id] = Place(shown, line)
            left.discard(sample_id)
        if not left:
            break
    return found


def shown_path(path: Path, root: Path | None = None) -> str:
    """Return a path from a folder on (where the command runs), with forward slashes, if below."""
    try:
        relative = os.path.relpath(path, root)
    except ValueError:  # on another drive
        return path.as_posix()
    return path.as_posix() if relative.startswith("..") else PurePath(relative).as_posix()
