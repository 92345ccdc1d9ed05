"""What trials have used that count no more: driven again, graded again, cut off. It was billed."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from harness.types.summaries import Summary
from harness.types.trajectories import Usage
from harness.types.trials import Outcome, Trial


@dataclass(slots=True)
class _Bill:
    """One drive: what the agent used, and what judges used by what they were paid for."""

    model: str
    driven: Usage
    judged: dict[int, Usage]


class UncountedUsage:
    """Gathers what the lines of a log used that do not count, each drive and each grade once.

    A trial that was graded again has several lines of one drive, and the later ones hold the grades
    of before that still held. It takes some hundred bytes a line that does not count.
    """

    def __init__(self) -> None:
        self._bills: dict[int, _Bill] = {}

    def leave_out(self, trial: Trial) -> None:
        """Take a line that does not count."""
        bill = self._bills.setdefault(_drive(trial), _Bill(trial.model, trial.usage, {}))
        bill.judged |= _judged(trial)

    def count(self, trial: Trial) -> None:
        """Take a line that counts: what it has in common with others is in the numbers already."""
        bill = self._bills.get(_drive(trial)) if self._bills else None
        if bill is not None:
            bill.driven = Usage()
            for place in _judged(trial):
                bill.judged.pop(place, None)

    def shares(self, outcome: Outcome) -> bool:
        """Say whether a trial has something in common with lines that do not count."""
        return _drive_of(outcome, outcome.seconds) in self._bills

    @property
    def total(self) -> Usage:
        """Sum all of it."""
        return sum((used + judged for _, used, judged in self._each()), Usage())

    def _each(self) -> Iterator[tuple[str, Usage, Usage]]:
        for bill in self._bills.values():
            yield bill.model, bill.driven, sum(bill.judged.values(), Usage())

    def added_to(self, summary: Summary) -> Summary:
        """Add it to what the models of a summary have used; all other numbers stay."""
        used, judged = dict[str, Usage](), dict[str, Usage]()
        for model, by_agent, by_judges in self._each():
            used[model] = used.get(model, Usage()) + by_agent
            judged[model] = judged.get(model, Usage()) + by_judges
        models = {
            name: msgspec.structs.replace(
                of,
                usage=_sum(of.usage, used.get(name)),
                judge_usage=_sum(of.judge_usage or Usage(), judged.get(name))
                if of.judge_usage or judged.get(name, Usage()) != Usage()
                else None,
            )
            for name, of in summary.models.items()
        }
        gone = [_of_gone(name, used[name] + judged[name]) for name in used if name not in models]
        warnings = (*summary.warnings, *filter(None, gone))
        return msgspec.structs.replace(summary, models=models, warnings=warnings)


def _sum(counted: Usage, uncounted: Usage | None) -> Usage:
    """Add tokens and money; what of them was cached a summary does not tell."""
    whole = counted + (uncounted or Usage())
    return msgspec.structs.replace(whole, cached_input_tokens=counted.cached_input_tokens)


def _of_gone(model: str, usage: Usage) -> str:
    """Say what a model used that the run has no more; empty where nothing is known of it."""
    amounts = [
        "" if usage.input_tokens is None else f"{usage.input_tokens:,} input tokens",
        "" if usage.output_tokens is None else f"{usage.output_tokens:,} output tokens",
        "" if usage.cost_usd is None else f"${usage.cost_usd:,.4f}",
    ]
    told = ", ".join(filter(None, amounts))
    return f"{model}, which the run has no more, used {told}: in no number here" if told else ""


def _drive(trial: Trial) -> int:
    return _drive_of(trial, trial.timing.target_seconds)


def _drive_of(one: Trial | Outcome, seconds: float) -> int:
    return hash((one.sample_id, one.model, one.epoch, seconds))


def _judged(trial: Trial) -> dict[int, Usage]:
    return {
        hash((name, grade.key, grade.status, grade.score, grade.evidence, str(grade.usage))): (
            grade.usage
        )
        for name, grade in trial.grades.items()
        if isinstance(grade.usage, Usage)
    }
