"""Functions of a suite that make agents, or prepare the server."""

from pathlib import Path

CALLS = Path(__file__).with_name("calls.txt")
MODEL = "openai-proxy/scripted/plain"


async def make_agent(client, sample):
    made = await client.agents.create(
        name=f"made for {sample.id}",
        model=MODEL,
        include_base_tools=False,
        memory_blocks=[{"label": "human", "value": sample.agent_args["who"]}],
        tags=["of-the-suite"],
    )
    return made.id


async def make_two(client, sample):
    await client.agents.create(name="helper", model=MODEL, include_base_tools=False)
    return await make_agent(client, sample)


async def give_existing(client, sample):
    return sample.agent_args["id"]


async def break_down(client, sample):
    await client.agents.create(name="half made", model=MODEL, include_base_tools=False)
    raise KeyError("who")


async def return_nothing(client, sample):
    await client.agents.create(name="forgotten", model=MODEL, include_base_tools=False)


async def ask_for_unknown_model(client, sample):
    return (await client.agents.create(model="openai-proxy/none")).id


def _note(text):
    with CALLS.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def set_up_plainly():
    _note("plain")


async def set_up_with_client(client):
    _note(f"{bool(await client.models.list())}")


async def set_up_each_model(client, model_handle):
    _note(model_handle)


def set_up_badly(client):
    raise RuntimeError("no database")


async def make_and_delete_one(client, sample):
    helper = await client.agents.create(name="helper", model=MODEL, include_base_tools=False)
    await client.agents.delete(helper.id)
    return await make_agent(client, sample)


def _read(path):
    return Path(path).read_bytes()


async def import_one(client, sample):
    file = ("agent.af", _read(sample.agent_args["file"]))
    made = await client.agents.import_file(file=file, append_copy_suffix=False)
    [agent_id] = made.agent_ids
    await client.agents.blocks.attach(sample.agent_args["block"], agent_id=agent_id)
    return agent_id
