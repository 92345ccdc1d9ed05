"""One model of one run, sample by sample: what two runs are compared by, some bytes a trial."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.measuring.paired_outcomes import SideOutcomes
from harness.storing.counted_outcomes import CountedOutcomes
from harness.storing.manifests import Manifest, read_manifest
from harness.types.errors import Fault, InputError
from harness.types.suites import ErrorRule
from harness.types.trials import ERROR_STATUSES, Outcome

TRIAL = "trial"
"""The metric that is the trial as a whole: whether it passed."""

COSTS: Mapping[str, str] = {"seconds": "s", "cost_usd": "USD", "tokens": "tokens"}
"""Metrics of which little is good, with their units."""

_NEW = SideOutcomes(0.0, 0)


@dataclass(slots=True)
class Column:
    """One metric by sample (row): the sum of its values, and how many trials are behind it.

    `is_binary` says that every value is 0 or 1.
    """

    totals: "array[float]"
    graded: "array[int]"
    errored: "array[int]"
    is_binary: bool = True

    @staticmethod
    def of_rows(rows: int) -> "Column":
        """Make an empty column for so many samples."""
        zeros = bytes(4 * rows)
        return Column(array("d", bytes(8 * rows)), array("i", zeros), array("i", zeros))

    def add(self, row: int, value: float | None) -> None:
        """Count a trial; None is one that ended in an error."""
        if value is None:
            self.errored[row] += 1
            return
        self.totals[row] += value
        self.graded[row] += 1
        self.is_binary = self.is_binary and value in (0.0, 1.0)

    def __contains__(self, row: int) -> bool:
        """Say whether a sample has any trial here."""
        return bool(self.graded[row] or self.errored[row])


class ComparedSide:
    """One model of one run.

    `samples` are rows by id; `keys` and `marks` hash, by row, what the agent was given and what
    the grades were made of (0 for a sample without any). `trials` counts by row. Hashes hold for
    this process alone.

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
        graders = dict.fromkeys(self.manifest.grader_keys)
        counted = sum(1 for _ in self._outcomes)
        # Records of another tool have as many epochs of a sample as there are.
        self._is_whole = counted >= self.manifest.planned
        for outcome in self.outcomes():
            self._open_row(outcome)
            graders.update(dict.fromkeys(outcome.grades))
        self.graders = tuple(graders)
        if not self.samples and model not in self.manifest.models:
            raise _no_such_model(folder, model, self.manifest.models)

    def outcomes(self) -> Iterator[Outcome]:
        """Go through the outcomes of the model that count."""
        return (one for _, one in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Outcome]]:
        """Go through the outcomes with the index of each trial in the log."""
        return ((index, one) for index, one in self._outcomes if one.model == self.model)

    def _open_row(self, outcome: Outcome) -> None:
        row = self.samples.setdefault(outcome.sample_id, len(self.samples))
        if row == len(self.keys):
            self.keys.append(0)
            self.marks.append(0)
            self.trials.append(0)
        self.keys[row] = hash(outcome.sample_key)
        self.trials[row] += 1
        if outcome.grade_keys:
            self.marks[row] = grade_mark(outcome)

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
            return f"{planned - trials} of its {planned} trials are missing"
        errors = sum(one.status in ERROR_STATUSES for one in self.outcomes())
        allowed = float(self.manifest.limits.get("max_error_rate", 1))
        if not trials or errors / trials > allowed:
            return f"{errors} of its {trials} trials ended in errors"
        return ""

    def columns(self, metrics: Iterable[str]) -> dict[str, Column]:
        """Gather metrics by sample: the trial, graders by name (scores and passes), and costs.

        A grader has two columns: its name holds whether it passed, `score NAME` its scores.
        """
        made = {name: Column.of_rows(len(self.samples)) for name in metrics}
        asked = frozenset(self.manifest.grader_keys)
        for outcome in self.outcomes():
            row = self.samples[outcome.sample_id]
            for name, column in made.items():
                value = value_of(outcome, name, asked)
                if not isinstance(value, str):
                    column.add(row, value)
        return made

    def side(self, column: Column, row: int | None, errors: ErrorRule) -> SideOutcomes:
        """Return what the run has of one sample; of one that never ran, all its epochs missing.

        Where `errors` are excluded they count as trials that never ran.
        """
        if row is None:
            return _NEW._replace(never_ran=self.manifest.epochs)
        errored, never = column.errored[row], self.never_ran(row)
        if errors == "exclude":
            errored, never = 0, never + errored
        return SideOutcomes(column.totals[row], column.graded[row], errored, never)


SCORE = "score "
"""What the name of a grader's column of scores begins with."""


def grade_mark(outcome: Outcome) -> int:
    """Hash what the grades of a trial were made of, in any order; for this process alone."""
    return hash(frozenset(outcome.grade_keys.items()))


def value_of(
    outcome: Outcome, metric: str, asked: frozenset[str] = frozenset()
) -> float | str | None:
    """Return the value of a metric of one trial: None for an error, a text where it has none.

    `asked` are the graders that every sample has.
    """
    if metric == TRIAL:
        return _trial_value(outcome)
    if metric in COSTS:
        return _cost(outcome, metric)
    return _grade_value(outcome, metric, asked)


def _grade_value(outcome: Outcome, metric: str, asked: frozenset[str]) -> float | str | None:
    name = metric.removeprefix(SCORE)
    given = outcome.grades.get(name)
    if given is None and name not in asked:
        return "not asked"
    score, passed, status = given or (None, None, "error")
    if status == "skipped":
        return "skipped"
    if outcome.status == "agent_failure":
        return 0.0
    if status != "graded" or score is None:
        return None
    return score if metric != name else float(bool(passed))


def _trial_value(outcome: Outcome) -> float | str | None:
    if outcome.status in ERROR_STATUSES:
        return None
    if outcome.status == "completed" and outcome.passed is None:
        return "no grader applied"
    return float(outcome.passed is True)


def _cost(outcome: Outcome, metric: str) -> float | str:
    if outcome.status in ERROR_STATUSES:
        return "not driven to its end"
    usage = outcome.usage
    tokens = None
    if usage.input_tokens is not None or usage.output_tokens is not None:
        tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    values = {"seconds": outcome.seconds, "cost_usd": usage.cost_usd, "tokens": tokens}
    value = values[metric]
    return "unknown" if value is None else float(value)


def _no_such_model(folder: Path, model: str, models: Iterable[str]) -> InputError:
    allowed = f"one of {', '.join(models)}"
    return InputError([Fault(file=str(folder), problem=f"no model {model!r}", allowed=allowed)])
