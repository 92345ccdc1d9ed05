"""An explanation as one screen of Markdown: `summary.md`, and what `regrade explain` prints.

The first ten lines say what happened and why: the verdict, where the failures come from, and the
largest groups of them. All else comes after, each kind of thing bounded.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness.reports.comparison_words import age_words, exclusion_lines, first_differing
from harness.reports.markdown_spans import code_span, plain_words
from harness.reports.number_words import ends, gate_found
from harness.system.shown_numbers import counted
from harness.system.shown_shares import percent
from harness.types.comparisons import SUITE_LINE, Change, Comparison
from harness.types.explanations import (
    Explanation,
    FailureGroup,
    MissedGate,
    ModelNumbers,
    NextStep,
    ShownFailure,
)
from harness.types.trials import ERROR_STATUSES

_MOST_GROUPS, _MOST_DIVERGENCES = 5, 2
_MOST_LISTED = 5
_MOST_NAMED = 3
_MOST_COMPARISONS = 2
_LONG, _EVIDENCE, _SHORT, _NAME = 240, 160, 120, 60


def summary_markdown(explanation: Explanation) -> str:
    """Return the text of `summary.md`."""
    return "\n".join(_lines(explanation)) + "\n"


def _lines(told: Explanation) -> Iterator[str]:
    yield f"## {plain_words(told.suite, _NAME)}: {plain_words(told.verdict, 2 * _LONG)}"
    yield ""
    # What makes a run whole that cannot be judged comes before all that it shows so far.
    is_first = told.state == "incomplete"
    if told.next_step and is_first:
        yield from (_next_step(told.next_step), "")
    yield from _divergences(told.comparisons)
    if told.groups:
        yield _origins(told)
        yield ""
        groups = (f"{index}. {_group(one)}" for index, one in enumerate(told.groups, start=1))
        yield from _shortened(groups, _MOST_GROUPS, "further group")
        yield ""
    yield from _conditions(told)
    yield from _shortened(map(_numbers, told.models), _MOST_LISTED, "further model")
    for comparison in told.comparisons[:_MOST_COMPARISONS]:
        yield from _comparison(comparison)
    if (more := len(told.comparisons) - _MOST_COMPARISONS) > 0:
        yield from ("", f"And {counted(more, 'further comparison')}: see `regrade compare`.")
    if told.shown:
        yield from ("", "### Examples")
        for shown in told.shown:
            yield from _shown(shown)
    yield from _listed("Warnings", [plain_words(one, _LONG) for one in told.warnings])
    if told.next_step and not is_first:
        yield from ("", _next_step(told.next_step))


def _next_step(step: NextStep) -> str:
    command = f": {code_span(step.command)}" if step.command else ""
    return f"**Next:** {plain_words(step.words, _LONG)}{command}"


def _shortened(lines: Iterable[str], most: int, noun: str) -> Iterator[str]:
    given = list(lines)
    yield from given[:most]
    if len(given) > most:
        yield f"- and {counted(len(given) - most, noun)}"


def _origins(told: Explanation) -> str:
    counts = ", ".join(f"{origin} {count:,}" for origin, count in told.origins.items())
    whence = "Where it comes from" if told.failing == 1 else "Where they come from"
    if told.looked_at != told.failing:
        whence += f" ({told.looked_at:,} of {told.failing:,} looked at)"
    return f"{whence}: {counts}."


def _group(group: FailureGroup) -> str:
    # What a grader broke on comes from it: that need not be said twice.
    origin = "" if group.grader and group.origin == "grader" else f", {group.origin}"
    grader = f", grader {code_span(group.grader, _NAME)}" if group.grader else ""
    names = [code_span(name, _NAME) for name in group.samples[:_MOST_NAMED]]
    more = (
        f" and {group.sample_count - _MOST_NAMED} more" if group.sample_count > _MOST_NAMED else ""
    )
    words, evidence = _parted(group.words, group.evidence)
    said = f": {code_span(evidence, _EVIDENCE)}" if evidence and evidence != words else ""
    is_call = group.event is not None and group.event.type == "tool_call"
    given = f", with {code_span(group.event.text, _SHORT)}" if group.event and is_call else ""
    return (
        f"**{counted(group.trials, 'trial')}**{origin}{grader}: "
        f"**{plain_words(words, _LONG)}**{given}{said} ({', '.join(names)}{more})"
    )


def _parted(words: str, evidence: str) -> tuple[str, str]:
    """Part what says an error into its kind and its message; all else is left as it is."""
    code, mark, message = evidence.partition(": ")
    kind = code.replace("_", " ")
    return (kind, message) if mark and words.startswith(f"{kind}: ") else (words, evidence)


def _conditions(told: Explanation) -> Iterator[str]:
    further = told.reasons[1:] if told.state == "incomplete" else told.reasons
    lines = [
        *(f"- incomplete: {plain_words(reason, _LONG)}" for reason in further),
        *map(_gate, told.missed_gates),
    ]
    yield from _shortened(lines, _MOST_LISTED, "further condition")


def _gate(gate: MissedGate) -> str:
    word = "not judged" if gate.passed is None else "missed"
    return f"- gate {word}: {code_span(gate.text, _LONG)} ({gate_found(gate)})"


def _numbers(numbers: ModelNumbers) -> str:
    rate = numbers.pass_rate
    interval = "" if rate.low is None else f" (95 % interval {ends(rate.low, rate.high)})"
    said = "" if rate.value is None else f", {percent(rate.value)}{interval}"
    left_out = numbers.errors if numbers.errors_left_out else 0
    how = " left out (`errors: exclude`)" if left_out else ""
    errors = f", {counted(numbers.errors, 'error')}{how}" if numbers.errors else ""
    ungraded = f", {numbers.ungraded:,} ungraded" if numbers.ungraded else ""
    trials = numbers.trials - left_out - numbers.ungraded
    is_judged = rate.value is not None
    passed = f"{numbers.passed:,} of {trials:,} passed" if is_judged else "no graded trial"
    others = [name for name in numbers.served if name != numbers.model]
    served = ", ".join(code_span(name, _NAME) for name in others[:_MOST_NAMED])
    answered = f"; answered by {served}" if served else ""
    return (
        f"- {code_span(numbers.model, _NAME)}: {passed}"
        f"{said}{errors}{ungraded}{answered}{_slices(numbers)}"
    )


def _slices(numbers: ModelNumbers) -> str:
    said = [
        f"{code_span(f'{one.name}: {one.value}', _NAME)} {one.passed:,} of {one.trials:,} "
        f"({percent(one.rate)})"
        for one in numbers.low_slices
    ]
    noun = "slice" if len(said) == 1 else "slices"
    return f"; lowest {noun}: {', '.join(said)}" if said else ""


def _shown(shown: ShownFailure) -> Iterator[str]:
    failed = shown.trial
    place = f", {code_span(shown.place, _SHORT)}" if shown.place else ""
    epoch = f", epoch {failed.epoch}" if failed.epoch else ""
    by = code_span(failed.grader or failed.status.replace("_", " "), _NAME)
    words, evidence = _parted(shown.bad.words, failed.evidence)
    yield (
        f"- {code_span(failed.sample_id, _NAME)} on {code_span(failed.model, _NAME)}{epoch}{place}"
        f": {plain_words(words, _LONG)}"
    )
    yield f"  - {by}: {code_span(evidence, _LONG)}"
    if shown.bad.event is not None:
        at = shown.bad.event
        named = f" {code_span(at.name, _NAME)}" if at.name else ""
        kind = at.type.replace("_", " ")
        yield f"  - turn {at.turn}, event {at.event}, {kind}{named}: {code_span(at.text, _SHORT)}"
    told = {"wanted": failed.wanted, "points at": failed.pointed, "said": failed.said}
    said = [f"{word} {code_span(text, _SHORT)}" for word, text in told.items() if text is not None]
    # What an agent said explains no error.
    if said and failed.status not in ERROR_STATUSES:
        yield f"  - {'; '.join(said)}"
    yield from (f"  - {code_span(command)}" for command in shown.commands)


def _divergences(comparisons: Sequence[Comparison]) -> Iterator[str]:
    errored = len({pair.sample_id for one in comparisons for pair in one.errored})
    groups = [group for one in comparisons for group in one.divergences[:_MOST_DIVERGENCES]]
    for group in groups[:_MOST_DIVERGENCES]:
        yield (
            f"- {first_differing(group, 'regressed sample')}: "
            f"**{plain_words(group.words, _SHORT)}**"
        )
    if errored:
        yield f"- {counted(errored, 'sample')} with nothing but errors on one side, not judged"
    if groups or errored:
        yield ""


def _comparison(comparison: Comparison) -> Iterator[str]:
    baseline, pairing = comparison.baseline, comparison.pairing
    age = f" ({age_words(baseline)})" if baseline.age_days is not None else ""
    model = code_span(comparison.candidate.model, _NAME)
    yield from ("", f"### {model} against {code_span(baseline.run_id)}{age}")
    left = {"changed": pairing.changed, "added": pairing.added, "removed": pairing.removed}
    left["not run in the baseline"] = pairing.not_run
    left["not run in the candidate"] = pairing.not_taken
    left["judged by other graders"] = pairing.unalike
    counts = [f"{len(ids):,} {word}" for word, ids in left.items() if ids]
    out = f"; left out: {', '.join(counts)}" if counts else ""
    moved = f"{len(comparison.regressed):,} regressed, {len(comparison.improved):,} improved"
    if comparison.errored:
        moved += f", {len(comparison.errored)} with nothing but errors on one side"
    yield f"- {counted(pairing.paired, 'sample')} paired: {moved}{out}"
    yield from (f"- {line}" for line in exclusion_lines(comparison))
    changes = list(map(_change, comparison.changes)) or ["- nothing else is known to have changed"]
    yield from _shortened(changes, 2 * _MOST_LISTED, "further change")


def _change(change: Change) -> str:
    both = (change.before, change.after)
    values = ["none" if one is None else code_span(one, _SHORT) for one in both]
    if change.what == SUITE_LINE and None in both:
        word, shown = ("removed", values[0]) if change.after is None else ("added", values[1])
        return f"- {change.what} {word}: {shown}"
    values = [] if both == (None, None) else values
    return (
        f"- {plain_words(change.what, _SHORT)} changed{': ' if values else ''}{' to '.join(values)}"
    )


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"### {title}")
        yield from _shortened([f"- {line}" for line in lines], _MOST_LISTED, "further one")
