from __future__ import annotations

from pathlib import Path

from letta_client.types import CreateBlockParam
from letta_evals import RewardOutput, agent_factory, extractor, reward_composer, suite_setup


@suite_setup
async def prepare(client, model_handle):
    Path(__file__).with_name("notes.txt").write_text(model_handle)


@agent_factory
async def make(client, sample) -> str:
    agent = await client.agents.create(
        name="served",
        model="openai-proxy/scripted/plain",
        memory_blocks=[
            CreateBlockParam(label="human", value=f"Works with {sample.agent_args['who']}.")
        ],
    )
    return agent.id


@extractor
def human(trajectory, config, agent_state) -> str:
    return next(f"{b.label}: {b.value}" for b in agent_state.blocks if b.label == "human")


@reward_composer
def compose(ctx):
    return RewardOutput(
        score=0.5 * ctx.grades["place"].score + 0.25 * ctx.grades["knows"].score,
        metadata={"turns": len(ctx.trajectory), "tokens": ctx.usage.prompt_tokens > 0},
    )
