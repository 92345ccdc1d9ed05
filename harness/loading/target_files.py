"""A target in a file of its own, for suites that name none."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.documents.findings import Findings, in_order
from harness.documents.nodes import Entry, Location, Node, Table
from harness.documents.yaml_files import read_yaml
from harness.loading.code_files import CodeFiles
from harness.loading.load_context import LoadContext
from harness.loading.plugins import find_all_plugins
from harness.loading.suite_fixtures import collect_fixtures
from harness.loading.suite_paths import Folder
from harness.loading.suite_secrets import suite_secrets
from harness.loading.target_entry import bind_target, check_target
from harness.types.code import Fixture
from harness.types.errors import Fault, SuiteError
from harness.types.suites import Suite, TargetSpec


def with_target(suite: Suite, path: Path) -> Suite:
    """Return a suite with the target of a YAML file in place of its own.

    The file holds what stands under `target` in a suite, or is a suite. Paths in it are relative
    to the file; the fixtures of its Python files join those of the suite.

    Raises:
        SuiteError: with every fault of the target and its Python files.
    """
    findings = Findings(path.as_posix())
    node = _read(path, findings)
    folder = Folder(path=path.resolve().parent, shown=path.parent.as_posix())
    code = CodeFiles(folder)
    context = LoadContext(
        folder=folder,
        findings=findings,
        plugins=find_all_plugins(),
        code=code,
        environ=os.environ,
    )
    target, fixtures = _bound(node, context, suite.fixtures) if node is not None else (None, ())
    faults = [*findings.faults, *code.faults.values(), *code.misused_decorators()]
    if faults or target is None:
        raise SuiteError(in_order(findings.file, faults))
    warnings = (*suite.warnings, *findings.warnings)
    target = replace(target, folder=folder.path)
    secrets = (*suite.secrets, *suite_secrets(target, (), {}, context))
    return replace(suite, target=target, fixtures=fixtures, warnings=warnings, secrets=secrets)


def _read(path: Path, findings: Findings) -> Node | None:
    try:
        return read_yaml(path.read_bytes(), findings)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f"the target cannot be read: {reason}"
        raise SuiteError([Fault(file=findings.file, problem=problem)]) from error


def _bound(
    node: Node, context: LoadContext, of_suite: Sequence[Fixture]
) -> tuple[TargetSpec | None, tuple[Fixture, ...]]:
    document = Location(node)
    if document.child("target") is None:
        entries = {"target": Entry(node=node, path="")}
        document = Location(Table(entries=entries, position=node.position))
    at = document.child("target") or document
    target = bind_target(at, context, context.environ)
    if context.code is None:
        return target, tuple(of_suite)
    own, faults = collect_fixtures(context.code, context.folder)
    context.findings.faults.extend(faults)
    fixtures = {**{fixture.name: fixture for fixture in of_suite}, **own}
    if target is not None:
        check_target(target.target, document, context, tuple(fixtures.values()))
    return target, tuple(fixtures.values())
