from letta_client import AsyncLetta
from letta_client.types import CreateBlockParam, MessageCreateParam
from letta_evals.decorators import agent_factory, suite_setup
from letta_evals.models import Sample
from notes import note


@suite_setup
async def prepare(client: AsyncLetta, model_handle: str) -> None:
    handles = [model.handle for model in await client.models.list()]
    note(f"{model_handle}: {model_handle in handles}")


@agent_factory
async def make_courier(client: AsyncLetta, sample: Sample) -> str:
    who = (sample.agent_args or {})["who"]
    agent = await client.agents.create(
        name=f"courier-{sample.id}",
        model="openai-proxy/scripted/plain",
        system=f"You are the courier {who}; Oslo is far.",
        memory_blocks=[CreateBlockParam(label="human", value=f"Works with {who}.")],
        initial_message_sequence=[MessageCreateParam(role="user", content="A word before.")],
    )
    return agent.id
