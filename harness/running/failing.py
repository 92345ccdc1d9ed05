"""The first failing trials of a run, for the eyes, in the order of the plan."""

from bisect import insort
from collections.abc import Mapping

from harness.types.grades import Grade
from harness.types.summaries import Failed
from harness.types.trials import Trial

_KEPT = 10


class Failing:
    """Keeps the first few failing trials of each model, whatever the order in which they end."""

    def __init__(self) -> None:
        self._by_model: dict[str, list[tuple[int, Failed]]] = {}

    def add(self, index: int, trial: Trial) -> None:
        """Take the trial at `index` of the plan, if it did not pass."""
        if trial.passed is True or (trial.status == "completed" and trial.passed is None):
            return
        kept = self._by_model.setdefault(trial.model, [])
        if len(kept) < _KEPT or index < kept[-1][0]:
            insort(kept, (index, failed_of(trial)), key=lambda pair: pair[0])
            del kept[_KEPT:]

    def first(self) -> tuple[Failed, ...]:
        """Give what was kept, model by model."""
        return tuple(failed for kept in self._by_model.values() for _, failed in kept)


def failed_of(trial: Trial) -> Failed:
    """Say in one line why a trial did not pass: its error, else its first failing grade."""
    grader, evidence = _why(trial)
    return Failed(
        sample_id=trial.sample_id,
        model=trial.model,
        epoch=trial.epoch,
        status=trial.status,
        grader=grader,
        evidence=evidence,
    )


def _why(trial: Trial) -> tuple[str | None, str]:
    if trial.error is not None:
        return None, f"{trial.error.code}: {trial.error.message}"
    name, grade = _failing_grade(trial.grades)
    return name, grade.evidence if grade else "the weighted score is below the threshold"


def _failing_grade(grades: Mapping[str, Grade]) -> tuple[str | None, Grade | None]:
    for name, grade in grades.items():
        if grade.passed is False:
            return name, grade
    return None, None
