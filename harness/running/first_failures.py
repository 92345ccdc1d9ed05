"""The first failing trials of a run, in the order of the plan, for the user to look at."""

from bisect import insort
from collections.abc import Collection, Iterable, Mapping

import msgspec

from harness.messages.event_texts import event_text
from harness.system.texts import cut
from harness.types.events import AssistantMessage
from harness.types.grades import RECORDED, Grade, Ref
from harness.types.samples import Sample
from harness.types.suites import GraderSpec
from harness.types.summaries import FailedTrial
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory
from harness.types.trials import Trial

_KEPT = 10
_LONGEST = 500
"""Characters of a text that are kept for showing; the trial holds the whole."""


class FirstFailures:
    """Keeps the first few failing trials of each model, whatever the order in which they end."""

    def __init__(self, graders: Iterable[GraderSpec] = ()) -> None:
        self._by_model: dict[str, list[tuple[int, FailedTrial]]] = {}
        specs = tuple(graders)
        self._observed = frozenset(spec.name for spec in specs if spec.role == "observed")
        self._compare = frozenset(spec.name for spec in specs if _compares(spec))

    def add(self, index: int, trial: Trial, sample: Sample | None = None) -> None:
        """Take the trial at `index` of the plan, if it did not pass."""
        if trial.passed is True or (trial.status == "completed" and trial.passed is None):
            return
        if self.takes(index, trial.model):
            kept = self._by_model.setdefault(trial.model, [])
            failed = failed_of(trial, sample, self._observed)
            if failed.grader not in self._compare:
                failed = msgspec.structs.replace(failed, wanted=None)
            insort(kept, (index, failed), key=lambda pair: pair[0])
            del kept[_KEPT:]

    def takes(self, index: int, model: str) -> bool:
        """Say whether a failing trial at `index` of the plan would be among the first."""
        kept = self._by_model.get(model, [])
        return len(kept) < _KEPT or index < kept[-1][0]

    def first(self) -> tuple[FailedTrial, ...]:
        """Return what was kept, model by model: first the model that fails first in the plan."""
        models = sorted((kept for kept in self._by_model.values() if kept), key=_first_index)
        return tuple(failed for kept in models for _, failed in kept)


def _first_index(kept: list[tuple[int, FailedTrial]]) -> int:
    return kept[0][0]


def _compares(spec: GraderSpec) -> bool:
    """Say whether a grader is known to compare with the ground truth."""
    taxonomy = getattr(spec.grader, "taxonomy", None)
    return isinstance(taxonomy, Taxonomy) and taxonomy.reference == "reference-based"


def failed_of(
    trial: Trial, sample: Sample | None = None, observed: Collection[str] = ()
) -> FailedTrial:
    """Say why a trial did not pass: its error, else its first failing grade that decides."""
    failed = FailedTrial(
        sample_id=trial.sample_id,
        model=trial.model,
        epoch=trial.epoch,
        status=trial.status,
        grader=None,
        evidence="the grades taken together do not suffice",
        said=_shortened(_last_words(trial.trajectory)),
    )
    if trial.error is not None:
        evidence = f"{trial.error.code}: {trial.error.message}"
        broken = _broken_grader(trial, observed)
        if broken is not None:
            evidence = trial.grades[broken].evidence
        return msgspec.structs.replace(failed, grader=broken, evidence=evidence)
    name, grade = _failing_grade(trial.grades, observed)
    return failed if grade is None else _with_grade(failed, name, grade, trial, sample)


def _broken_grader(trial: Trial, observed: Collection[str]) -> str | None:
    """Return the grader by which a trial could not be graded, where it is one alone."""
    if trial.status != "grading_error":
        return None
    names = [name for name, grade in trial.grades.items() if grade.status == "error"]
    names = [name for name in names if name not in observed and not name.startswith(RECORDED)]
    return names[0] if len(names) == 1 else None


def _failing_grade(
    grades: Mapping[str, Grade], observed: Collection[str]
) -> tuple[str | None, Grade | None]:
    for name, grade in grades.items():
        if grade.passed is False and name not in observed and not name.startswith(RECORDED):
            return name, grade
    return None, None


def _with_grade(
    failed: FailedTrial, name: str | None, grade: Grade, trial: Trial, sample: Sample | None
) -> FailedTrial:
    failed = msgspec.structs.replace(failed, grader=name, evidence=grade.evidence)
    turn = _failing_turn(grade)
    if turn is not None:
        return msgspec.structs.replace(
            failed,
            evidence=f"turn {turn.turn}: {turn.evidence}",
            wanted=_shortened(_wanted(sample, turn.turn)),
            said=failed.said if turn.submission is None else _shortened(turn.submission),
        )
    if grade.submission is not None:
        wanted = _shortened(_wanted(sample, None))
        return msgspec.structs.replace(failed, wanted=wanted, said=_shortened(grade.submission))
    return msgspec.structs.replace(
        failed, pointed=_shortened(_pointed(trial.trajectory, grade.refs))
    )


class _GradedTurn(msgspec.Struct):
    """A turn as per-turn grading puts it into `details.turns`."""

    turn: int
    evidence: str
    passed: bool | None
    submission: str | None


def _failing_turn(grade: Grade) -> _GradedTurn | None:
    try:
        turns = msgspec.convert(grade.details.get("turns", ()), list[_GradedTurn])
    except msgspec.ValidationError:
        return None  # a custom grader's details, which mean something else
    return next((turn for turn in turns if turn.passed is False), None)


def _wanted(sample: Sample | None, turn: int | None) -> str | None:
    truth = sample.ground_truth if sample else None
    if isinstance(truth, tuple):
        return truth[turn] if turn is not None and 0 <= turn < len(truth) else None
    return truth


def _last_words(trajectory: Trajectory) -> str | None:
    said = [event.text for event in trajectory.events() if isinstance(event, AssistantMessage)]
    return said[-1] if said else None


def _pointed(trajectory: Trajectory, refs: tuple[Ref, ...]) -> str | None:
    for ref in refs:
        turns = trajectory.turns
        known = 0 <= ref.turn < len(turns) and 0 <= ref.event < len(turns[ref.turn].events)
        if known and ref.start is not None:
            text = event_text(turns[ref.turn].events[ref.event])
            return text[ref.start : ref.end]
    return None


def _shortened(text: str | None) -> str | None:
    return None if text is None else cut(text, _LONGEST)
