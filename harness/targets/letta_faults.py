"""What can be found wrong with a `letta` target before any server is asked."""

from collections.abc import Iterator

from harness.shims.agent_functions import agent_script_faults, setup_script_faults
from harness.targets.letta_agent import LettaAgent
from harness.targets.letta_files import agent_file_faults
from harness.targets.letta_server_tools import server_tool_faults
from harness.targets.source_lines import fault_at
from harness.targets.toolbox import build_toolbox, tool_faults
from harness.types.code import CodeFile
from harness.types.errors import Fault


def agent_faults(agent: LettaAgent, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for each mistake in the files that the options name."""
    if agent.agent_file is not None:
        yield from agent_file_faults(agent.agent_file)
    if agent.agent is not None and agent.agent.tools is not None:
        yield from server_tool_faults(agent.agent.tools, fixture_names)
    if agent.client_tools is not None:
        yield from tool_faults(agent.client_tools, fixture_names)
    yield from _shared_names(agent, fixture_names)
    if agent.agent_script is not None:
        yield from agent_script_faults(agent.agent_script)
    if agent.setup_script is not None:
        yield from setup_script_faults(agent.setup_script)


def _shared_names(agent: LettaAgent, fixture_names: frozenset[str]) -> Iterator[Fault]:
    """Yield a fault for each tool that runs here and would run on the server as well."""
    inline = agent.agent
    if inline is None or agent.client_tools is None:
        return
    places = dict.fromkeys(inline.server_tools or (), "agent.server_tools")
    places |= dict.fromkeys(_names(inline.tools, fixture_names), "agent.tools")
    if any(tool_faults(agent.client_tools, fixture_names)):
        return
    for name, tool in build_toolbox(agent.client_tools, fixture_names).items():
        if name in places:
            problem = f"tool {name} is one of {places[name]} too"
            allowed = "a tool runs on the server or here; give one of them another name"
            yield fault_at(agent.client_tools, tool.function, problem, allowed)


def _names(code: CodeFile | None, fixture_names: frozenset[str]) -> list[str]:
    if code is None or any(tool_faults(code, fixture_names)):
        return []
    return list(build_toolbox(code, fixture_names))
