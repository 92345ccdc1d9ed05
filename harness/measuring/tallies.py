"""Counts and values gathered from outcomes one by one, in any order, a few bytes a trial."""

import math
from array import array
from collections.abc import Iterator

from harness.system.numbers import reaches
from harness.types.trajectories import Usage
from harness.types.trials import ERROR_STATUSES, Outcome


class Values:
    """The values of one metric in 0..1; with several epochs they are kept by sample.

    A trial without a value (None) takes the worst one, which depends on the question: 0 where
    much is good, 1 where a gate wants little.
    """

    def __init__(self, *, repeated: bool) -> None:
        self._all = array("d")
        self._by_sample: dict[str, array[float]] | None = {} if repeated else None

    def add(self, sample_id: str, value: float | None) -> None:
        """Take the value of one trial."""
        number = _MISSING if value is None else value
        if self._by_sample is None:
            self._all.append(number)
        else:
            self._by_sample.setdefault(sample_id, array("d")).append(number)

    def each(self, *, worst: float = 0.0) -> Iterator[float]:
        """Return the value of every trial."""
        groups = [self._all] if self._by_sample is None else self._by_sample.values()
        for values in groups:
            yield from (worst if value == _MISSING else value for value in values)

    def means(self, *, worst: float = 0.0, reaching: float | None = None) -> "array[float]":
        """Return the mean of every sample over its epochs, in ascending order.

        With `reaching`, a value counts 1 where it reaches that bound, and else 0.
        """

        def count(value: float) -> float:
            value = worst if value == _MISSING else value
            return value if reaching is None else float(reaches(value, reaching))

        if self._by_sample is None:
            return array("d", sorted(map(count, self._all)))
        groups = self._by_sample.values()
        return array("d", sorted(math.fsum(map(count, each)) / len(each) for each in groups))


_MOST_USD = 1e9
"""A reply that claims to have cost more is not believed."""

_MISSING = -1.0
"""Stands for no value in an array of numbers in 0..1."""


class GraderTally:
    """One grader on one model.

    A trial that was not driven or graded to its end counts 0 here too: it can never raise a mean.
    A grader that single samples have is not `asked_everywhere`: trials without it do not count.
    Where `excludes` is true, errors are counted and in no mean; failures of the agent stay.
    `counted` are the trials behind the means.
    """

    def __init__(
        self, *, repeated: bool, asked_everywhere: bool = True, excludes: bool = False
    ) -> None:
        self._asked_everywhere, self._excludes = asked_everywhere, excludes
        self.scores = Values(repeated=repeated)
        self.passes = Values(repeated=repeated)
        self.passed = self.graded = self.errors = self.skipped = self.broke = self.counted = 0

    def add(self, outcome: Outcome, name: str) -> None:
        """Take what one trial says of the grader."""
        given = outcome.grades.get(name)
        if given is None and not self._asked_everywhere:
            return
        score, passed, status = given or (None, None, "error")
        if status == "skipped":
            self.skipped += 1
            return
        self.broke += status == "error" and given is not None
        graded = status == "graded" and score is not None
        self.graded += graded
        self.errors += not graded
        if self._excludes and not graded and outcome.status != "agent_failure":
            return
        self.counted += 1
        counts = graded and outcome.status in ("completed", "grading_error")
        self.passed += bool(counts and passed)
        self.scores.add(outcome.sample_id, score if counts else None)
        self.passes.add(outcome.sample_id, float(bool(passed)) if counts else None)


class UsageTally:
    """Tokens and money, summed; what is unknown stays unknown."""

    def __init__(self) -> None:
        self._costs = array("d")
        self._tokens: list[int | None] = [None, None]

    def add(self, usage: Usage | None) -> None:
        """Take the usage of one trial."""
        if usage is None:
            return
        if usage.cost_usd is not None and abs(usage.cost_usd) <= _MOST_USD:
            self._costs.append(usage.cost_usd)
        for place, tokens in enumerate((usage.input_tokens, usage.output_tokens)):
            if tokens is not None:
                self._tokens[place] = (self._tokens[place] or 0) + tokens

    @property
    def total(self) -> Usage:
        """Sum what is known of tokens and money."""
        cost = math.fsum(self._costs) if self._costs else None
        return Usage(input_tokens=self._tokens[0], output_tokens=self._tokens[1], cost_usd=cost)


class ModelTally:
    """One model: its trials, and its graders by name; `excludes` keeps errors out of the means."""

    def __init__(self, graders: tuple[str, ...], *, repeated: bool, excludes: bool = False) -> None:
        self.trials = self.completed = self.agent_failures = self.errors = 0
        self.broken = self.ungraded = self.passed = 0
        self.scores = Values(repeated=repeated)
        self.passes = Values(repeated=repeated)
        self.seconds = array("d")
        self.usage = UsageTally()
        self.judge_usage = UsageTally()
        self.graders = {name: GraderTally(repeated=repeated, excludes=excludes) for name in graders}
        self._repeated, self._excludes = repeated, excludes

    def add(self, outcome: Outcome) -> None:
        """Take one trial; a broken one counts as a failure, or as nothing."""
        self.trials += 1
        self.completed += outcome.status == "completed"
        self.agent_failures += outcome.status == "agent_failure"
        self.broken += outcome.status == "grading_error"
        self.errors += outcome.status in ERROR_STATUSES
        self.seconds.append(outcome.seconds)
        self.usage.add(outcome.usage)
        self.judge_usage.add(outcome.judge_usage)
        if not outcome.grades.keys() <= self.graders.keys():
            self._add_graders_of_single_samples(outcome)
        for name, tally in self.graders.items():
            tally.add(outcome, name)
        if outcome.status == "completed" and outcome.passed is None:
            self.ungraded += 1
            return
        if self._excludes and outcome.status in ERROR_STATUSES:
            return
        self.passed += outcome.passed is True
        driven = outcome.status == "completed"
        self.scores.add(outcome.sample_id, outcome.score if driven else None)
        self.passes.add(outcome.sample_id, float(outcome.passed is True) if driven else None)

    @property
    def counted(self) -> int:
        """Count the trials behind the means."""
        left_out = self.errors if self._excludes else 0
        return self.trials - self.ungraded - left_out

    def _add_graders_of_single_samples(self, outcome: Outcome) -> None:
        for name in outcome.grades:
            if name not in self.graders:
                self.graders[name] = GraderTally(
                    repeated=self._repeated, asked_everywhere=False, excludes=self._excludes
                )
