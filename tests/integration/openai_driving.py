"""Drives the target `openai` against a server that is not ours."""

from contextlib import contextmanager

from fakes.driven_samples import drive_sample, load_code
from integration.other_server import OtherServer, in_order

from harness.targets.openai_agent import OpenAIAgent

TOOLS = '''
import asyncio
import time


def look_up(key: str, *, store=None) -> dict:
    """Look a key up.

    Args:
        key: which one
    """
    return {"id": f"rt_{key}"} if store is None else store[key]


async def greet(name: str) -> str:
    return f"Hello {name}"


def fail(why: str) -> str:
    raise LookupError(why)


def leave() -> str:
    raise SystemExit(3)


async def slow(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return f"slept {seconds}"


def block(seconds: float) -> str:
    time.sleep(seconds)
    return "blocked"
'''


@contextmanager
def serve(*answers, choose=in_order):
    """Run a server that gives these answers."""
    with OtherServer(choose(*answers)) as server:
        yield server


def agent_for(server, **options):
    """Make an agent that talks to the server; `tools` is the source of its tools."""
    if "tools" in options:
        options["tools"] = load_code(options["tools"])
    return OpenAIAgent(base_url=server.url, **options)


async def drive(server, driving=None, **options):
    """Drive one sample; `driving` are the fields of the sample and how it is driven."""
    return await drive_sample(agent_for(server, **options), **(driving or {}))
