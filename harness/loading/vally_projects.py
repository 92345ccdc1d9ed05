"""The project file of Vally, where it is named in place of an eval spec."""

from harness.documents.findings import Findings
from harness.documents.nodes import Location, Node, Table, text_of

_KEYS = frozenset({"paths", "environments", "suites"})


def is_project(node: Node) -> bool:
    """Say whether a document is a project file, `.vally.yaml`."""
    return isinstance(node, Table) and bool(node.entries) and node.entries.keys() <= _KEYS


def refuse_project(node: Node, findings: Findings) -> None:
    """Add a fault for each suite of a project file, that names its specs; one if it has none."""
    project = Location(node)
    suites = project.child("suites")
    named = list(suites.children()) if suites else []
    for _, suite in named:
        problem = "a suite of a Vally project is not taken as a whole"
        findings.fault(suite, problem, f"name its eval specs one by one: {_specs_of(suite)}")
    if not named:
        problem = "a project file of Vally holds no eval spec"
        findings.fault(project, problem, "name the file of a spec, such as evals/eval.yaml")


def _specs_of(suite: Location) -> str:
    evals, chosen = suite.child("evals"), suite.child("filter")
    items = list(evals.items()) or [evals] if evals else []
    patterns = ", ".join(filter(None, (text_of(item.node) for item in items)))
    tags = dict(chosen.children()) if chosen else {}
    told = patterns or "it names none"
    # `--tag` takes samples that have one of several tags, a filter asks for one of every key.
    if len(tags) != 1:
        return told
    return f"{told}; and for its filter, {' '.join(_tags(*next(iter(tags.items()))))}"


def _tags(key: str, value: Location) -> list[str]:
    values = list(value.items()) or [value]
    return [f"--tag {key}={text}" for one in values if (text := text_of(one.node))]
