"""The environments of Vally's specs: what a workspace is to hold, which no target sets up."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.documents.findings import BadReference, Findings
from harness.documents.nodes import Listing, Location, Node, Table, describe, is_null, text_of
from harness.documents.yaml_files import read_yaml
from harness.loading.environment import expand
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest
from harness.types.errors import Fault

PROJECT = ".vally.yaml"
"""The project file: it stands beside the spec or in a folder above, and names environments."""

_KEYS = ("environment", "agent_environment")
_ALLOWED = "leave it out, or grade what was recorded"


@dataclass(slots=True)
class Environments:
    """Looks environments up; the project file is read where one is named."""

    context: LoadContext
    _project: Location | None = None
    _read: bool = False

    def refusals(self, holder: Location) -> Iterator[Fault]:
        """Return what no target sets up for a spec or a stimulus.

        A name that the project file does not have is a fault for everybody.
        """
        for key in _KEYS:
            at = holder.child(key)
            if at is not None and not is_null(at.node):
                yield from self._of(at)

    def _of(self, at: Location) -> Iterator[Fault]:
        name = text_of(at.node)
        if name is None:
            yield from self._unhonoured(at, at)
            return
        try:
            name = expand(name, self.context.environ or {})
        except BadReference as problem:
            yield self._fault(at, f"the environment is not known: {problem.problem}")
            return
        named = self._named(at, name)
        if named is None:
            yield self._fault(at, f'the environment "{name}" is not known')
        else:
            yield from self._unhonoured(at, named)

    def _named(self, at: Location, name: str) -> Location | None:
        project = self._project_file()
        environments = project.child("environments") if project else None
        if environments is None:
            return None
        found = environments.child(name)
        if found is None:
            names = [key for key, _ in environments.children()]
            problem = f'{PROJECT} has no environment "{name}"'
            self.context.findings.fault(at, problem, suggest(name, names))
        return found

    def _unhonoured(self, at: Location, environment: Location) -> Iterator[Fault]:
        if not isinstance(environment.node, Table):
            found = f"found {describe(environment.node)}"
            self.context.findings.fault(at, found, "a mapping, or the name of an environment")
            return
        for key, value in environment.children():
            if not _is_empty(value.node):
                yield self._fault(at, f"no target sets up `{key}` of an environment")

    def _fault(self, at: Location, problem: str) -> Fault:
        return self.context.findings.make(at.path, at.node.position, problem, _ALLOWED)

    def _project_file(self) -> Location | None:
        if not self._read:
            self._read = True
            self._project = self._find(self.context.folder.path)
        return self._project

    def _find(self, folder: Path) -> Location | None:
        for place in (folder, *folder.parents):
            path = place / PROJECT
            if not path.is_file():
                continue
            findings = Findings(path.as_posix())
            try:
                node = read_yaml(path.read_bytes(), findings)
            except OSError as error:
                findings.fault(Location(Listing()), f"cannot be read: {error.strerror}")
                node = None
            self.context.findings.faults.extend(findings.faults)
            return Location(node) if node is not None else None
        return None


def _is_empty(node: Node) -> bool:
    if isinstance(node, Table):
        return not node.entries
    return is_null(node) or (isinstance(node, Listing) and not node.items)
