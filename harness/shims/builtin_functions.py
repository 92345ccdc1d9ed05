"""The nine extractors and four graders of letta-evals as the functions that its users call.

Each is Regrade's plug-in of the same name, found by its entry point and called on what the
messages say as events. As there, keys of `config` that an extractor does not know are left aside,
and a missing one is a KeyError.
"""

import dataclasses
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from harness.messages.letta_turns import LettaTurn
from harness.messages.pairing import name_results
from harness.shims.eval_models import GradeResult, Sample
from harness.shims.message_lists import flatten_content
from harness.types.protocols import AGENT_STATE, Subject, SubjectExtractor, Submission
from harness.types.samples import Sample as OwnSample
from harness.types.trajectories import Trajectory, Turn

_Messages = list[list[Any]]


@cache
def _plugin(group: str, name: str) -> Any:
    tables = [point.load() for point in entry_points(group=f"regrade.{group}")]
    return next(table[name] for table in tables if name in table)


def read_trajectory(trajectory: _Messages) -> Trajectory:
    """Read lists of letta-client's messages as a trajectory.

    Raises:
        ValueError: a message is of no shape that Letta has.
    """
    return Trajectory(turns=name_results([_read_turn(messages) for messages in trajectory]))


def _read_turn(messages: list[Any]) -> Turn:
    reader = LettaTurn()
    events = [event for message in messages for event in reader.read(_fields(message))]
    return Turn(events=tuple(events), steps=reader.steps.all)


def _fields(message: Any) -> Mapping[str, Any]:
    fields = message if isinstance(message, Mapping) else message.model_dump()
    if fields.get("message_type") != "assistant_message" or isinstance(message, Mapping):
        return fields
    return {**fields, "content": flatten_content(message.content)}


def _extract(name: str, trajectory: _Messages, config: Mapping[str, Any], state: Any = None) -> str:
    plugin = _plugin("extractors", name)
    extractor = plugin(**_options(plugin, config or {}))
    read = read_trajectory(trajectory)
    if not isinstance(extractor, SubjectExtractor):
        return str(extractor.extract(read).text)
    snapshots = {} if state is None else {AGENT_STATE: _state(state)}
    return extractor.extract_from(Subject(OwnSample(id="", input=""), read, None, snapshots)).text


def _options(plugin: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    known = {field.name: field for field in dataclasses.fields(plugin)}
    required = [name for name, field in known.items() if field.default is dataclasses.MISSING]
    for name in required:
        if name not in config:
            raise KeyError(name)
    return {name: config[name] for name in known if name in config}


def _state(state: Any) -> Any:
    return state if isinstance(state, Mapping) else state.model_dump(mode="json")


def last_assistant(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return the agent's last message."""
    return _extract("last_assistant", trajectory, config)


def first_assistant(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return the agent's first message."""
    return _extract("first_assistant", trajectory, config)


def all_assistant(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return all messages of the agent, joined by `separator`."""
    return _extract("all_assistant", trajectory, config)


def last_turn(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return the agent's messages of the last turn, joined by `separator`."""
    return _extract("last_turn", trajectory, config)


def pattern(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return what `pattern` matches in the last message that it matches."""
    return _extract("pattern", trajectory, config)


def tool_arguments(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return the arguments of the first call of `tool_name`."""
    return _extract("tool_arguments", trajectory, config)


def tool_output(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return the output of the first call of `tool_name`."""
    return _extract("tool_output", trajectory, config)


def after_marker(trajectory: _Messages, config: dict[str, Any]) -> str:
    """Return what follows `marker` in the last message that holds it."""
    return _extract("after_marker", trajectory, config)


def memory_block(trajectory: _Messages, config: dict[str, Any], agent_state: Any) -> str:
    """Return the value of the block `block_label` of the agent's memory.

    Raises:
        RuntimeError: there is no state.
        ValueError: no label is given.
    """
    if agent_state is None:
        raise RuntimeError("memory_block requires agent_state, but it was not retrieved")
    if not config.get("block_label"):
        raise ValueError("memory_block requires 'block_label' in config")
    return _extract("memory_block", trajectory, config, agent_state)


def _grade(name: str, sample: Sample, submission: str) -> GradeResult:
    # A list is the ground truth of several turns, each graded by itself.
    if isinstance(sample.ground_truth, list):
        problem = "ground_truth is a list: it is graded turn by turn"
        raise AttributeError(problem)  # noqa: TRY004  (the error of letta-evals)
    own = OwnSample(id=str(sample.id), input="", ground_truth=sample.ground_truth)
    grade = _plugin("graders", name)().grade(Subject(own, Trajectory(), Submission(submission)))
    return GradeResult(score=grade.score, rationale=grade.evidence, metadata=dict(grade.details))


def exact_match(sample: Sample, submission: str) -> GradeResult:
    """Compare the submission with the ground truth, white space at the ends aside."""
    return _grade("exact_match", sample, submission)


def contains(sample: Sample, submission: str) -> GradeResult:
    """Look for the ground truth in the submission, in upper or lower case."""
    return _grade("contains", sample, submission)


def regex_match(sample: Sample, submission: str) -> GradeResult:
    """Search the ground truth, a regular expression, in the submission."""
    return _grade("regex_match", sample, submission)


def ascii_printable_only(sample: Sample, submission: str) -> GradeResult:
    """Check that the submission holds nothing but printable ASCII and line breaks."""
    return _grade("ascii_printable_only", sample, submission)
