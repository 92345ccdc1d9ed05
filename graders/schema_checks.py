"""The grader `json-schema`: the answer, or what a tool was given or gave, meets a JSON Schema."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import regex

from graders.event_places import MOST_REFS, placed_events
from graders.json_comparison import text_of
from graders.text_searches import NO_OUTPUT, final_message, quoted
from graders.tool_names import is_named
from harness.system.json_values import load_json
from harness.system.patterns import check_size
from harness.system.texts import cut
from harness.types.errors import GraderError
from harness.types.events import ToolCall, ToolResult
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Trajectory

_FENCE = regex.compile(r"\A\s*+```[^\n`]*+\n(.*)\n\s*+```\s*+\Z", regex.DOTALL)
_SHOWN_CHARACTERS = 300
_Found = tuple[Ref, Any, str]
"""A value with its place, and what is wrong with it where it is no JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchemaCheck:
    """Passes when a value meets a JSON Schema: the answer, a tool's arguments, a tool's output.

    The answer is the last message of the last turn, and has to be JSON as a whole; with
    `code_fence` it may stand in one. Of tools every call, or every result, has to meet the schema,
    or with `require: any` one. The drafts 3 to 2020-12 are known, the last one if the schema names
    none; `format` is an annotation, and no `$ref` is fetched.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()
    json_numbers: ClassVar[bool] = True

    schema: Mapping[str, Any] | bool = field(
        metadata={"description": "The schema; `true` is met by every JSON value, `false` by none."}
    )
    of: Literal["answer", "arguments", "output"] = field(
        default="answer",
        metadata={"description": "What is checked; `arguments` and `output` are those of tools."},
    )
    tools: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Exact names, or namespaces, of the tools that count; without them all "
            "do."
        },
    )
    require: Literal["all", "any"] = field(
        default="all",
        metadata={"description": "Whether every call has to meet the schema, or one."},
    )
    code_fence: bool = field(
        default=False, metadata={"description": "Take an answer out of its Markdown code fence."}
    )

    def lint(self) -> Iterable[tuple[str, str]]:
        """Find an invalid schema, and options that have no meaning for an answer."""
        try:
            self._validator()
        except GraderError as error:
            yield "schema", str(error)
        if self.of == "answer" and self.tools:
            yield "tools", "has no meaning for an answer"
        if self.of != "answer" and self.code_fence:
            yield "code_fence", "has a meaning for an answer alone"

    def grade(self, subject: Subject, /) -> Grade:
        """Check the values."""
        validator = self._validator()
        found = list(self._values(subject.trajectory))
        if not found:
            names = ", ".join(map(quoted, self.tools)) or "a tool"
            nothing = {"answer": NO_OUTPUT, "arguments": f"There is no call of {names}"}
            evidence = nothing.get(self.of, f"There is no result of {names}")
            return Grade(score=0.0, evidence=evidence)
        problems = [(ref, wrong or _problem(validator, value)) for ref, value, wrong in found]
        bad = [(ref, problem) for ref, problem in problems if problem]
        good = tuple(ref for ref, problem in problems if not problem)
        counted = "The answer" if self.of == "answer" else f"{len(good)} of {len(found)} {self.of}"
        if not bad or (good and self.require == "any"):
            evidence = f"{counted} met the schema"
            return Grade(score=1.0, evidence=evidence, refs=good[:MOST_REFS])
        met = f"{counted} did not meet" if self.of == "answer" else f"{counted} met"
        return Grade(
            score=0.0,
            evidence=f"{met} the schema: {bad[0][1]}",
            refs=tuple(ref for ref, _ in bad[:MOST_REFS]),
        )

    def _validator(self) -> Any:
        # Imported late: a suite without this grader starts without it.
        from graders.schema_validators import validator_of  # noqa: PLC0415

        try:
            return validator_of(text_of(self.schema))
        except ValueError as error:
            problem = cut(str(error), _SHOWN_CHARACTERS)
            raise GraderError(f"the schema cannot be used: {problem}") from error

    def _values(self, trajectory: Trajectory) -> Iterator[_Found]:
        if self.of == "answer":
            answer = final_message(trajectory)
            if answer is not None:
                ref, text = answer
                check_size("the answer", len(text))
                fenced = _FENCE.match(text) if self.code_fence else None
                yield (ref, *_read(fenced.group(1) if fenced else text))
            return
        for ref, event in placed_events(trajectory):
            wanted = isinstance(event, ToolCall if self.of == "arguments" else ToolResult)
            if not wanted or not isinstance(event, ToolCall | ToolResult):
                continue
            if is_named(event.name, self.tools):
                yield (ref, *_value_of(event))


def _value_of(event: ToolCall | ToolResult) -> tuple[Any, str]:
    if isinstance(event, ToolCall):
        return event.arguments, ""
    check_size("the output", len(event.output))
    value, wrong = _read(event.output)
    return (event.structured, "") if wrong and event.structured is not None else (value, wrong)


def _read(text: str) -> tuple[Any, str]:
    try:
        return load_json(text), ""
    except ValueError as error:
        return None, f"it is no JSON: {cut(str(error), _SHOWN_CHARACTERS)}"


def _problem(validator: Any, value: Any) -> str:
    """Say what is wrong with a value, empty for nothing; the first error counts."""
    import referencing.exceptions  # noqa: PLC0415  (imported late, with the validators)

    try:
        first = next(validator.iter_errors(value), None)
    except RecursionError:
        raise GraderError(
            "the schema refers to itself without end, or the value is too deep"
        ) from None
    except referencing.exceptions.Unresolvable as error:
        raise GraderError(f"the schema refers to what is not there: {error}") from error
    except ArithmeticError as error:
        return f"a number cannot be checked: {error}"
    if first is None:
        return ""
    return cut(f"{cut(first.json_path, _SHOWN_CHARACTERS)}: {first.message}", 2 * _SHOWN_CHARACTERS)
