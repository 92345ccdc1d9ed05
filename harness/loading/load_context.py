"""What reading one suite needs at hand: folder, Python files, plug-ins, findings."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from harness.documents.binding import Binder
from harness.documents.findings import BadReference, Findings
from harness.documents.nodes import Location
from harness.documents.shapes import Free
from harness.loading.code_files import CodeFiles
from harness.loading.environment import expand
from harness.loading.plugins import Plugins
from harness.loading.suite_paths import Folder, resolve_path
from harness.types.code import CodeFile, CodeRef, SuitePath, SuiteText
from harness.types.marks import MarkKind, Style

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadContext:
    """The tools of one reading.

    `environ` fills `${NAME}` in paths; None leaves it alone, where it was filled in already.
    `code` is None where the text is not trusted to name files, as in a dataset. `refuses_lint`
    makes faults of what plug-ins find wrong with their options, where it is a warning otherwise.
    `dialect` is whose spelling the author uses.
    """

    folder: Folder
    findings: Findings
    plugins: Plugins
    code: CodeFiles | None
    environ: Mapping[str, str] | None
    refuses_lint: bool = False
    dialect: Style = "regrade"

    def already_expanded(self) -> "LoadContext":
        """Return the same context for values in which `${NAME}` was filled in."""
        return replace(self, environ=None)

    def bind(
        self,
        record: type[_T],
        location: Location,
        *,
        free: Free = "written",
        also: Collection[str] = (),
        foreign: Collection[str] = (),
    ) -> _T | None:
        """Make a dataclass of a mapping, as `Binder.bind` does."""
        binder = Binder(self.findings, self.resolve)
        return binder.bind(record, location, free=free, also=also, foreign=foreign)

    def resolve(self, kind: type, text: str) -> SuitePath | SuiteText | CodeFile | CodeRef:
        """Resolve the text of an option by its type.

        Raises:
            BadReference: what it names is not there, or cannot be loaded.
        """
        if kind is CodeRef:
            return self._ref(text)
        if kind is SuiteText:
            return self._own_text(text)
        code = self._trusted_code()
        if kind is SuitePath:
            return resolve_path(text, self.folder, self.environ)
        return code.file(text, self.environ)

    def _own_text(self, text: str) -> SuiteText:
        if self.code is None:
            raise BadReference("a dataset cannot set this", "name the grader in the suite")
        return SuiteText(text if self.environ is None else expand(text, self.environ))

    def _ref(self, text: str, *, classes: bool = True) -> CodeRef:
        return self._trusted_code().ref(text, self.environ, classes=classes)

    def _trusted_code(self) -> CodeFiles:
        if self.code is None:
            raise BadReference(
                "a dataset cannot name files",
                "write the samples in the suite, or name the grader under its `graders`",
            )
        return self.code

    def marked(self, kind: MarkKind, name: str) -> CodeRef | None:
        """Return a function that a file of the suite, loaded already, registers by that name."""
        return self.code.marked(kind, name) if self.code else None

    def code_ref(self, location: Location, text: str) -> CodeRef | None:
        """Resolve `file.py:function` at a location; None where that was a fault."""
        try:
            found = self._ref(text, classes=False)
        except BadReference as problem:
            self.findings.reference(location, problem)
            return None
        return found
