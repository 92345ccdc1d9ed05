"""All trials of one model, or those of a slice: how many there are, and the values of each."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.measuring.tallies import (
    BROKE,
    ERROR,
    GRADED,
    PASSED,
    SKIPPED,
    STATUSES,
    UNGRADED,
    GraderTally,
    ModelTally,
)
from harness.measuring.trial_columns import Rows, TrialColumn, Values
from harness.types.trials import ERROR_STATUSES, TrialStatus

_STATUS = 7
_COMPLETED, _FAILED = STATUSES.index("completed"), STATUSES.index("agent_failure")
_ERRORS = frozenset(STATUSES.index(status) for status in ERROR_STATUSES)


@dataclass(frozen=True)
class GraderPart:
    """The grades that one grader gave to some trials."""

    tally: GraderTally
    scores: Values
    passes: Values

    @cached_property
    def _states(self) -> Counter[float]:
        return Counter(self.tally.states.pick(self.scores.rows)[1])

    @property
    def graded(self) -> int:
        """Count the grades, those of trials that the agent failed among them."""
        return self._states[GRADED]

    @property
    def errors(self) -> int:
        """Count the trials without a grade, because it broke or they were not driven."""
        return self._states[BROKE] + self._states[ERROR]

    @property
    def broke(self) -> int:
        """Count the trials on which the grader itself broke."""
        return self._states[BROKE]

    def failed_by_agent(self, rows: Collection[int]) -> int:
        """Count the trials without a grade that the agent failed; `rows` are those that it did."""
        if not rows:
            return 0
        pairs = zip(*self.tally.states.pick(self.scores.rows), strict=True)
        return sum(row in rows and state in {BROKE, ERROR} for row, state in pairs)

    @property
    def skipped(self) -> int:
        """Count the trials to which it does not apply."""
        return self._states[SKIPPED]

    def judged(self, trials: Mapping[int, float]) -> bool:
        """Say whether it has judged a trial; `trials` are the states of the trials by row.

        What the agent failed is judged, where the grader applies.
        """
        pairs = zip(*self.tally.states.pick(self.scores.rows), strict=True)
        return any(
            (state == GRADED and status == _COMPLETED) or (state != SKIPPED and status == _FAILED)
            for row, state in pairs
            for status in (int(trials[row]) & _STATUS,)
        )

    @property
    def passed(self) -> int:
        """Count the trials that passed by it."""
        return sum(value == 1 for value in self.passes.each())


@dataclass(frozen=True)
class Part:
    """Some trials of one model: those in `rows`, or all."""

    tally: ModelTally
    rows: Rows | None = None

    @cached_property
    def _states(self) -> Counter[int]:
        return Counter(map(int, self.tally.states.pick(self.rows)[1]))

    @property
    def trials(self) -> int:
        """Count the trials."""
        return self._states.total()

    def ended(self, *statuses: TrialStatus) -> int:
        """Count the trials that ended so."""
        wanted = {STATUSES.index(status) for status in statuses}
        return sum(count for state, count in self._states.items() if state & _STATUS in wanted)

    @property
    def errors(self) -> int:
        """Count the trials that could not be driven or graded."""
        return self.ended(*ERROR_STATUSES)

    @property
    def ungraded(self) -> int:
        """Count the trials to which no grader applied."""
        return sum(count for state, count in self._states.items() if state & UNGRADED)

    @property
    def passed(self) -> int:
        """Count the trials that passed."""
        return sum(count for state, count in self._states.items() if state & PASSED)

    @property
    def scores(self) -> Values:
        """Return the scores of the trials."""
        return self._values(self.tally.scores)

    @property
    def passes(self) -> Values:
        """Return whether the trials passed: 1 or 0."""
        return self._values(self.tally.passes)

    def amount(self, name: str) -> Values:
        """Return what the trials took that were driven to their end; `name` is in `AMOUNTS`."""
        return Values(self.tally.amounts[name], self.tally.samples, self._driven)

    def total(self, name: str) -> Values:
        """Return what all trials took, errored ones too; `name` is in `AMOUNTS`."""
        return self._values(self.tally.amounts[name])

    @property
    def driven(self) -> int:
        """Count the trials that are not errors."""
        return self.trials - self.errors

    @cached_property
    def _driven(self) -> Rows | None:
        if not self.errors:
            return self.rows
        rows, states = self.tally.states.pick(self.rows)
        pairs = zip(rows, states, strict=True)
        return [row for row, state in pairs if int(state) & _STATUS not in _ERRORS]

    @cached_property
    def failed_by_agent(self) -> frozenset[int]:
        """Return the rows of the trials that the agent failed."""
        if not self.ended("agent_failure"):
            return frozenset()
        rows, states = self.tally.states.pick(self.rows)
        pairs = zip(rows, states, strict=True)
        return frozenset(row for row, state in pairs if int(state) & _STATUS == _FAILED)

    def judges(self, metric: str) -> bool:
        """Say whether any trial was driven and graded to its end, and by a grader of that name."""
        if metric not in self.graders:
            return self.driven > 0
        return self.graders[metric].judged(dict(zip(*self.tally.states.pick(None), strict=True)))

    @property
    def failures(self) -> Values:
        """Return whether the trials were errors: 1 or 0."""
        errors = TrialColumn("b")
        for row, state in enumerate(self.tally.states.pick(None)[1]):
            errors.add(row, int(state) & _STATUS in _ERRORS)
        return self._values(errors)

    @cached_property
    def graders(self) -> Mapping[str, GraderPart]:
        """Return the graders by name."""
        return {
            name: GraderPart(of, self._values(of.scores), self._values(of.passes))
            for name, of in self.tally.graders.items()
        }

    def slices(self) -> Iterator[tuple[str, Mapping[str, "Part"]]]:
        """Return the slices of the model, by name and value."""
        for name, values in self.tally.slices:
            yield name, {value: Part(self.tally, rows) for value, rows in values.items()}

    def sliced(self, wanted: Mapping[str, str]) -> "Part":
        """Return the trials whose samples have all of these values; all, where none is wanted."""
        return Part(self.tally, self.tally.slices.of(wanted)) if wanted else self

    def _values(self, column: TrialColumn) -> Values:
        return Values(column, self.tally.samples, self.rows)
