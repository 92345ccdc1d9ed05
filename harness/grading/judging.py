"""Grades of one trajectory: every grader is called, each kept apart from the others' failures.

Judgements are carried on at once as far as their calls can be answered on the event loop; what
is left waits beside the others.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.grading.grade_keys import grade_key
from harness.grading.judgements import Judgement, judge
from harness.grading.single_calls import (
    Answer,
    Call,
    Extraction,
    Judging,
    answer_later,
    answer_now,
)
from harness.grading.turn_views import View
from harness.grading.verdicts import reaches
from harness.system.texts import scrub
from harness.types.grades import Grade
from harness.types.samples import Sample
from harness.types.suites import GraderSpec, Limits
from harness.types.trajectories import Trajectory

EVIDENCE_CHARACTERS = 2_000
"""How long the evidence of a grade may be; what is longer is cut and says so."""

_COSTS = {"free": 0, "low": 1, "medium": 2, "high": 3}
_DETERMINISMS = {"static": 0, "complex-static": 1, "llm": 2}
_Coming = asyncio.Future[Answer]


async def grade_trajectory(
    specs: Sequence[GraderSpec],
    sample: Sample,
    trajectory: Trajectory,
    *,
    snapshots: Mapping[str, Any],
    limits: Limits,
) -> dict[str, Grade]:
    """Grade a trajectory with every grader; the grades are in the order of `specs`.

    `specs` are all graders that are wanted, those of the sample alone included; `snapshots` is
    the end state of the trial's fixtures by name. Cheap and static graders run first, and an
    extractor that several of them name runs once. Whatever a grader does ends in its grade.
    """
    bench = _Bench(limits.grader_seconds)
    whole = View(sample, trajectory)
    done: dict[str, Grade] = {}
    waiting: dict[str, asyncio.Future[Grade]] = {}
    for spec in sorted(specs, key=_expense) if len(specs) > 1 else specs:
        judgement = judge(spec, whole, snapshots)
        grade = bench.carry_on(judgement, None)
        if isinstance(grade, Grade):
            done[spec.name] = grade
        else:
            waiting[spec.name] = asyncio.ensure_future(bench.finish(judgement, grade))
    if waiting:
        await _all_of(waiting.values())
        done |= {name: future.result() for name, future in waiting.items()}
    return {spec.name: _sealed(spec, sample, done[spec.name]) for spec in specs}


async def _all_of(waiting: Iterable[asyncio.Future[Grade]]) -> None:
    """Wait for all; where the trial is given up, give them up too."""
    try:
        await asyncio.wait(waiting)
    except asyncio.CancelledError:
        for future in waiting:
            future.cancel()
        raise


class _Bench:
    """Carries on the judgements of one trial; each extraction is made once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._made: list[tuple[Extraction, Answer | _Coming]] = []

    def carry_on(self, judgement: Judgement, answer: Answer | None) -> Grade | _Coming:
        """Carry on with an answer until the grade is there, or a call has to wait for its own."""
        try:
            call = next(judgement) if answer is None else judgement.send(answer)
            while True:
                reply = self._reply(call)
                if isinstance(reply, asyncio.Future):
                    return reply
                call = judgement.send(reply)
        except StopIteration as end:
            grade: Grade = end.value
            return grade

    async def finish(self, judgement: Judgement, coming: _Coming) -> Grade:
        """Carry on a judgement that waits, to its end."""
        while True:
            grade = self.carry_on(judgement, await coming)
            if isinstance(grade, Grade):
                return grade
            coming = grade

    def _reply(self, call: Call) -> Answer | _Coming:
        if isinstance(call, Judging):
            return self._answered(call)
        for made, reply in self._made:
            if _same(made, call):
                return _settled(reply)
        reply = self._answered(call)
        self._made.append((call, reply))
        return reply

    def _answered(self, call: Call) -> Answer | _Coming:
        answer = answer_now(call)
        if answer is not None:
            return answer
        return asyncio.ensure_future(answer_later(call, seconds=self._seconds))


def _settled(reply: Answer | _Coming) -> Answer | _Coming:
    return reply.result() if isinstance(reply, asyncio.Future) and reply.done() else reply


def _same(one: Extraction, other: Extraction) -> bool:
    return one.turn == other.turn and one.plugin == other.plugin


def _sealed(spec: GraderSpec, sample: Sample, grade: Grade) -> Grade:
    """Fill in what the grader left out: whether it passed, and the key; make its texts storable."""
    passed = grade.passed
    if passed is None and grade.score is not None:
        passed = reaches(grade.score, spec.threshold)
    submission = grade.submission
    return Grade(
        score=grade.score,
        passed=passed,
        evidence=_bounded(scrub(grade.evidence)),
        status=grade.status,
        refs=grade.refs,
        submission=None if submission is None else scrub(submission),
        details=grade.details,
        key=grade_key(spec, sample),
    )


def _bounded(evidence: str) -> str:
    if len(evidence) <= EVIDENCE_CHARACTERS:
        return evidence
    return f"{evidence[:EVIDENCE_CHARACTERS]}… (cut: {len(evidence):,} characters in all)"


def _expense(spec: GraderSpec) -> tuple[int, int]:
    """Order graders by cost, then by how static they are; functions of the suite come last."""
    taxonomy = getattr(spec.grader, "taxonomy", None)
    if taxonomy is None:
        return len(_COSTS), 0
    return _COSTS.get(taxonomy.cost, 0), _DETERMINISMS.get(taxonomy.determinism, 0)
