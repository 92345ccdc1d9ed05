"""The grader `tool-output-in-answer`: does the answer tell what the tool returned?

It needs no pattern, where `assistant-contains-tool-output` does.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Literal, NamedTuple

import regex

from graders.cut_notes import without_notes
from graders.event_places import MOST_REFS, placed_events
from graders.failed_results import has_failed
from graders.json_comparison import same_json
from graders.normalised_texts import Ignored, normalise, ungroup
from graders.output_values import decoded, values_of
from graders.submissions import Piece
from graders.text_searches import final_message, quoted
from graders.token_bounds import find_whole
from graders.told_numbers import numbers_in
from graders.tool_names import is_named
from harness.system.json_values import load_json
from harness.system.patterns import check_size
from harness.types.events import ToolResult
from harness.types.grades import Grade, Ref
from harness.types.protocols import Reads, Subject
from harness.types.taxonomy import Taxonomy

_FENCED = regex.compile(r"```[^\n`]*+\n([^`]*+)```")
_NOTHING = ("", "null", "None")
_UNTELLING = frozenset({"ok", "yes", "no", "none", "null", "true", "false", "success", "error"})


class _Told(NamedTuple):
    """Whether an output is told: None where that cannot be decided; and where, and which value."""

    told: bool | None
    span: tuple[int, int] | None = None
    value: str | None = None
    reason: str = ""


class _Answer:
    """The answer and the forms it is compared in, each made once however many results there are."""

    def __init__(self, piece: Piece, ignore: Collection[Ignored]) -> None:
        self.ref, self.raw = piece
        self.ignore = ignore

    @cached_property
    def text(self) -> str:
        return normalise(self.raw, self.ignore)

    @cached_property
    def ungrouped(self) -> str:
        return normalise(ungroup(self.raw), self.ignore)

    @cached_property
    def numbers(self) -> Mapping[Decimal, tuple[int, int] | None]:
        if self.ignore:
            # What is left aside moves the places.
            return dict.fromkeys(numbers_in(self.text))
        return numbers_in(self.raw)

    def find(self, value: str) -> _Told:
        """Look for a text as a whole, its thousands separated or not."""
        found = find_whole(normalise(value, self.ignore), self.text, signed=True) or find_whole(
            normalise(ungroup(value), self.ignore), self.ungrouped, signed=True
        )
        return _Told(found is not None, find_whole(value, self.raw, signed=True) if found else None)

    @cached_property
    def json_values(self) -> tuple[Any, ...]:
        return tuple(_json_in(self.raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputInAnswer:
    """Passes when the answer tells what a tool returned.

    The answer is the last message of the last turn, and has to come after the result. `exact`:
    the output stands in it letter for letter. `normalised`: white space, Unicode forms, the
    spelling of JSON and separators of thousands aside, and not inside a longer word or number.
    `values`: at least one value of the output is told: a number, an id, a text of its JSON.
    Results that failed, or hold nothing (empty, `{}`, `[]`, an image), are left out; where no
    usable one is left the grade is skipped, and also where an output was cut and the rest does not
    decide it. That the answer contradicts what it tells is not seen.
    """

    taxonomy: ClassVar[Taxonomy] = Taxonomy(reference="reference-free", scope="trajectory-level")
    reads: ClassVar[Reads] = "trajectory"
    uses: ClassVar[tuple[str, ...]] = ()

    tools: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "Exact names, or namespaces, of the tools whose results count; without "
            "them all do."
        },
    )
    compare: Literal["exact", "normalised", "values"] = field(
        default="normalised", metadata={"description": "How output and answer are compared."}
    )
    require: Literal["last", "any", "all"] = field(
        default="last",
        metadata={"description": "Which of several usable results have to be told."},
    )
    ignore: tuple[Ignored, ...] = field(
        default=(),
        metadata={
            "description": "What is left aside besides, unless the comparison is exact: `case`, "
            "`html` (entities), `invisible` (characters)."
        },
    )

    def grade(self, subject: Subject, /) -> Grade:
        """Look for the outputs in the answer."""
        results = [
            (ref, event)
            for ref, event in placed_events(subject.trajectory)
            if isinstance(event, ToolResult) and is_named(event.name, self.tools)
        ]
        names = ", ".join(map(quoted, self.tools)) or "any tool"
        if not results:
            return Grade(score=0.0, evidence=f"There is no result of {names}")
        latest = (one for one in reversed(results) if _is_usable(one[1]))
        usable = list(islice(latest, 1 if self.require == "last" else None))[::-1]
        if not usable:
            refs = tuple(ref for ref, _ in results[:MOST_REFS])
            evidence = f"There is no usable output of {names}: it failed, or holds nothing"
            return Grade(status="skipped", evidence=evidence, refs=refs)
        said = final_message(subject.trajectory)
        answer = _Answer(said, self.ignore) if said else None
        told = [(ref, result, self._told(ref, result, answer)) for ref, result in usable]
        return self._judged(told, answer)

    def _judged(self, told: list[tuple[Ref, ToolResult, _Told]], answer: _Answer | None) -> Grade:
        good = [one for one in told if one[2].told]
        bad = [one for one in told if one[2].told is False]
        open_ones = [one for one in told if one[2].told is None]
        if good and (self.require == "any" or len(good) == len(told)):
            ref, result, how = good[0]
            which = f"{quoted(how.value)}, which " if how.value else "what "
            evidence = f"The answer tells {which}{quoted(result.name or '')} returned"
            return Grade(score=1.0, evidence=evidence, refs=_refs(ref, answer, how))
        if open_ones and (self.require == "any" or not bad):
            ref, result, how = open_ones[0]
            return Grade(status="skipped", evidence=how.reason, refs=(ref,))
        ref, result, how = bad[0]
        return Grade(score=0.0, evidence=how.reason, refs=_refs(ref, answer, how))

    def _told(self, ref: Ref, result: ToolResult, answer: _Answer | None) -> _Told:
        name = quoted(result.name or "")
        if answer is None or (answer.ref.turn, answer.ref.event) < (ref.turn, ref.event):
            return _Told(False, reason=f"The agent gave no answer after {name} returned")
        check_size("the output", max(len(result.output), len(answer.raw)))
        if self.compare == "exact":
            at = answer.raw.find(result.output)
            found = _Told(at >= 0, (at, at + len(result.output)) if at >= 0 else None)
        else:
            found = self._compared(result.output, answer)
        if found.told is None:
            cut = f"The output of {name} was cut, and the rest is not told"
            return found._replace(reason=found.reason or cut)
        return found._replace(reason=f"The answer does not tell what {name} returned")

    def _compared(self, output: str, answer: _Answer) -> _Told:
        rest, was_cut = without_notes(output)
        if self.compare == "normalised":
            found = _normalised(output, answer)
        else:
            found = _by_values(rest, answer)
        return _Told(None) if was_cut and found.told is False else found


def _is_usable(result: ToolResult) -> bool:
    if result.output.strip() in _NOTHING or has_failed(result):
        return False
    check_size("the output", len(result.output))
    return any(True for _ in _leaves(decoded(result.output)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None and not (isinstance(value, str) and not value.strip()):
        yield value


def _normalised(output: str, answer: _Answer) -> _Told:
    value = decoded(output)
    if isinstance(value, dict | list) and any(same_json(value, one) for one in answer.json_values):
        return _Told(True)
    return answer.find(output if isinstance(value, dict | list) else str(value))


def _json_in(answer: str) -> Iterator[Any]:
    """Return the JSON that an answer holds: as a whole, in a fence, from first to last bracket."""
    spans = [answer, *(match.group(1) for match in _FENCED.finditer(answer))]
    for opener, closer in ("{}", "[]"):
        start, end = answer.find(opener), answer.rfind(closer)
        if 0 <= start < end:
            spans.append(answer[start : end + 1])
    for text in spans:
        if text.strip()[:1] in ("{", "["):
            try:
                yield load_json(text)
            except ValueError:
                continue


def _by_values(output: str, answer: _Answer) -> _Told:
    values = values_of(output)
    if not values:
        return _Told(None, reason="The output holds no text and no number")
    if len(values) > 1:
        values = [v for v in values if str(v).strip().lower() not in _UNTELLING] or values
    for value in values:
        if isinstance(value, Decimal):
            if value in answer.numbers:
                shown = f"{value.normalize():f}" if value else "0"
                return _Told(True, answer.numbers[value], shown)
        elif (found := answer.find(value)).told:
            return found._replace(value=value)
    return _Told(False)


def _refs(ref: Ref, answer: _Answer | None, how: _Told) -> tuple[Ref, ...]:
    if answer is None:
        return (ref,)
    start, end = how.span or (None, None)
    return ref, Ref(turn=answer.ref.turn, event=answer.ref.event, start=start, end=end)
