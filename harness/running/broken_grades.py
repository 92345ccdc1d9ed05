"""How graders of a run broke: of each the first time, in the order of the plan."""

from collections.abc import Mapping

from harness.system.like_texts import split_place
from harness.system.texts import cut, one_line
from harness.types.grades import RECORDED
from harness.types.trials import Trial

_LONGEST = 500


class BrokenGrades:
    """Keeps how each grader broke first, whatever the order in which trials end."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}

    def add(self, index: int, trial: Trial) -> None:
        """Take the trial at `index` of the plan, if a grader broke on it."""
        for name, grade in trial.grades.items():
            if grade.status == "error" and self.takes(name, index):
                said, place = split_place(one_line(grade.evidence))
                self._first[name] = (index, f"{cut(said, _LONGEST)}{place}")

    def takes(self, name: str, index: int) -> bool:
        """Say whether a grader that broke at `index` of the plan would be told of."""
        is_ours = not name.startswith(RECORDED)
        return is_ours and (name not in self._first or index < self._first[name][0])

    def first(self) -> Mapping[str, str]:
        """Return what is said of the first time by the name of the grader."""
        return {name: said for name, (_, said) in self._first.items()}
