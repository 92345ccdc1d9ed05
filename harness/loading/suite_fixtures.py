"""The fixtures of a suite's Python files: found by their marks, checked against one another."""

import inspect
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from harness.loading.code_files import CodeFiles
from harness.loading.custom_functions import GRADER_PARAMETERS, function_needs
from harness.loading.suite_paths import Folder
from harness.system.suggestions import suggest
from harness.types.code import Fixture
from harness.types.errors import Fault
from harness.types.marks import mark_of
from harness.types.protocols import AGENT_STATE

_SAMPLE = "sample"


def collect_fixtures(code: CodeFiles, folder: Folder) -> tuple[dict[str, Fixture], list[Fault]]:
    """Return the fixtures by name, in the order of the files, and what is wrong with them."""
    fixtures: dict[str, Fixture] = {}
    lines: dict[str, int] = {}
    faults: list[Fault] = []
    for fixture, line in _marked(code, folder):
        if fixture.name in fixtures:
            first = fixtures[fixture.name]
            problem = f'there is a fixture "{fixture.name}" in {first.file} already'
            faults.append(Fault(file=fixture.file, line=line, problem=problem))
            continue
        fixtures[fixture.name] = fixture
        lines[fixture.name] = line
    for name, fixture in fixtures.items():
        if wrong := _problem(fixture, fixtures):
            said = f'the fixture "{name}" {wrong[0]}'
            faults.append(
                Fault(file=fixture.file, line=lines[name], problem=said, allowed=wrong[1])
            )
    return fixtures, faults or _cycle(fixtures, lines)


def _marked(code: CodeFiles, folder: Folder) -> Iterator[tuple[Fixture, int]]:
    for path, module in code.modules().items():
        # A copy: whatever runs meanwhile may add names.
        for value in list(vars(module).values()):
            mark = mark_of(value)
            if mark is None or mark.kind != "fixture" or value.__module__ != module.__name__:
                continue
            needs = function_needs(value, name=mark.name, kind="fixture", file=folder.show(path))
            if needs is None:
                continue
            fixture = Fixture(
                name=mark.name,
                scope=mark.scope,
                function=value,
                parameters=needs.parameters,
                file=needs.file,
            )
            yield fixture, needs.line


def _problem(fixture: Fixture, fixtures: Mapping[str, Fixture]) -> tuple[str, str] | None:
    if fixture.name in {*GRADER_PARAMETERS, AGENT_STATE}:
        return "has a name that means something else", "another name"
    if fixture.scope not in {"run", "trial"}:
        return f'has the scope "{fixture.scope}"', 'allowed: "run", "trial"'
    function = fixture.function
    if not (inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)):
        return "is no generator function", "it yields its object once, and clears up after that"
    return _asks_wrongly(fixture, fixtures)


def _asks_wrongly(fixture: Fixture, fixtures: Mapping[str, Fixture]) -> tuple[str, str] | None:
    for name in fixture.parameters:
        if name == _SAMPLE:
            if fixture.scope == "run":
                return "lives for the whole run and cannot ask for a sample", 'scope="trial"'
        elif name not in fixtures:
            known = [*(other for other in fixtures if other != fixture.name), _SAMPLE]
            return f'asks for "{name}", which is no fixture', suggest(name, known)
        elif fixture.scope == "run" and fixtures[name].scope == "trial":
            return f'lives for the whole run and cannot ask for "{name}" of one trial', ""
    return None


def _cycle(fixtures: Mapping[str, Fixture], lines: Mapping[str, int]) -> list[Fault]:
    needs = {n: [p for p in f.parameters if p in fixtures] for n, f in fixtures.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        cycle = [str(name) for name in error.args[1]]
        first = cycle[0]
        shown = " -> ".join(reversed(cycle))
        problem = f"fixtures ask for one another in a circle: {shown}"
        return [Fault(file=fixtures[first].file, line=lines[first], problem=problem)]
    return []
