"""The graders of one row of a dataset file, bound as those of the suite are.

A dataset is not trusted: its graders are built-in ones or plug-ins, and name no files.
"""

import json
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from harness.documents.findings import Findings
from harness.documents.nodes import Location, Scalar, from_python
from harness.loading.census import Located
from harness.loading.grader_entries import bind_row_graders
from harness.loading.load_context import LoadContext
from harness.loading.plugins import Plugins, find_all_plugins
from harness.loading.suite_paths import Folder
from harness.types.errors import Fault
from harness.types.grades import Role
from harness.types.suites import GraderSpec, Suite

_Faults = tuple[Fault, ...]
_Bound = tuple[tuple[GraderSpec, ...], _Faults, _Faults]
_MOST_KEPT = 1000


def default_role(suite: Suite) -> Role:
    """Return the role of a grader that names none."""
    return "required" if suite.scoring.threshold is None else "scored"


class RowGraders:
    """Binds the column `graders` of rows; what was bound once is kept, since rows are alike."""

    def __init__(self, suite: Suite, file: str, folder: Path) -> None:
        self._file, self._folder = file, folder
        self._role: Role = default_role(suite)
        self._taken = frozenset(spec.name for spec in suite.graders)
        self._bound: dict[str, _Bound] = {}

    @cached_property
    def _plugins(self) -> Plugins:
        return find_all_plugins()

    def check(self, row: Located) -> tuple[_Faults, _Faults]:
        """Return the faults and the warnings of a row's graders."""
        _, faults, warnings = self._of(row)
        return (
            tuple(replace(fault, line=row.line) for fault in faults),
            tuple(replace(warning, line=row.line) for warning in warnings),
        )

    def bind(self, row: Located) -> tuple[GraderSpec, ...]:
        """Return the graders of a row that was checked."""
        return self._of(row)[0]

    def _of(self, row: Located) -> _Bound:
        if row.read is None or row.read.graders is None:
            return (), (), ()
        text = json.dumps(row.read.graders)
        if text not in self._bound:
            if len(self._bound) >= _MOST_KEPT:
                self._bound.clear()
            self._bound[text] = self._bind(row.read.graders)
        return self._bound[text]

    def _bind(self, graders: object) -> _Bound:
        findings = Findings(self._file)
        context = LoadContext(
            folder=Folder(path=self._folder),
            findings=findings,
            plugins=self._plugins,
            code=None,
            environ=None,
        )
        try:
            location = Location(from_python(graders), "graders")
        except TypeError as error:
            findings.fault(Location(Scalar(value=None), "graders"), str(error))
            return (), tuple(findings.faults), ()
        entries = bind_row_graders(location, context, role=self._role, taken=self._taken)
        return entries.specs, tuple(findings.faults), tuple(findings.warnings)
