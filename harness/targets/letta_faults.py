"""What can be found wrong with a `letta` target before any server is asked."""

import inspect
from collections.abc import Iterator

from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_files import agent_file_faults
from harness.targets.letta_server_tools import server_tool_faults
from harness.targets.source_lines import fault_at
from harness.targets.toolbox import tool_faults
from harness.types.code import CodeRef
from harness.types.errors import Fault

_MOST_SETUP = 2


def agent_faults(agent: LettaAgent, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for each mistake in the files that the options name."""
    if agent.agent_file is not None:
        yield from agent_file_faults(agent.agent_file)
    if agent.agent is not None and agent.agent.tools is not None:
        yield from server_tool_faults(agent.agent.tools, fixture_names)
    if agent.client_tools is not None:
        yield from tool_faults(agent.client_tools, fixture_names)
    if agent.agent_script is not None:
        yield from _call_faults(agent.agent_script, 2, 2, "(client, sample)")
    if agent.setup_script is not None:
        takes = "(), (client), or (client, model)"
        yield from _call_faults(agent.setup_script, 0, _MOST_SETUP, takes)


def _call_faults(script: CodeRef, least: int, most: int, takes: str) -> Iterator[Fault]:
    """Yield a fault for a function that cannot be called with `least` to `most` arguments."""
    if not callable(script.value):
        yield fault_at(script.file, script.value, f"{script.name} is no function", takes)
        return
    if not any(accepts(script, count) for count in range(most, least - 1, -1)):
        problem = f"{script.name} cannot be called with {takes}"
        yield fault_at(script.file, script.value, problem, f"a function that takes {takes}")


def accepts(script: CodeRef, count: int) -> bool:
    """Say whether a function can be called with so many arguments."""
    try:
        inspect.signature(script.value).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a function in C may have no signature to look at
        return True
    return True
