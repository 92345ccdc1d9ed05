async def make(client, sample):
    return "agent-1"


async def prepare(client):
    pass
