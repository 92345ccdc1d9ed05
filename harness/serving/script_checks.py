"""What types cannot say of a script: patterns, placeholders, outcomes, rules out of reach."""

from collections.abc import Iterator
from typing import Any

from harness.serving.placeholders import lone_slot, slots, spec_problems
from harness.serving.script_records import Rule, Script
from harness.system.patterns import PatternError, compile_pattern
from harness.system.suggestions import suggest
from harness.types.suites import SCRIPTED

Path = tuple[str | int, ...]
ScriptProblem = tuple[Path, str, str]
"""A path (`("when", "user")`), what is wrong there, what is allowed."""


def find_problems(script: Script) -> Iterator[ScriptProblem]:
    """Return all that cannot work, with paths inside the script."""
    if not script.models:
        yield ("models",), "no models", "at least one"
    for at, (model, rules) in enumerate(script.models.items()):
        known = list(script.models)[:at]
        for place, problem, allowed in (*_model(model, rules), *_rules(rules, known)):
            yield ("models", model, *place), problem, allowed


def _model(model: str, rules: tuple[Rule, ...]) -> Iterator[ScriptProblem]:
    if not rules:
        yield (), "a model without rules", "at least one"
    if model.startswith(SCRIPTED):
        short = model.removeprefix(SCRIPTED)
        yield (
            (),
            f"a name that begins with {SCRIPTED!r}",
            f"clients find {short!r} under both names",
        )


def _rules(rules: tuple[Rule, ...], known: list[str]) -> Iterator[ScriptProblem]:
    for index, rule in enumerate(rules):
        last = index == len(rules) - 1
        found = (*_like(rule, known), *_reach(rule, last=last), *rule_problems(rule))
        for place, problem, allowed in found:
            yield (index, *place), problem, allowed


def rule_problems(rule: Rule) -> Iterator[ScriptProblem]:
    """Return what is wrong with a rule in itself."""
    yield from _outcome(rule)
    yield from _patterns(rule)
    for name, spec in rule.invent.items():
        for problem in spec_problems(spec):
            yield ("invent", name), problem, "{hex:N}, {digits:N}, {letters:N}, {pick:a|b}"
    names = known_values(rule)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield (), f"the value {name!r} is given more than once", "one name, one value"
    for place, text, alone in _texts(rule):
        yield from _slots(place, text, names=names, numbers=alone)


def known_values(rule: Rule) -> list[str]:
    """Return the names of the values that a rule has: groups of its patterns, invented ones."""
    names = list(rule.invent)
    for _, text in rule.when.patterns:
        try:
            names += compile_pattern(text).groupindex
        except PatternError:
            continue
    return names


def _like(rule: Rule, known: list[str]) -> Iterator[ScriptProblem]:
    if rule.like is None:
        return
    if rule.like not in known:
        hint = suggest(rule.like, known)
        yield ("like",), f"no model {rule.like!r} further up in the script", hint
    if rule != Rule(like=rule.like):
        yield ("like",), "`like` stands alone", "it takes over all rules of the other model"


def _reach(rule: Rule, *, last: bool) -> Iterator[ScriptProblem]:
    if not last and rule.times is None and rule.when == Rule().when:
        yield (), "the rules below this one are never reached", "give it a `when` or move it down"


def _outcome(rule: Rule) -> Iterator[ScriptProblem]:
    outcomes = (rule.like, rule.say, rule.status, rule.garbage, rule.call or None)
    if all(outcome is None for outcome in outcomes):
        yield (), "a rule without an answer", "say, call, status, garbage or like"
    if rule.status is not None and (rule.call or rule.cut or rule.garbage is not None):
        yield ("status",), "a refused request has no answer", "only `say` beside it, as its message"
    if rule.garbage is not None and (rule.say is not None or rule.call or rule.cut):
        yield ("garbage",), "garbage is sent in place of an answer", "no say, call or cut beside it"
    for name in ("retry_after", "code"):
        if getattr(rule, name) is not None and rule.status is None:
            yield (name,), "nothing is refused", "`status` beside it"


def _patterns(rule: Rule) -> Iterator[ScriptProblem]:
    for place, text in rule.when.patterns:
        try:
            compile_pattern(text)
        except PatternError as error:
            yield ("when", *place), f"invalid pattern: {error}", ""


def _texts(rule: Rule) -> Iterator[tuple[Path, str, bool]]:
    """Return (place, text, whether it may stand for a number) for every text with placeholders."""
    for place in ("say", "reasoning", "garbage"):
        if (text := getattr(rule, place)) is not None:
            yield (place,), text, False
    for call in rule.call:
        inside = isinstance(call.arguments, dict)
        for text in _leaves(call.arguments):
            yield ("call",), text, inside


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _slots(place: Path, text: str, *, names: list[str], numbers: bool) -> Iterator[ScriptProblem]:
    try:
        found = slots(text)
    except ValueError as error:
        yield place, str(error), "{name} for a value, {{ and }} for the braces themselves"
        return
    lone = lone_slot(text)
    for slot in found:
        if slot.name not in names:
            yield place, f"no value {slot.name!r}", suggest(slot.name, names)
        if slot.option is not None and not (numbers and slot == lone and slot.option == "number"):
            hint = "{name:number} may be the whole of an argument, and nothing else"
            yield place, f"{slot} cannot be used here", hint
