"""A script's file comes in, the script goes out, or every fault of it at once."""

from dataclasses import replace
from pathlib import Path

from harness.documents.binding import Binder
from harness.documents.findings import Findings, in_order
from harness.documents.nodes import Location
from harness.documents.yaml_files import read_yaml
from harness.serving.script_checks import find_problems
from harness.serving.script_records import Rule, Script
from harness.types.errors import SuiteError


def read_script(path: Path) -> Script:
    """Read a script from its YAML file.

    Raises:
        SuiteError: with every fault of the file.
    """
    findings = Findings(path.as_posix())
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        fault = findings.make(problem=f"the script cannot be read: {reason}")
        raise SuiteError([fault]) from error
    return _read(data, findings)


def parse_script(text: str, file: str) -> Script:
    """Read a script from YAML text; `file` is what faults call it. Raises as `read_script`."""
    return _read(text.encode(errors="surrogatepass"), Findings(file))


def _read(data: bytes, findings: Findings) -> Script:
    node = read_yaml(data, findings)
    script = None
    if node is not None:
        document = Location(node)
        script = Binder(findings).bind(Script, document, free="json")
        for path, problem, allowed in find_problems(script) if script else ():
            findings.fault(document.follow(path)[0], problem, allowed)
    if script is None or findings.faults:
        raise SuiteError(in_order(findings.file, findings.faults))
    return replace(script, models=_joined(script))


def _joined(script: Script) -> dict[str, tuple[Rule, ...]]:
    """Put the rules of the other model in the place of each `like`."""
    models: dict[str, tuple[Rule, ...]] = {}
    for name, rules in script.models.items():
        models[name] = tuple(
            joined for rule in rules for joined in (models[rule.like] if rule.like else (rule,))
        )
    return models
