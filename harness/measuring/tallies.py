"""Counts and values gathered from outcomes one by one, in any order, a few bytes a trial."""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from harness.measuring.outcome_amounts import amounts_of
from harness.measuring.slice_rows import SliceRows
from harness.measuring.trial_columns import TrialColumn
from harness.types.summaries import AMOUNTS
from harness.types.trajectories import Usage
from harness.types.trials import Outcome, TrialStatus

STATUSES: Sequence[TrialStatus] = get_args(TrialStatus)
UNGRADED, PASSED = 8, 16
"""Marks of a trial's state beside the place of its status in `STATUSES`."""

SKIPPED, BROKE, ERROR, GRADED = range(4)
"""States of a grade; it broke where the grader has said so itself."""


_MISSING = (None, None, "missing")


class GraderTally:
    """One grader on one model.

    A trial that was not driven or graded to its end counts 0 here too: it can never raise a mean.
    A grader that single samples have is not `asked_everywhere`: trials without it do not count.
    Where `excludes` is true, errors are counted and in no mean; failures of the agent stay.
    """

    def __init__(self, *, asked_everywhere: bool = True, excludes: bool = False) -> None:
        self._asked_everywhere, self._excludes = asked_everywhere, excludes
        self.scores, self.passes, self.states = TrialColumn(), TrialColumn("b"), TrialColumn("b")

    def add(self, row: int, outcome: Outcome, name: str) -> None:
        """Take what one trial says of the grader."""
        given = outcome.grades.get(name)
        if given is None and not self._asked_everywhere:
            return
        score, passed, status = given or _MISSING
        if status == "skipped":
            self.states.add(row, SKIPPED)
            return
        graded = status == "graded" and score is not None
        self.states.add(row, GRADED if graded else BROKE if status == "error" else ERROR)
        if self._excludes and not graded and outcome.status != "agent_failure":
            return
        counts = graded and outcome.status in ("completed", "grading_error")
        self.scores.add(row, score if counts else None)
        self.passes.add(row, bool(passed) if counts else None)


class UsageTally:
    """Tokens and money, summed; what is unknown stays unknown."""

    def __init__(self) -> None:
        self._costs = array("d")
        self._input: int | None = None
        self._output: int | None = None

    def add(self, usage: Usage) -> None:
        """Take the usage of one trial."""
        if usage.cost_usd is not None and abs(usage.cost_usd) <= _MOST_USD:
            self._costs.append(usage.cost_usd)
        if usage.input_tokens is not None:
            self._input = (self._input or 0) + usage.input_tokens
        if usage.output_tokens is not None:
            self._output = (self._output or 0) + usage.output_tokens

    @property
    def total(self) -> Usage:
        """Sum what is known of tokens and money."""
        cost = math.fsum(self._costs) if self._costs else None
        return Usage(input_tokens=self._input, output_tokens=self._output, cost_usd=cost)


_MOST_USD = 1e9
"""A reply that claims to have cost more is not believed."""


class ModelTally:
    """One model: its trials, and its graders by name; `excludes` keeps errors out of the means.

    `names` are the graders of the suite. With several `epochs` trials are told apart by sample:
    `samples` then holds the number of each trial's sample.
    """

    def __init__(self, names: Iterable[str], *, epochs: int = 1, excludes: bool = False) -> None:
        self.names, self.epochs = tuple(names), epochs
        self.states, self.scores, self.passes = TrialColumn("b"), TrialColumn(), TrialColumn("b")
        self.amounts: Mapping[str, TrialColumn] = {name: TrialColumn() for name in AMOUNTS}
        self._columns = tuple(self.amounts.values())
        self.samples: array[int] | None = array("I") if epochs > 1 else None
        self.slices = SliceRows()
        self.usage, self.judge_usage = UsageTally(), UsageTally()
        self.graders = {name: GraderTally(excludes=excludes) for name in self.names}
        self.trials = 0
        self._numbers: dict[str, int] = {}
        self._excludes = excludes

    def add(self, outcome: Outcome) -> None:
        """Take one trial; a broken one counts as a failure, or as nothing."""
        row, self.trials = self.trials, self.trials + 1
        if self.samples is not None:
            number = self._numbers.setdefault(outcome.sample_id, len(self._numbers))
            self.samples.append(number)
        self._add_amounts(row, outcome)
        if outcome.slices:
            self.slices.add(row, outcome.slices)
        if not outcome.grades.keys() <= self.graders.keys():
            self._add_graders_of_single_samples(outcome)
        for name, tally in self.graders.items():
            tally.add(row, outcome, name)
        self._add_result(row, outcome)

    def _add_amounts(self, row: int, outcome: Outcome) -> None:
        self.usage.add(outcome.usage)
        if outcome.judge_usage is not None:
            self.judge_usage.add(outcome.judge_usage)
        for column, amount in zip(self._columns, amounts_of(outcome), strict=True):
            if amount is not None:
                column.add(row, amount)

    def _add_result(self, row: int, outcome: Outcome) -> None:
        status = outcome.status
        state = STATUSES.index(status)
        if status == "completed" and outcome.passed is None:
            self.states.add(row, state | UNGRADED)
            return
        self.states.add(row, state | (PASSED if outcome.passed else 0))
        is_error = status in {"target_error", "grading_error"}
        if self._excludes and is_error:
            return
        driven = status == "completed"
        self.scores.add(row, outcome.score if driven else None)
        self.passes.add(row, outcome.passed is True if driven else None)

    def _add_graders_of_single_samples(self, outcome: Outcome) -> None:
        for name in outcome.grades:
            if name not in self.graders:
                self.graders[name] = GraderTally(asked_everywhere=False, excludes=self._excludes)
