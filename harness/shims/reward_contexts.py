"""What a reward composer of letta-evals is given: the grades of a trial, and how it was driven."""

from typing import Any

from harness.shims.eval_models import GradeResult, RewardContext, Timing, Usage
from harness.shims.letta_samples import letta_sample
from harness.shims.letta_views import LettaView, letta_state
from harness.types.grades import Grade
from harness.types.protocols import Subject
from harness.types.trajectories import Usage as OwnUsage


def reward_context(subject: Subject, view: LettaView) -> RewardContext:
    """Return the context of a trial that was judged by the other graders.

    Grades that were skipped are left out: there is no score to compose. The timing knows how long
    the agent worked; that is also its total.
    """
    facts = subject.facts
    state = letta_state(subject.snapshots)
    graded = {name: grade for name, grade in facts.grades.items() if grade.score is not None}
    return RewardContext(
        sample=letta_sample(subject.sample),
        grades={name: _result(grade) for name, grade in graded.items()},
        submissions={name: grade.submission or "" for name, grade in graded.items()},
        trajectory=view.messages(subject.trajectory),
        agent_id=getattr(state, "id", None),
        model_handle=facts.model or None,
        agent_state=state,
        usage=letta_usage(facts.usage),
        timing=Timing(total=facts.seconds, target=facts.seconds),
    )


def letta_usage(usage: OwnUsage) -> Usage | None:
    """Return what was used; None where nothing is known of it, or it is nothing at all."""
    if not (usage.input_tokens or usage.output_tokens or usage.cost_usd):
        return None
    return Usage(
        prompt_tokens=usage.input_tokens or 0,
        completion_tokens=usage.output_tokens or 0,
        cost=usage.cost_usd,
    )


def _result(grade: Grade) -> GradeResult:
    metadata: dict[str, Any] = dict(grade.details)
    return GradeResult(
        score=grade.score or 0.0, rationale=grade.evidence or None, metadata=metadata
    )
