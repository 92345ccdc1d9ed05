"""Grades of one trajectory: every grader is called, each kept apart from the others' failures."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeGuard, cast

from msgspec.structs import replace

from harness.grading.connected_calls import call_connected, is_connected
from harness.grading.custom_calls import call_extractor, call_grader
from harness.grading.error_grades import error_grade
from harness.grading.grade_keys import grade_key
from harness.grading.per_turn import joined
from harness.grading.plugin_calls import (
    call_at_once,
    call_in_turn,
    call_plugin,
    grade_of,
    submission_of,
)
from harness.grading.turn_views import View, cut, graded_by_turn, moved_back, never_reached
from harness.shims.letta_views import LettaView
from harness.system.json_values import scrub_json
from harness.system.numbers import compares
from harness.system.texts import scrub
from harness.types.code import CustomExtractor, CustomGrader
from harness.types.grades import Grade
from harness.types.protocols import (
    CombiningGrader,
    ConnectedGrader,
    Extractor,
    Grader,
    Subject,
    SubjectExtractor,
    Submission,
)
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Limits
from harness.types.trajectories import Trajectory, Usage
from harness.types.trials import TrialFacts

EVIDENCE_CHARACTERS = 2_000
"""How long the evidence of a grade may be; what is longer is cut and says so."""

NO_MESSAGES = "Empty trajectory - agent produced no messages"
NO_SUBMISSION = "Empty submission - extractor found no content"

_Judging = Coroutine[Any, Any, Grade]
"""What judges when it is awaited."""

_Extraction = Submission | Grade | asyncio.Future[Submission | Grade]
"""What an extractor has made, or is about to make."""

_NO_FACTS = TrialFacts()
_COSTS = {"free": 0, "low": 1, "medium": 2, "high": 3}
_DETERMINISMS = {"static": 0, "complex-static": 1, "llm": 2}


async def grade_trajectory(  # noqa: PLR0913  (the trial as a whole is the sixth that few ask for)
    specs: Sequence[GraderSpec],
    sample: Sample,
    trajectory: Trajectory,
    *,
    snapshots: Mapping[str, Any],
    limits: Limits,
    facts: TrialFacts = _NO_FACTS,
) -> dict[str, Grade]:
    """Grade a trajectory with every grader; the grades are in the order of `specs`.

    `specs` are all graders that are wanted, those of the sample alone included; `snapshots` is
    the end state of the trial's fixtures by name. Cheap and static graders run first, functions
    of the suite run beside each other, and an extractor that several graders name runs once.
    Graders that look at grades run last, each after those that stand before it; `facts` holds
    the grades that there are already. Whatever a grader does ends in its grade.
    """
    judge = _Judge(snapshots, limits.grader_seconds, facts, trajectory)
    last = [spec for spec in specs if needs_grades(spec)]
    first = [spec for spec in specs if not needs_grades(spec)] if last else specs
    ordered = sorted(first, key=_expense) if len(first) > 1 else first
    whole = View(sample, trajectory)
    grades = await judge.judge_all(ordered, whole)
    made = {spec.name: _completed(grades[spec.name], spec, sample) for spec in first}
    for spec in last:
        judge.facts = replace(facts, grades={**facts.grades, **made})
        made[spec.name] = _completed(await judge.judge(spec, whole), spec, sample)
    return {spec.name: made[spec.name] for spec in specs} if last else made


def needs_grades(spec: GraderSpec) -> bool:
    """Say whether a grader looks at the grades of others, so that none of its own holds."""
    if spec.parts:
        return any(map(needs_grades, spec.parts))
    return isinstance(spec.grader, CustomGrader) and spec.grader.needs_grades


class _Judge:
    """Judges one trial with grader after grader; each extraction is made once."""

    def __init__(
        self,
        snapshots: Mapping[str, Any],
        seconds: float,
        facts: TrialFacts,
        trajectory: Trajectory,
    ) -> None:
        self._snapshots, self._seconds, self._trajectory = snapshots, seconds, trajectory
        self.facts = facts
        self._extractions: list[tuple[int | None, Any, _Extraction]] = []

    @cached_property
    def _letta(self) -> LettaView:
        return LettaView(self._trajectory)

    async def judge_all(self, specs: Sequence[GraderSpec], whole: View) -> dict[str, Grade]:
        """Judge by plug-ins in their order, and by what may have to wait beside each other."""
        waiting = [spec for spec in specs if _may_wait(spec)]
        if waiting:
            return await self._judge_together(waiting, specs, whole)
        grades = {}
        for spec in specs:
            grades[spec.name] = await self.judge(spec, whole)
        return grades

    async def _judge_together(
        self, waiting: Sequence[GraderSpec], specs: Sequence[GraderSpec], whole: View
    ) -> dict[str, Grade]:
        async with asyncio.TaskGroup() as group:
            # They begin where something waits for the first time: after what is judged at once.
            tasks = {spec.name: group.create_task(self.judge(spec, whole)) for spec in waiting}
            grades = await self.judge_all([spec for spec in specs if spec.name not in tasks], whole)
        return grades | {name: task.result() for name, task in tasks.items()}

    def judge(self, spec: GraderSpec, whole: View) -> _Judging:
        """Judge a conversation with one grader: whole, one turn of it, or turn by turn."""
        if spec.parts:
            return self._combine(spec, whole)
        if spec.turn is not None:
            return self._judge_turn(spec, whole, spec.turn)
        if graded_by_turn(whole.sample) and spec.grader.reads == "submission":
            return self._judge_turns(spec, whole)
        return self._judge_view(spec, whole)

    async def _judge_turns(self, spec: GraderSpec, whole: View) -> Grade:
        turns = range(len(whole.sample.turns))
        return joined([await self._judge_turn(spec, whole, turn) for turn in turns], spec)

    async def _combine(self, spec: GraderSpec, whole: View) -> Grade:
        """Judge by the parts of a combination; its own turn was handed on to them."""
        if spec.turn is not None and cut(whole.sample, whole.trajectory, spec.turn) is None:
            evidence = never_reached(spec.turn, whole.trajectory)
            return Grade(score=0.0, passed=False, evidence=evidence)
        made = await self.judge_all(spec.parts, whole)
        parts = {part.name: _decided(made[part.name], part) for part in spec.parts}
        grader = cast("CombiningGrader", spec.grader)
        grade = await call_plugin(grader.combine, parts, grade_of)
        if (spec.op, spec.threshold) != ("gte", 1.0):
            # The verdicts of the parts decide, unless the suite asks for a score.
            grade = replace(grade, passed=None)
        used = [part.usage for part in parts.values() if isinstance(part.usage, Usage)]
        return replace(grade, usage=sum(used, Usage())) if used else grade

    async def _judge_turn(self, spec: GraderSpec, whole: View, turn: int) -> Grade:
        view = cut(whole.sample, whole.trajectory, turn)
        if view is None or view.turn is None:
            return Grade(score=0.0, passed=False, evidence=never_reached(turn, whole.trajectory))
        grade = await self._judge_view(spec, view)
        return replace(grade, refs=moved_back(grade.refs, view.turn)) if grade.refs else grade

    async def _judge_view(self, spec: GraderSpec, view: View) -> Grade:
        if spec.grader.reads == "trajectory":
            return await self._grade(spec.grader, view, None)
        if view.is_empty:
            return Grade(score=0.0, passed=False, evidence=NO_MESSAGES, submission="")
        if spec.extractor is None:
            return error_grade("grader_broke", "the grader has no extractor")
        submission = await self._extract(spec.extractor, view)
        if isinstance(submission, Grade):
            return submission
        if not submission.text:
            return Grade(
                score=0.0, passed=False, evidence=NO_SUBMISSION, refs=submission.refs, submission=""
            )
        grade = await self._grade(spec.grader, view, submission)
        return replace(grade, refs=grade.refs or submission.refs, submission=submission.text)

    async def _extract(
        self, extractor: Extractor | SubjectExtractor | CustomExtractor, view: View
    ) -> Submission | Grade:
        for turn, known, extraction in self._extractions:
            if turn == view.turn and known == extractor:
                return await extraction if isinstance(extraction, asyncio.Future) else extraction
        if isinstance(extractor, CustomExtractor):
            subject = self._subject(view, None)
            call = call_extractor(extractor, subject, self._letta, seconds=self._seconds)
        else:
            method, given = self._called(extractor, view)
            made = call_at_once(method, given, submission_of)
            if made is not None:
                self._extractions.append((view.turn, extractor, made))
                return made
            call = call_in_turn(method, given, submission_of)
        # Who asks for it meanwhile waits for it, too.
        waited_for = asyncio.get_running_loop().create_future()
        self._extractions.append((view.turn, extractor, waited_for))
        made = await call
        waited_for.set_result(made)
        return made

    def _called(
        self, extractor: Extractor | SubjectExtractor, view: View
    ) -> tuple[Callable[[Any], Any], Any]:
        """Return the method of an extractor, and what it is given."""
        if _reads_subject(extractor):
            return extractor.extract_from, self._subject(view, None)
        return cast("Extractor", extractor).extract, view.trajectory

    def _grade(
        self,
        grader: Grader | ConnectedGrader | CombiningGrader | CustomGrader,
        view: View,
        submission: Submission | None,
    ) -> _Judging:
        subject = self._subject(view, submission)
        if isinstance(grader, CustomGrader):
            return call_grader(grader, subject, self._letta, seconds=self._seconds)
        if is_connected(grader):
            return call_connected(grader, subject)
        return call_plugin(cast("Grader", grader).grade, subject, grade_of)

    def _subject(self, view: View, submission: Submission | None) -> Subject:
        facts = self.facts
        if view.turn is not None:
            facts = replace(facts, stated_seconds=None, stated_usage=None)
        return Subject(view.sample, view.trajectory, submission, self._snapshots, facts)


def _completed(grade: Grade, spec: GraderSpec, sample: Sample) -> Grade:
    """Fill in what the grader left out: whether it passed, and the key; make its texts storable."""
    grade = _failing(grade, spec) if spec.fault and grade.status == "graded" else grade
    submission = grade.submission
    return Grade(
        score=grade.score,
        passed=_passed(grade, spec),
        evidence=_bounded(scrub(grade.evidence)),
        status=grade.status,
        refs=grade.refs,
        submission=None if submission is None else scrub(submission),
        details=scrub_json(grade.details) if grade.details else {},
        key=grade_key(spec, sample),
        usage=grade.usage,
    )


def _failing(grade: Grade, spec: GraderSpec) -> Grade:
    """Return the grade of a grader that cannot work, whatever it makes of its broken options."""
    fails = grade.score == 0 and not _passed(grade, spec)
    evidence = grade.evidence if fails else f"the grader cannot work: {spec.fault}"
    return replace(grade, score=0.0, passed=False, evidence=evidence)


def _decided(grade: Grade, spec: GraderSpec) -> Grade:
    """Fill in whether a part passed."""
    return replace(grade, passed=_passed(grade, spec), evidence=_bounded(grade.evidence))


def _passed(grade: Grade, spec: GraderSpec) -> bool | None:
    if grade.passed is None and grade.score is not None:
        return compares(grade.score, spec.op, spec.threshold)
    return grade.passed


def _may_wait(spec: GraderSpec) -> bool:
    if spec.parts:
        return any(map(_may_wait, spec.parts))
    custom = isinstance(spec.grader, CustomGrader) or isinstance(spec.extractor, CustomExtractor)
    return custom or is_connected(spec.grader)


def _reads_subject(extractor: Any) -> TypeGuard[SubjectExtractor]:
    # Checking the protocol would cost as much as all the rest of grading a text.
    return hasattr(extractor, "extract_from")


def _bounded(evidence: str) -> str:
    if len(evidence) <= EVIDENCE_CHARACTERS:
        return evidence
    return f"{evidence[:EVIDENCE_CHARACTERS]}… (cut: {len(evidence):,} characters in all)"


def _expense(spec: GraderSpec) -> tuple[int, int]:
    """Order graders by cost, then by how static they are; functions of the suite come last."""
    if spec.parts:
        return max(map(_expense, spec.parts))
    taxonomy = getattr(spec.grader, "taxonomy", None)
    if taxonomy is None:
        return len(_COSTS), 0
    return _COSTS.get(taxonomy.cost, 0), _DETERMINISMS.get(taxonomy.determinism, 0)
