from letta_evals import RewardContext, RewardOutput, reward_composer


@reward_composer
def both(ctx: RewardContext) -> RewardOutput:
    return RewardOutput(score=min(grade.score for grade in ctx.grades.values()))
