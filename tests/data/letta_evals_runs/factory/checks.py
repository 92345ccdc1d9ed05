from __future__ import annotations

from letta_evals.decorators import extractor, grader
from letta_evals.extractors.utils import flatten_content, get_assistant_messages, get_tool_calls
from letta_evals.models import AgentState, GradeResult, LettaMessageUnion, Sample


@extractor
def tool_talk(trajectory: list[list[LettaMessageUnion]], config: dict) -> str:
    """What the agent told its memory, and what it said afterwards."""
    told = [
        call.tool_call.arguments
        for call, back in get_tool_calls(trajectory)
        if call.tool_call.name == config["tool"] and back is not None and back.status == "success"
    ]
    said = [flatten_content(message.content) for message in get_assistant_messages(trajectory)]
    return "\n".join([*told, *said])


@extractor
async def instructions(
    trajectory: list[list[LettaMessageUnion]], config: dict, agent_state: AgentState
) -> str:
    labels = ", ".join(sorted(block.label for block in agent_state.blocks))
    return f"{agent_state.system} | {agent_state.llm_config.model} | {labels}"


@grader
async def says_parcel(sample: Sample, submission: str) -> GradeResult:
    wanted = f"parcel {sample.extra_vars['parcel']}"
    found = wanted in submission and "I will remember that." in submission
    return GradeResult(
        score=1.0 if found else 0.0,
        rationale=f"looked for {wanted}",
        metadata={"id": sample.id, "length": len(submission)},
    )
