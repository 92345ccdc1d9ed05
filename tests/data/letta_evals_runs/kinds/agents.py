from pathlib import Path

from letta_evals import agent_factory, suite_setup

NOTES = Path(__file__).with_name("notes.txt")


@suite_setup
def prepare_nothing():
    NOTES.write_text("nothing")


@suite_setup
async def prepare_client(client):
    NOTES.write_text(f"{len(list(await client.models.list())) > 0}")


@agent_factory
async def make(client, sample) -> str:
    agent = await client.agents.create(name="plain", model="openai-proxy/scripted/plain")
    return agent.id
