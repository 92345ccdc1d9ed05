"""What a row of a dataset refers to beside itself: graders, the file of a rubric, the agent."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.documents.findings import BadReference
from harness.loading.census import Located
from harness.loading.row_graders import RowGraders
from harness.loading.rubric_files import read_rubric
from harness.types.errors import DatasetError, Fault
from harness.types.samples import Sample
from harness.types.suites import Suite, TargetSpec

_MOST_KEPT = 1000


class RowParts:
    """Checks and fills in what rows refer to; `folder` is that of the dataset."""

    def __init__(self, suite: Suite, file: str, folder: Path | None) -> None:
        self._file, self._target = file, suite.target
        self._graders = RowGraders(suite, file, folder or Path.cwd())
        self._folders = rubric_folders(suite, folder)
        self._rubrics: dict[str, str] = {}

    def check(self, row: Located) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
        """Return the faults and the warnings of what a row refers to."""
        faults, warnings = self._graders.check(row)
        sample = row.read.sample if row.read else None
        found = list(faults)
        try:
            self._rubric(row)
        except BadReference as problem:
            found.append(self._fault(row.line, "rubric_path", problem.problem, problem.allowed))
        if sample:
            problems = agent_problems(sample, self._target)
            found += [self._fault(row.line, *problem) for problem in problems]
        return tuple(found), warnings

    def complete(self, row: Located, sample: Sample) -> Sample:
        """Fill in what a row refers to, which was checked.

        Raises:
            DatasetError: the file of its rubric cannot be read any more.
        """
        if row.read is None or (row.read.graders is None and row.read.rubric_path is None):
            return sample
        try:
            rubric = self._rubric(row)
        except BadReference as problem:
            fault = self._fault(row.line, "rubric_path", problem.problem, problem.allowed)
            raise DatasetError([fault]) from problem
        return msgspec.structs.replace(
            sample,
            graders=self._graders.bind(row),
            rubric=sample.rubric if rubric is None else rubric,
        )

    def _rubric(self, row: Located) -> str | None:
        path = row.read.rubric_path if row.read else None
        if path is None:
            return None
        if path not in self._rubrics:
            if len(self._rubrics) >= _MOST_KEPT:
                self._rubrics.clear()
            self._rubrics[path] = read_rubric(path, self._folders)
        return self._rubrics[path]

    def _fault(self, line: int, path: str, problem: str, allowed: str) -> Fault:
        return Fault(file=self._file, line=line, path=path, problem=problem, allowed=allowed)


def rubric_folders(suite: Suite, folder: Path | None) -> Sequence[Path]:
    """Return where rubric files are sought: below the suite's folder, then the dataset's.

    letta-evals seeks them in the suite's folder, and did in the dataset's from 0.17 to 0.23.
    """
    own = [suite.source.absolute().parent] if suite.source else []
    return list(dict.fromkeys([*own, *([folder] if folder else [])]))


def agent_problems(sample: Sample, target: TargetSpec | None) -> Iterator[tuple[str, str, str]]:
    """Yield what agents of the target cannot do for a sample: column, problem, what is allowed."""
    if target is None:
        return
    agent, agents = target.target, f"agents of the kind {target.kind}"
    # There is something to keep between two sessions.
    if len(sample.sessions) > 1 and not getattr(agent, "keeps_memory", False):
        yield "sessions", f"{agents} keep no memory between sessions", "one `input`"
    if sample.history and not getattr(agent, "takes_history", True):
        yield "history", f"{agents} begin with nothing said", "an `input` of several turns"
    if len(sample.turns) > 1 and getattr(target.target, "answers_once", False):
        yield "input", f"{agents} answer one turn, as this target is set up", "one text"
    if len(sample.turns) > 1 and not getattr(agent, "takes_turns", True):
        problem = f"{agents} answer one turn, as the target is set up"
        yield "input", problem, "a single text, or a target that keeps the conversation"
