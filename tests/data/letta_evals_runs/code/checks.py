from pathlib import Path

from letta_evals import GradeResult, RewardContext, RewardOutput, extractor, grader, reward_composer
from letta_evals.extractors.utils import get_last_turn_messages

HERE = Path(__file__).parent


@grader
def entry_is_there(sample, submission) -> GradeResult:
    wanted = sample.extra_vars["entry"]
    file = HERE / f"{wanted.partition(' of ')[0]}.txt"
    found = file.read_text().strip()
    return GradeResult(score=float(found == wanted), rationale=found)


@extractor
def blocks(trajectory, config, agent_state) -> str:
    said = len(get_last_turn_messages(trajectory))
    return f"Written as the ledger says {said} {[block.label for block in agent_state.blocks]}"


@reward_composer
async def weigh(ctx: RewardContext) -> RewardOutput:
    scores = {name: grade.score for name, grade in ctx.grades.items()}
    whole = 0.6 * scores["written"] + 0.4 * scores["told"]
    return RewardOutput(
        score=whole,
        metadata={
            "model": ctx.model_handle,
            "has_agent": bool(ctx.agent_id),
            "last": ctx.submissions["told"],
        },
    )
