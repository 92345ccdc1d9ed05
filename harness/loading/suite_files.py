"""A suite from its YAML file or from a Python mapping: every name resolved, every fault at once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.documents.findings import Findings, in_order
from harness.documents.nodes import Node, from_python
from harness.documents.yaml_files import read_yaml
from harness.loading.code_files import CodeFiles
from harness.loading.load_context import LoadContext
from harness.loading.plugins import find_all_plugins
from harness.loading.quarantine_files import read_quarantine
from harness.loading.suite_assembly import assemble
from harness.loading.suite_paths import Folder, close_file
from harness.loading.vally_parameters import Parameters
from harness.loading.vally_projects import is_project, refuse_project
from harness.loading.vally_suites import is_vally, native_vally
from harness.system.suggestions import list_names
from harness.types.errors import Fault, SuiteError
from harness.types.quarantines import QUARANTINE_FILE
from harness.types.suites import Suite

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A suite as far as it could be read, and every fault that was found.

    `suite` is None where the text is no mapping at all; its `warnings` are complete. `absences`
    are what its target misses on this machine, such as a key: grading goes without it.
    """

    suite: Suite | None
    faults: tuple[Fault, ...]
    absences: tuple[Fault, ...] = ()


def load_suite(path: str | Path, parameters: Parameters | None = None) -> Suite:
    """Load a suite from its file; every name in it is resolved, its dataset is not read yet.

    Paths are relative to the suite's folder. What does not keep a suite from running, such as
    an invalid pattern, is in `warnings`. `parameters` fill an eval spec of Vally.

    Raises:
        SuiteError: with every fault of the suite and its Python files.
    """
    return _finished(draft_of_file(path, parameters))


def build_suite(document: Mapping[str, Any], folder: str | Path) -> Suite:
    """Make a suite of a mapping, as `Suite.from_mapping` says.

    Raises:
        SuiteError: with every fault of the suite and its Python files.
    """
    file = "suite"
    try:
        node = from_python(document)
    except TypeError as error:
        raise SuiteError([Fault(file=file, problem=str(error))]) from error
    return _finished(_draft(node, Findings(file), Folder(path=Path(folder).resolve(), shown="")))


def _finished(draft: Draft) -> Suite:
    if draft.faults or draft.suite is None:
        raise SuiteError(draft.faults)
    return draft.suite


def draft_of_file(path: str | Path, parameters: Parameters | None = None) -> Draft:
    """Read a suite as far as it goes, without raising for what is wrong with it."""
    path = Path(path)
    shown = path.as_posix()
    findings = Findings(shown)
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fault = Fault(
            file=shown, problem=f"the suite cannot be read: {reason}", allowed=_instead(path)
        )
        return Draft(suite=None, faults=(fault,))
    node = read_yaml(data, findings)
    if node is not None and is_project(node):
        refuse_project(node, findings)
        node = None
    if node is None:
        return Draft(suite=None, faults=tuple(findings.faults))
    if is_vally(node):
        node = (parameters or Parameters()).fill(node, findings)
    folder = Folder(path=path.resolve().parent, shown=path.parent.as_posix())
    draft = _draft(node, findings, folder)
    if draft.suite is None:
        return draft
    text = data.decode("utf-8-sig")
    return _with_quarantine(draft, replace(draft.suite, source=path, text=text))


def _with_quarantine(draft: Draft, suite: Suite) -> Draft:
    """Add what the file of quarantined samples beside the suite holds, if there is one."""
    source = suite.source or Path()
    try:
        entries = read_quarantine(source.parent / QUARANTINE_FILE)
    except SuiteError as error:
        return replace(draft, suite=suite, faults=(*draft.faults, *error.faults))
    return replace(draft, suite=replace(suite, quarantine=entries))


def _instead(path: Path) -> str:
    """Name the file that was meant, or those that may be, where a suite is not there."""
    if path.exists() or not path.parent.is_dir():
        return ""
    try:
        names = [one.name for one in path.parent.iterdir() if one.suffix.lower() in _SUFFIXES]
    except OSError:
        return ""
    if close := close_file(path.name, names):
        return f'did you mean "{close}"?'
    found = list_names(sorted(names)).removeprefix("allowed: ")
    return f"name the file of a suite; the folder holds {found}" if names else ""


def _draft(node: Node, findings: Findings, folder: Folder) -> Draft:
    code = CodeFiles(folder)
    context = LoadContext(
        folder=folder,
        findings=findings,
        plugins=find_all_plugins(),
        code=code,
        environ=os.environ,
    )
    vally = native_vally(node, context) if is_vally(node) else None
    suite = assemble(vally.node if vally else node, context)
    in_code = [*code.faults.values(), *code.misused_decorators()]
    faults = in_order(findings.file, [*findings.faults, *in_code])
    warnings = [*findings.warnings, *code.hidden_siblings(), *context.plugins.faults]
    if suite is not None:
        notes = in_order(findings.file, findings.notes)
        suite = replace(suite, warnings=in_order(findings.file, warnings), notes=notes)
        suite = replace(suite, grade_only=vally.grade_only if vally else ())
    return Draft(suite=suite, faults=faults, absences=tuple(findings.absences))
