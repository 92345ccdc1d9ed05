"""The stimuli of an eval spec of Vally, put as samples that have graders of their own."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harness.documents.nodes import (
    Entry,
    Listing,
    Location,
    Node,
    Scalar,
    Table,
    describe,
    is_null,
    text_of,
)
from harness.loading.load_context import LoadContext
from harness.loading.vally_environments import Environments
from harness.system.suggestions import suggest
from harness.types.errors import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class VallyStimulus:
    """What a stimulus says beside its prompt, its turns and its graders."""

    name: str = field(metadata={"min_length": 1})
    rubric: Any = None
    tags: Any = None
    environment: Any = None
    constraints: Any = None
    artifacts: Any = None
    golden_patch: Any = None


_ELSEWHERE = ("prompt", "turns", "graders")
_PROMPTS = "`prompt: TEXT`, or `turns` with a text for each"
_STAND_IN = "?"
_NOT_RUN = {
    "constraints": "no target stops a trial by the constraints of a stimulus",
    "artifacts": "no target has a workspace whose files could be kept",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimuli:
    """The stimuli as native samples; `grade_only` is what keeps them from being run."""

    samples: Node
    grade_only: tuple[Fault, ...] = ()


def read_stimuli(spec: Location, context: LoadContext, environments: Environments) -> Stimuli:
    """Return the stimuli of a spec; faults go to the findings."""
    location = spec.child("stimuli")
    if location is None or not isinstance(location.node, Listing):
        found = describe(location.node) if location else "nothing"
        context.findings.fault(location or spec, f"found {found}", "a list of stimuli")
        return Stimuli(samples=Listing())
    weights = _weights(spec)
    reader = _Reader(context, weights, spec.child("tags"))
    samples = tuple(one for at in location.items() if (one := reader.sample(at)) is not None)
    _check_weights(weights, reader.types, context)
    refused = [
        fault
        for at in location.items()
        for fault in (*environments.refusals(at), *_unhonoured(at, context))
    ]
    return Stimuli(
        samples=Listing(items=samples, position=location.node.position), grade_only=tuple(refused)
    )


def _unhonoured(at: Location, context: LoadContext) -> Iterator[Fault]:
    for key, problem in _NOT_RUN.items():
        child = at.child(key)
        if child is not None and not is_null(child.node):
            allowed = "leave it out, or grade what was recorded"
            yield context.findings.make(child.path, child.node.position, problem, allowed)


def _weights(spec: Location) -> dict[str, Location]:
    scoring = spec.child("scoring")
    at = scoring.child("weights") if scoring else None
    return dict(at.children()) if at else {}


def _check_weights(weights: dict[str, Location], types: set[str], context: LoadContext) -> None:
    for kind, at in weights.items():
        if kind not in types:
            problem = f'no stimulus has a grader of type "{kind}"'
            context.findings.fault(at, problem, suggest(kind, types))


class _Reader:
    """Reads stimuli; `types` are those of the graders it has met."""

    def __init__(
        self, context: LoadContext, weights: dict[str, Location], tags: Location | None
    ) -> None:
        self._context, self._weights, self._tags = context, weights, tags
        self.types: set[str] = set()

    def sample(self, at: Location) -> Node | None:
        """Return a stimulus as a sample; None where that was a fault."""
        findings = self._context.findings
        if not isinstance(at.node, Table):
            findings.fault(at, f"found {describe(at.node)}", "a mapping with a `name`")
            return None
        self._context.bind(VallyStimulus, at.without(*_ELSEWHERE), also=_ELSEWHERE)
        said = self._input(at)
        # Where there is none, this says so like an empty list.
        nothing = Location(Listing(position=at.node.position), at.path_of("graders"))
        graders = self._weighed(at.child("graders") or nothing)
        parts = {"id": at.child("name"), "input": said, "graders": graders}
        entries = {
            key: Entry(node=part.node, position=part.node.position, path=part.path)
            for key, part in parts.items()
            if part is not None
        }
        entries["tags"] = Entry(node=self._tags_of(at))
        return Table(entries=entries, position=at.node.position)

    def _input(self, at: Location) -> Location:
        """Return the prompt or the turns; with turns, the prompt only repeats them.

        A stand-in follows a fault, so that nothing is missing besides.
        """
        stand_in = Location(Scalar(value=_STAND_IN))
        turns, prompt = at.child("turns"), at.child("prompt")
        if turns is None or is_null(turns.node):
            if prompt is None or text_of(prompt.node) is None:
                found = f"found {describe(prompt.node)}" if prompt else "there is no prompt"
                self._context.findings.fault(prompt or at, found, _PROMPTS)
                return stand_in
            return prompt
        if not isinstance(turns.node, Listing) or not turns.node.items:
            found = (
                "found an empty list" if isinstance(turns.node, Listing) else describe(turns.node)
            )
            self._context.findings.fault(turns, found, _PROMPTS)
            return stand_in
        items = [self._turn(item) for item in turns.items()]
        return Location(Listing(items=tuple(items), position=turns.node.position), turns.path)

    def _turn(self, item: Location) -> Node:
        inner = item.child("prompt") or item
        if text_of(inner.node) is None:
            self._context.findings.fault(item, f"found {describe(item.node)}", "a text")
            return Scalar(value=_STAND_IN, position=item.node.position)
        return inner.node

    def _weighed(self, graders: Location) -> Location:
        """Return the graders, each with the weight of its type."""
        if not isinstance(graders.node, Listing):
            return graders
        items = tuple(self._with_weight(item) for item in graders.items())
        return Location(replace(graders.node, items=items), graders.path)

    def _with_weight(self, item: Location) -> Node:
        kind = item.text("type")
        if kind is None or not isinstance(item.node, Table):
            return item.node
        self.types.add(kind)
        weight = self._weights.get(kind)
        if weight is None:
            return item.node
        entry = Entry(node=weight.node, position=weight.node.position, path=weight.path)
        return replace(item.node, entries={**item.node.entries, "weight": entry})

    def _tags_of(self, at: Location) -> Node:
        """Return the tags as `key=value`, those of the spec included."""
        tags: dict[str, tuple[str, ...]] = {}
        for holder in (self._tags, at.child("tags")):
            for key, value in holder.children() if holder else ():
                values = [one.node for one in value.items()] or [value.node]
                tags[key] = tuple(filter(None, map(text_of, values)))
        texts = [f"{key}={value}" for key, values in tags.items() for value in values]
        return Listing(items=tuple(Scalar(value=text) for text in texts))
