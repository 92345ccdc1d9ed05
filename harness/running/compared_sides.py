"""One model of one run, sample by sample: what two runs are compared by, some bytes a trial."""

from array import array
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from harness.measuring.outcome_amounts import amounts_of
from harness.storing.counted_outcomes import CountedOutcomes
from harness.storing.manifests import Manifest, read_manifest
from harness.system.shown_numbers import counted_of
from harness.types.errors import Fault, InputError
from harness.types.summaries import AMOUNTS
from harness.types.trials import ERROR_STATUSES, Outcome

TRIAL = "trial"
"""The metric that is the trial as a whole: whether it passed."""

COSTS = AMOUNTS
"""Metrics of which little is good, with their units."""

TIMES = frozenset({"seconds"})
"""Costs that the load of machine and provider moves for all trials of a run at once."""


_AHEAD = 1_024
_BINARY = frozenset({0.0, 1.0, None})
_AMOUNT_AT = {name: place for place, name in enumerate(AMOUNTS)}

SCORE = "score "
"""What the name of a grader's scores begins with."""


class Column:
    """One metric by sample (row): the sum of its values, and how many trials are behind it."""

    def __init__(self) -> None:
        self.totals, self.graded, self.errored = array("d"), array("i"), array("i")

    def add(self, row: int, value: float | None) -> None:
        """Count a trial; None is one that ended in an error."""
        if row >= len(self.graded):
            self.extend(row + _AHEAD)
        if value is None:
            self.errored[row] += 1
        else:
            self.totals[row] += value
            self.graded[row] += 1

    def extend(self, rows: int) -> None:
        """Make it as long as so many rows, at least."""
        if (missing := rows - len(self.graded)) > 0:
            self.totals.frombytes(bytes(8 * missing))
            self.graded.frombytes(bytes(4 * missing))
            self.errored.frombytes(bytes(4 * missing))


class ComparedSide:
    """One model of one run.

    `samples` are rows by id; `keys` and `marks` hash, by row, what the agent was given and what
    the grades were made of (0 for a sample without any). `trials` counts by row. Hashes hold for
    this process alone. `passes` hold by sample how the trial and each grader passed; `scored` are
    the graders of which some score is neither 0 nor 1.

    Raises:
        StoreError: the run cannot be read.
        InputError: it has no such model.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self.folder, self.model = folder, model
        self.manifest: Manifest = read_manifest(folder)
        self._outcomes = CountedOutcomes(folder)
        self.samples: dict[str, int] = {}
        self.keys, self.marks = array("q"), array("q")
        self.trials: array[int] = array("i")
        self.errors = 0
        self._asked = frozenset(self.manifest.grader_keys)
        self.passes = {name: Column() for name in (TRIAL, *self.manifest.grader_keys)}
        self.scored: set[str] = set()
        # Records of another tool have as many epochs of a sample as there are.
        self._is_whole = len(self._outcomes) >= self.manifest.planned
        for outcome in self.outcomes():
            self._add(outcome)
        for column in self.passes.values():
            column.extend(len(self.samples))
        if not self.samples and model not in self.manifest.models:
            raise _no_such_model(folder, model, self.manifest.models)

    @property
    def graders(self) -> tuple[str, ...]:
        """Return the names of all graders, those of single samples included."""
        return tuple(name for name in self.passes if name != TRIAL)

    def outcomes(self) -> Iterator[Outcome]:
        """Go through the outcomes of the model that count."""
        return (one for _, one in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Outcome]]:
        """Go through the outcomes with the index of each trial in the log."""
        return ((index, one) for index, one in self._outcomes if one.model == self.model)

    def gathered(self, metrics: Collection[str]) -> dict[str, Column]:
        """Gather further metrics by sample: costs, and scores as `score NAME`."""
        made = {name: Column() for name in metrics}
        for outcome in self.outcomes() if made else ():
            row = self.samples[outcome.sample_id]
            for name, column in made.items():
                value = value_of(outcome, name)
                if not isinstance(value, str):
                    column.add(row, value)
        for column in made.values():
            column.extend(len(self.samples))
        return made

    def _add(self, outcome: Outcome) -> None:
        row = self.samples.setdefault(outcome.sample_id, len(self.samples))
        if row == len(self.keys):
            self.keys.append(0)
            self.marks.append(0)
            self.trials.append(0)
        self.keys[row] = hash(outcome.sample_key)
        self.trials[row] += 1
        self.errors += outcome.status in ERROR_STATUSES
        if outcome.grade_keys:
            self.marks[row] = grade_mark(outcome)
        value = _trial_value(outcome)
        if not isinstance(value, str):
            self.passes[TRIAL].add(row, value)
        self._add_grades(row, outcome)

    def _add_grades(self, row: int, outcome: Outcome) -> None:
        names = outcome.grades.keys()
        for name in names if names >= self._asked else names | self._asked:
            passed, score = _grade_values(outcome, name, asked=name in self._asked)
            if isinstance(passed, str):
                continue
            if name not in self.passes:
                self.passes[name] = Column()
            self.passes[name].add(row, passed)
            if score not in _BINARY:
                self.scored.add(name)

    @property
    def missing_samples(self) -> int:
        """Count the samples that were planned and have no trial at all."""
        per_sample = max(len(self.manifest.models) * self.manifest.epochs, 1)
        planned = self.manifest.planned // per_sample
        return 0 if self._is_whole else max(planned - len(self.samples), 0)

    def never_ran(self, row: int) -> int:
        """Count the trials of a sample that were planned and have no outcome."""
        return 0 if self._is_whole else max(self.manifest.epochs - self.trials[row], 0)

    def incompleteness(self) -> str:
        """Say why the run of this model cannot be a baseline; empty where it can."""
        planned = self.manifest.planned // max(len(self.manifest.models), 1)
        trials = sum(self.trials)
        if trials < planned and not self._is_whole:
            return f"{counted_of(planned - trials, planned, 'planned trial')} did not end"
        if not trials:
            return "it has no trial"
        allowed = float(self.manifest.limits.get("max_error_rate", 1))
        if self.errors / trials > allowed:
            return f"{counted_of(self.errors, trials, 'trial')} ended in errors"
        return ""


def grade_mark(outcome: Outcome) -> int:
    """Hash what the grades of a trial were made of, in any order; for this process alone."""
    return hash(frozenset(outcome.grade_keys.items()))


def value_of(outcome: Outcome, metric: str) -> float | str | None:
    """Return the value of a metric of one trial: None for an error, a text where it has none."""
    if metric == TRIAL:
        return _trial_value(outcome)
    if metric in COSTS and metric not in outcome.grades:
        return _cost(outcome, metric)
    passed, score = _grade_values(outcome, metric.removeprefix(SCORE), asked=False)
    return score if metric.startswith(SCORE) else passed


_Value = float | str | None


def _grade_values(outcome: Outcome, name: str, *, asked: bool) -> tuple[_Value, _Value]:
    """Return whether a grader passed, and its score; `asked` says that every sample has it."""
    given = outcome.grades.get(name)
    if given is None and not asked:
        return "not asked", "not asked"
    score, passed, status = given or (None, None, "error")
    if status == "skipped":
        return "skipped", "skipped"
    if outcome.status == "agent_failure":
        return 0.0, 0.0
    if status != "graded" or score is None:
        return None, None
    return float(bool(passed)), score


def _trial_value(outcome: Outcome) -> float | str | None:
    if outcome.status in ERROR_STATUSES:
        return None
    if outcome.status == "completed" and outcome.passed is None:
        return "no grader applied"
    return float(outcome.passed is True)


def _cost(outcome: Outcome, metric: str) -> float | str:
    if outcome.status in ERROR_STATUSES:
        return "not driven to its end"
    value = amounts_of(outcome)[_AMOUNT_AT[metric]]
    return "unknown" if value is None else float(value)


def _no_such_model(folder: Path, model: str, models: Iterable[str]) -> InputError:
    allowed = f"one of {', '.join(models)}"
    return InputError([Fault(file=str(folder), problem=f"no model {model!r}", allowed=allowed)])
