"""The grader `tool-output-in-answer`: does the answer tell what the tool returned?

It needs no pattern, where `assistant-contains-tool-output` does.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Literal, NamedTuple

import regex

from graders.cut_notes import without_notes
from graders.event_places import MOST_REFS, placed_events
from graders.failed_results import has_failed
from graders.json_comparison import json_key
from graders.normalised_texts import Ignored, close_up, is_number_list, normalise, ungroup
from graders.output_values import Value, decoded, values_of
from graders.submissions import Piece
from graders.text_searches import final_message, quoted
from graders.token_bounds import find_whole
from graders.told_numbers import numbers_in
from graders.tool_names import is_named
from graders.value_search import ValueSearch
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
    """Whether an output is told: None where that cannot be decided; and which text or number."""

    told: bool | None
    place: str | Decimal | tuple[int, int] | None = None
    value: str | None = None
    reason: str = ""


class _Output:
    """An output and the forms it is looked for in, each made once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rest, self.was_cut = without_notes(text)

    @cached_property
    def value(self) -> Any:
        return decoded(self.text)

    @cached_property
    def whole(self) -> str:
        return self.text if isinstance(self.value, dict | list) else str(self.value)

    @cached_property
    def values(self) -> list[Value]:
        values = values_of(decoded(self.rest) if self.was_cut else self.value)
        told = [v for v in values if str(v).strip().lower() not in _UNTELLING]
        return told if len(values) > 1 and told else values


class _Answer:
    """The answer and the forms it is compared in, each made once however many results there are."""

    def __init__(self, piece: Piece, ignore: Collection[Ignored]) -> None:
        self.ref, self.raw = piece
        self.ignore = ignore
        self.holds: Mapping[str, bool] = {}
        self.exact: Mapping[str, tuple[int, int]] = {}

    @cached_property
    def text(self) -> str:
        return normalise(self.raw, self.ignore)

    @cached_property
    def ungrouped(self) -> str:
        return normalise(ungroup(self.raw), self.ignore)

    @cached_property
    def closed_up(self) -> str:
        return close_up(self.text)

    @cached_property
    def numbers(self) -> Mapping[Decimal, tuple[int, int] | None]:
        if self.ignore:
            # What is left aside moves the places.
            return dict.fromkeys(numbers_in(self.text))
        return numbers_in(self.raw)

    @cached_property
    def json_keys(self) -> frozenset[Any]:
        return frozenset(map(json_key, _json_in(self.raw)))

    def look_for(self, values: Collection[str]) -> None:
        """Find out which texts stand in it as a whole, their thousands separated or not."""
        plain = {value: normalise(value, self.ignore) for value in values}
        bare = {value: ungroup(value) for value in values}
        if self.ungrouped == self.text:
            bare = {value: one for value, one in bare.items() if one != value}
        bare = {value: normalise(one, self.ignore) for value, one in bare.items()}
        found = _standing(plain.values(), self.text)
        found_bare = _standing(bare.values(), self.ungrouped)
        closed = {value: close_up(one) for value, one in plain.items() if is_number_list(one)}
        found_closed = _standing(closed.values(), self.closed_up) if closed else {}
        self.holds = {
            value: plain[value] in found
            or bare.get(value) in found_bare
            or closed.get(value) in found_closed
            for value in values
        }

    def look_for_exactly(self, values: Collection[str]) -> None:
        """Find out where texts stand in it, letter for letter."""
        self.exact = _standing(values, self.raw, whole=False)

    def place_of(self, place: str | Decimal | tuple[int, int] | None) -> tuple[int, int] | None:
        """Return where a text or a number stands that is told, if it stands there as it is."""
        if isinstance(place, Decimal):
            return self.numbers.get(place)
        return find_whole(place, self.raw, signed=True) if isinstance(place, str) else place


def _standing(
    values: Iterable[str], text: str, *, whole: bool = True
) -> Mapping[str, tuple[int, int]]:
    search = ValueSearch(whole=whole)
    for value in values:
        search.add(value)
    return search.find_in(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputInAnswer:
    """Passes when the answer tells what a tool returned.

    The answer is the last message of the last turn, and has to come after the result. `exact`:
    the output stands in it letter for letter. `normalised`: white space, Unicode forms, the
    spelling of JSON, separators of thousands and blanks in lists of numbers (`2, 5`) aside, and
    not inside a longer word or number.
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
        placed = ((ref, event, _Output(event.output)) for ref, event in reversed(results))
        latest = (one for one in placed if _is_usable(one[1], one[2]))
        usable = list(islice(latest, 1 if self.require == "last" else None))[::-1]
        if not usable:
            refs = tuple(ref for ref, _ in results[:MOST_REFS])
            evidence = f"There is no usable output of {names}: it failed, or holds nothing"
            return Grade(status="skipped", evidence=evidence, refs=refs)
        said = final_message(subject.trajectory)
        answer = _Answer(said, self.ignore) if said else None
        if answer:
            self._look_for([output for _, _, output in usable], answer)
        told = [
            (ref, result, self._told(ref, result.name, output, answer))
            for ref, result, output in usable
        ]
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

    def _look_for(self, outputs: Collection[_Output], answer: _Answer) -> None:
        """Look for all outputs in the answer at once."""
        check_size("the output", max(len(answer.raw), *(len(one.text) for one in outputs)))
        if self.compare == "exact":
            answer.look_for_exactly({one.text for one in outputs})
        elif self.compare == "normalised":
            answer.look_for({one.whole for one in outputs})
        else:
            texts = (value for one in outputs for value in one.values if isinstance(value, str))
            answer.look_for(set(texts))

    def _told(self, ref: Ref, tool: str | None, output: _Output, answer: _Answer | None) -> _Told:
        name = quoted(tool or "")
        if answer is None or (answer.ref.turn, answer.ref.event) < (ref.turn, ref.event):
            return _Told(False, reason=f"The agent gave no answer after {name} returned")
        if self.compare == "exact":
            span = answer.exact.get(output.text)
            found = _Told(span is not None, span)
        else:
            compared = _normalised if self.compare == "normalised" else _by_values
            found = compared(output, answer)
            found = _Told(None) if output.was_cut and found.told is False else found
        if found.told is None:
            cut = f"The output of {name} was cut, and the rest is not told"
            return found._replace(reason=found.reason or cut)
        return found._replace(reason=f"The answer does not tell what {name} returned")


def _is_usable(result: ToolResult, output: _Output) -> bool:
    if result.output.strip() in _NOTHING or has_failed(result):
        return False
    check_size("the output", len(result.output))
    return any(True for _ in _leaves(output.value))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None and not (isinstance(value, str) and not value.strip()):
        yield value


def _normalised(output: _Output, answer: _Answer) -> _Told:
    if isinstance(output.value, dict | list) and json_key(output.value) in answer.json_keys:
        return _Told(True)
    return _Told(answer.holds[output.whole], output.whole)


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


def _by_values(output: _Output, answer: _Answer) -> _Told:
    if not output.values:
        return _Told(None, reason="The output holds no text and no number")
    for value in output.values:
        if isinstance(value, Decimal):
            if value in answer.numbers:
                shown = f"{value.normalize():f}" if value else "0"
                return _Told(True, value, shown)
        elif answer.holds[value]:
            return _Told(True, value, value)
    return _Told(False)


def _refs(ref: Ref, answer: _Answer | None, how: _Told) -> tuple[Ref, ...]:
    if answer is None:
        return (ref,)
    start, end = answer.place_of(how.place if how.told else None) or (None, None)
    return ref, Ref(turn=answer.ref.turn, event=answer.ref.event, start=start, end=end)
