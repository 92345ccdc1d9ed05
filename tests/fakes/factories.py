"""Records for tests, filled with what does not matter to the test."""

import inspect
import json
from pathlib import Path

from graders.catalogue import EXTRACTORS, GRADERS
from harness.types.code import CustomExtractor, CustomGrader
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.marks import mark_of
from harness.types.samples import Sample
from harness.types.suites import GraderSpec
from harness.types.trajectories import Trajectory, Turn

DATA = Path(__file__).parent.parent / "data"


def make_sample(**fields):
    """Make a sample: id `s1`, input `Find it.`."""
    return Sample(**{"id": "s1", "input": "Find it.", **fields})


def make_trajectory(*turns):
    """Make a trajectory of turns, each a list of events; a text is said by the assistant.

    Without turns: the user asks, `lookup` returns `id=K41`, the assistant says so.
    """
    turns = turns or ([UserMessage(text="Find it."), *make_call(), "It is K41."],)
    return Trajectory(turns=tuple(Turn(events=tuple(map(_event, turn))) for turn in turns))


def make_call(name="lookup", output="id=K41", call_id="c1"):
    """Make a call and its result."""
    call = ToolCall(call_id=call_id, name=name, arguments={}, arguments_text="{}")
    return call, ToolResult(call_id=call_id, name=name, output=output)


def make_grader(kind, *, extractor="last_assistant", config=None, options=None, **fields):
    """Make the spec of a built-in grader; `options` are its own, `config` the extractor's."""
    grader = GRADERS[kind](**(options or {}))
    return GraderSpec(
        **{
            "name": kind,
            "kind": kind,
            "grader": grader,
            "extractor": EXTRACTORS[extractor](**(config or {})),
            "fingerprint": f"sha256:{kind}",
            **fields,
        }
    )


def make_custom(function, *, extractor="last_assistant", isolation="thread", **fields):
    """Make the spec of a function as a grader; `name` is what its `file` calls it."""
    name = fields.pop("name", None) or function.__name__
    mark = mark_of(function)
    named = [p for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_KEYWORD]
    grader = CustomGrader(
        name=name,
        function=function,
        file=Path(fields.pop("file", __file__)),
        parameters=tuple(p.name for p in named if p.default is p.empty),
        optional=tuple(p.name for p in named if p.default is not p.empty),
        config=fields.pop("config", {}),
        isolation=isolation,
        style=mark.style if mark else "regrade",
        is_composer=mark is not None and mark.kind == "reward composer",
    )
    found = make_extractor(extractor) if callable(extractor) else EXTRACTORS[extractor]()
    spec = {"name": name, "kind": "tool", "grader": grader, "extractor": found}
    return GraderSpec(**{**spec, "fingerprint": "sha256:custom", **fields})


def make_extractor(function, config=None):
    """Make a function an extractor."""
    mark = mark_of(function)
    named = inspect.signature(function).parameters.values()
    return CustomExtractor(
        name=function.__name__,
        function=function,
        parameters=tuple(p.name for p in named if p.default is p.empty),
        optional=tuple(p.name for p in named if p.default is not p.empty),
        config=config or {},
        style=mark.style if mark else "regrade",
    )


def read_rows(path):
    """Read the rows of a JSON Lines file under `tests/data`."""
    lines = (DATA / path).read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def _event(event):
    return AssistantMessage(text=event) if isinstance(event, str) else event
