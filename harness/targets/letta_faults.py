"""What can be found wrong with a `letta` target before any server is asked."""

from collections.abc import Iterator

from harness.shims.agent_functions import agent_script_faults, setup_script_faults
from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_files import agent_file_faults
from harness.targets.letta_server_tools import server_tool_faults
from harness.targets.toolbox import tool_faults
from harness.types.errors import Fault


def agent_faults(agent: LettaAgent, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for each mistake in the files that the options name."""
    if agent.agent_file is not None:
        yield from agent_file_faults(agent.agent_file)
    if agent.agent is not None and agent.agent.tools is not None:
        yield from server_tool_faults(agent.agent.tools, fixture_names)
    if agent.client_tools is not None:
        yield from tool_faults(agent.client_tools, fixture_names)
    if agent.agent_script is not None:
        yield from agent_script_faults(agent.agent_script)
    if agent.setup_script is not None:
        yield from setup_script_faults(agent.setup_script)
