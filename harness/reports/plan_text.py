"""What a suite can see before it is run, as text for a terminal."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from harness.reports.number_words import amount
from harness.system.shown_numbers import counted
from harness.system.shown_shares import percent, rounded_percent
from harness.system.texts import one_line
from harness.types.suite_plans import ChurnSource, ExpectedSpending, ModelPlan, Sight, SuitePlan

_MINUTE, _HOUR = 60.0, 3600.0
_SHORTEST = 0.1
_POWER = 0.8
_DIGITS = 6


def plan_text(plan: SuitePlan) -> str:
    """Return a plan as lines; nothing in names does harm."""
    return "".join(f"{line}\n" for line in _lines(plan))


def _lines(plan: SuitePlan) -> Iterator[str]:
    parts = [
        counted(plan.samples, "sample"),
        counted(len(plan.models), "model"),
        counted(plan.epochs, "epoch"),
    ]
    yield f"{one_line(plan.suite)}: {' x '.join(parts)} = {counted(plan.trials, 'trial')}"
    drop = _some_points(plan.detect)
    yield f"How likely two such runs are to show a drop of {drop} as REGRESSED, where it is"
    yield f"    in all: every sample passes {drop} less often"
    yield f"    in few: {_in_few(plan)}"
    yield "by the share of samples that change between two runs of one epoch with nothing changed:"
    alike = len({model.sights for model in plan.models}) == 1
    for model in plan.models[:1] if alike else plan.models:
        if not alike:
            yield f"{one_line(model.model)}:"
        yield from _sights(model, plan)
    yield from _spendings(plan)
    for warning in plan.warnings:
        yield f"warning: {one_line(warning)}"


def _sights(model: ModelPlan, plan: SuitePlan) -> Iterator[str]:
    head = f"{'in all':>6}   {'in few':>6}   seen in 4 of 5   to see it in 4 of 5, in all"
    yield f"    {'change by chance':16}   {head}"
    for one in model.sights:
        seen = "none" if one.detectable is None else f"{_tenths(one.detectable)} points"
        chances = f"{rounded_percent(one.chance):>6}   {rounded_percent(one.chance_if_whole):>6}"
        yield f"    {_churn(one):16}   {chances}   {seen:>14}   {_needed(one, plan)}"
    yield from (f"    ({line})" for line in _source_words({one.source for one in model.sights}))
    yield from _verdicts(model, plan)


def _source_words(sources: AbstractSet[ChurnSource]) -> Iterator[str]:
    """Say where the shares come from."""
    if "measured" in sources:
        none = ", of which none changed" if "at_most" in sources else ""
        yield f"how many change by chance is measured: from their earlier trials{none}"
    if "at_most" in sources:
        measure = "" if "measured" in sources else "; several epochs or several --from measure it"
        yield f"at most: the upper end of a 95 % interval of Clopper and Pearson{measure}"


def _verdicts(model: ModelPlan, plan: SuitePlan) -> Iterator[str]:
    first = next((one for one in model.sights if one.verdicts), None)
    if first is None:
        return
    given = f"{_churn(first)} change by chance, margin {_some_points(plan.detect)}, a drop in all"
    yield f"  how likely each verdict is ({given}):"
    yield "    true drop   REGRESSED   IMPROVED   NO WORSE   INCONCLUSIVE"
    for of in first.verdicts:
        numbers = (of.regressed, of.improved, of.no_worse, of.inconclusive)
        cells = zip((9, 8, 8, 12), numbers, strict=True)
        said = "   ".join(f"{rounded_percent(number):>{width}}" for width, number in cells)
        yield f"    {_points(of.drop):>9}   {said}"


def _churn(one: Sight) -> str:
    return f"{'at most ' if one.source == 'at_most' else ''}{percent(one.churn)}"


def _in_few(plan: SuitePlan) -> str:
    """Say what the drop is where it is in as few samples as can be."""
    whole, part = divmod(round(plan.detect * plan.samples, _DIGITS), 1)
    alone = f"passes {_some_points(part)} less often"
    if not whole:
        return f"one sample that always passed {alone}"
    never = "never does" if whole == 1 else "never do"
    said = f"{counted(int(whole), 'sample')} that always passed {never}"
    return f"{said}, and one {alone}" if part else said


def _needed(one: Sight, plan: SuitePlan) -> str:
    if one.chance >= _POWER:
        return "enough"
    epochs = counted(plan.epochs, "epoch")
    samples = counted(one.samples_needed, "sample")
    return f"{samples} with {epochs}, or {counted(one.epochs_needed, 'epoch')}"


def _spendings(plan: SuitePlan) -> Iterator[str]:
    for model in plan.models:
        if model.spending is not None:
            yield f"{one_line(model.model)} will use {_spending(model.spending)}"
    if plan.seconds is not None:
        limits = "".join(
            f", if {name.replace('_', ' ')} ({of:g}) do not slow it"
            for name, of in plan.limits.items()
        )
        at_once = f"{plan.concurrency} at once"
        about = "" if plan.seconds < _SHORTEST else "about "
        yield f"the run will take {about}{_time(plan.seconds)} with {at_once}{limits}"
    elif not plan.sources:
        yield "what it costs and takes is told by an earlier run: --from RUN"


def _spending(one: ExpectedSpending) -> str:
    known = one.cost_usd is not None
    cost = f"about {amount(one.cost_usd, 'USD')}" if known else "an unknown amount of money"
    tokens = "" if one.tokens is None else f", {counted(one.tokens, 'token')}"
    alone = f"{_time(one.agent_seconds)} of the agent's time"
    return f"{cost}{tokens}, {alone} (as {counted(one.of, 'earlier trial')} did)"


def _time(seconds: float) -> str:
    if seconds < _SHORTEST:
        return "less than 0.1 s"
    # What would be rounded up to a minute or an hour is one.
    if seconds < _MINUTE - _SHORTEST / 2:
        return f"{seconds:.1f} s"
    if seconds < _HOUR - _MINUTE / 2:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:,.1f} h"


def _points(fraction: float) -> str:
    return f"{100 * fraction:.3g}"


def _tenths(fraction: float) -> str:
    """Return points to a tenth, and small ones to two digits: chances are no more exact."""
    points = 100 * fraction
    return f"{points:.1f}" if points >= 1 else f"{points:.2g}"


def _some_points(fraction: float) -> str:
    points = _points(fraction)
    return f"{points} point" if points == "1" else f"{points} points"
