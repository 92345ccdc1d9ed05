"""The file beside a suite that holds its quarantined samples, read and written."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import yaml

from harness.documents.binding import Binder
from harness.documents.findings import Findings, in_order
from harness.documents.nodes import Location
from harness.documents.yaml_files import read_yaml
from harness.system.files import write_whole
from harness.types.errors import Fault, InputError, SuiteError
from harness.types.quarantines import QuarantineEntry

_HEAD = """\
# Samples that run and are shown, but do not gate until the day `ends`.
# `regrade history --quarantine ID` adds one, `--release ID` takes it out.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuarantineFile:
    quarantine: tuple[QuarantineEntry, ...] = ()


def read_quarantine(path: Path) -> tuple[QuarantineEntry, ...]:
    """Read the quarantined samples of a suite, in the order of the file; none without a file.

    Raises:
        SuiteError: with every fault of the file.
    """
    findings = Findings(path.as_posix())
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        problem = f"cannot be read: {error.strerror or type(error).__name__}"
        raise SuiteError([Fault(file=findings.file, problem=problem)]) from error
    node = read_yaml(data, findings)
    bound = Binder(findings).bind(_QuarantineFile, Location(node)) if node else None
    if findings.faults or bound is None:
        raise SuiteError(in_order(findings.file, findings.faults))
    return bound.quarantine


def write_quarantine(path: Path, entries: Iterable[QuarantineEntry]) -> None:
    """Write the quarantined samples of a suite.

    Raises:
        InputError: the file cannot be written.
    """
    rows = [_row(entry) for entry in entries]
    text = yaml.safe_dump(
        {"quarantine": rows}, sort_keys=False, allow_unicode=True, default_flow_style=False
    )
    try:
        write_whole(path, f"{_HEAD}{text}")
    except OSError as error:
        problem = f"cannot be written: {error.strerror or type(error).__name__}"
        raise InputError([Fault(file=str(path), problem=problem)]) from error


def _row(entry: QuarantineEntry) -> dict[str, str | date]:
    row = {
        "sample": entry.sample,
        "model": entry.model,
        "since": entry.since,
        "ends": entry.ends,
        "key": entry.key,
        "reason": entry.reason,
    }
    return {name: value for name, value in row.items() if value}
