"""What reading one suite needs at hand: folder, Python files, plug-ins, findings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.loading.code_files import BrokenFile, CodeFiles
from harness.loading.environment import BadReference
from harness.loading.findings import Findings
from harness.loading.nodes import Spot
from harness.loading.plugins import Plugins
from harness.loading.suite_paths import Folder, resolve_path
from harness.types.code import CodeFile, CodeRef, SuitePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """The tools of one reading.

    `environ` fills `${NAME}` in paths; None leaves it alone, where it was filled in already.
    `code` is None where the text is not trusted to name files, as in a dataset.
    """

    folder: Folder
    findings: Findings
    plugins: Plugins
    code: CodeFiles | None
    environ: Mapping[str, str] | None

    def already_expanded(self) -> "Workbench":
        """Give the same workbench for values in which `${NAME}` was filled in."""
        return replace(self, environ=None)

    def resolve(self, kind: type, text: str) -> SuitePath | CodeFile | CodeRef:
        """Resolve the text of an option by its type.

        Raises:
            BadReference: what it names is not there, or cannot be loaded.
        """
        if self.code is None:
            raise BadReference("a dataset cannot name files", "name them in the suite")
        if kind is SuitePath:
            return resolve_path(text, self.folder, self.environ)
        if kind is CodeFile:
            return self.code.file(text, self.environ)
        return self.code.ref(text, self.environ)

    def code_ref(self, spot: Spot, text: str) -> CodeRef | None:
        """Resolve `file.py:name` at a spot; None where that was a fault."""
        try:
            found = self.resolve(CodeRef, text)
        except BadReference as problem:
            self.report(spot, problem)
            return None
        return found if isinstance(found, CodeRef) else None

    def report(self, spot: Spot, problem: BadReference) -> None:
        """Add a fault for a reference; a file that cannot be loaded has its own fault already."""
        if not isinstance(problem, BrokenFile):
            self.findings.fault(spot, problem.problem, problem.allowed)
