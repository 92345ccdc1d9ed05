"""Which rule answers a request, and what it says: the same for the same script and request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import regex

from harness.serving.model_requests import ApiError, ModelRequest
from harness.serving.placeholders import MissingValue, fill, fill_json, invent
from harness.serving.script_records import Call, Rule, Script, When
from harness.system.hashing import sha256_of
from harness.system.json_values import compact_json
from harness.system.patterns import SlowPattern, search
from harness.system.texts import one_line
from harness.types.events import SystemEvent, ToolResult, UserMessage
from harness.types.suites import SCRIPTED
from harness.types.trajectories import Turn

_INSTRUCTIONS = ("system", "developer")  # what a message with instructions is called
_NO_USES: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCall:
    """One tool call of a reply; `arguments` is the text that is sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """What a model answers.

    `rule` is the rule that answers and `index` its place among the model's rules. `text`, `calls`
    and `reasoning` are filled in; `garbage` is sent in place of a body where it is not None.
    `label` names model and rule for those who wonder where a reply comes from.
    """

    request: ModelRequest
    rule: Rule
    index: int
    text: str | None
    calls: tuple[ReplyCall, ...]
    reasoning: str | None
    garbage: str | None

    @property
    def label(self) -> str:
        """Name the model and the rule."""
        return f"{self.request.name}/{self.rule.name or self.index}"

    @property
    def finish(self) -> str:
        """Say why the reply ends."""
        return self.rule.finish or ("tool_calls" if self.calls else "stop")

    @property
    def completion_tokens(self) -> int:
        """Count one token for four characters of text, reasoning, tool names and arguments."""
        parts = [self.text or "", self.reasoning or ""]
        parts += [call.name + call.arguments for call in self.calls]
        return len("".join(parts)) // 4 + 1


def reply_to(
    script: Script, request: ModelRequest, uses: Mapping[int, int] = _NO_USES
) -> ScriptedReply:
    """Answer a request.

    `uses` says how often rules with `times` have answered requests of the same key, by index.

    Raises:
        ApiError: the script has no answer to it.
        SlowPattern: a pattern needs more time than it has here.
    """
    for index, rule in enumerate(_rules_of(script, request)):
        if rule.times is not None and uses.get(index, 0) >= rule.times:
            continue
        draw = _Draw(script.seed, rule.name or index, request.key)
        values = _matched(rule.when, request, draw)
        if values is not None:
            return _reply(rule, index, request=request, values=values | _invented(rule, draw))
    raise _no_rule(request)


def _rules_of(script: Script, request: ModelRequest) -> tuple[Rule, ...]:
    if request.name in script.models:
        return script.models[request.name]
    names = ", ".join(f"{SCRIPTED}{name}" for name in script.models)
    message = f"There is no model {one_line(request.model, 100)!r} in this script; it has {names}."
    raise ApiError(404, message, param="model", code="model_not_found")


def _no_rule(request: ModelRequest) -> ApiError:
    last = f"The last user message is {one_line(_asked(request.turns[-1:]), 200)!r}"
    so_far = f"turn {len(request.turns) - 1}, reply {request.replies}"
    return ApiError(
        422,
        f"No rule of the model {request.name!r} answers ({so_far}). {last}.",
        param="messages",
        code="no_rule",
    )


@dataclass(frozen=True, slots=True)
class _Draw:
    """Draws by hash for one rule on one request; `word` keeps its draws apart."""

    seed: int
    rule: str | int
    key: str

    def text(self, word: str) -> str:
        return sha256_of(self.seed, self.rule, word, self.key)

    def share(self, word: str) -> float:
        """Return a number in 0..1, 1 excluded."""
        return int(self.text(word).partition(":")[2][:13], 16) / 16**13


def _matched(when: When, request: ModelRequest, draw: _Draw) -> dict[str, str] | None:
    """Return the values that the patterns found, None where a condition does not hold."""
    if not _holds(when, request):
        return None
    values: dict[str, str] = {}
    for found in _searches(when, request.turns):
        if found is None:
            return None
        values |= {name: text for name, text in found.groupdict().items() if text is not None}
    if when.chance is not None and draw.share("chance") >= when.chance:
        return None
    return values


def _holds(when: When, request: ModelRequest) -> bool:
    now = _answered(request.turns[-1:])
    ever = _answered(request.turns)
    return (
        when.turn in {None, len(request.turns) - 1}
        and when.replies in {None, request.replies}
        and now.issuperset(when.answered)
        and now.isdisjoint(when.unanswered)
        and ever.issuperset(when.ever_answered)
        and ever.isdisjoint(when.never_answered)
    )


def _searches(when: When, turns: tuple[Turn, ...]) -> Iterator[regex.Match[str] | None]:
    """Search every pattern where it belongs; lazily, so that the first miss ends it."""
    if when.user is not None:
        yield search(when.user, _asked(turns[-1:]))
    if when.earlier is not None:
        yield _latest(when.earlier, [_asked((turn,)) for turn in turns[:-1]])
    if when.system is not None:
        yield search(when.system, _instructions(turns))
    for tool, pattern in when.results.items():
        yield _latest(pattern, _outputs(turns[-1:], tool))
    for tool, pattern in when.earlier_results.items():
        yield _latest(pattern, _outputs(turns[:-1], tool))


def _latest(pattern: str, texts: list[str]) -> regex.Match[str] | None:
    return next((found for text in reversed(texts) if (found := search(pattern, text))), None)


def _results(turns: tuple[Turn, ...]) -> list[ToolResult]:
    return [event for turn in turns for event in turn.events if isinstance(event, ToolResult)]


def _answered(turns: tuple[Turn, ...]) -> set[str]:
    return {result.name for result in _results(turns) if result.name is not None}


def _outputs(turns: tuple[Turn, ...], tool: str) -> list[str]:
    return [result.output for result in _results(turns) if result.name == tool]


def _asked(turns: tuple[Turn, ...]) -> str:
    events = [event for turn in turns for event in turn.events]
    return "\n".join(event.text for event in events if isinstance(event, UserMessage))


def _instructions(turns: tuple[Turn, ...]) -> str:
    events = [event for turn in turns for event in turn.events]
    said = [event for event in events if isinstance(event, SystemEvent)]
    return "\n".join(event.text for event in said if event.kind in _INSTRUCTIONS)


def _invented(rule: Rule, draw: _Draw) -> dict[str, str]:
    return {name: invent(spec, draw.text(f"invent {name}")) for name, spec in rule.invent.items()}


def _reply(
    rule: Rule, index: int, *, request: ModelRequest, values: Mapping[str, str]
) -> ScriptedReply:
    try:
        return ScriptedReply(
            request=request,
            rule=rule,
            index=index,
            text=_filled(rule.say, values),
            calls=tuple(_call(call, at, request.key, values) for at, call in enumerate(rule.call)),
            reasoning=_filled(rule.reasoning, values),
            garbage=_filled(rule.garbage, values),
        )
    except MissingValue as error:
        label = f"{request.name}/{rule.name or index}"
        raise ApiError(500, f"The rule {label} cannot answer: {error}.", code="script") from error


def _filled(text: str | None, values: Mapping[str, str]) -> str | None:
    return None if text is None else fill(text, values)


def _call(call: Call, at: int, key: str, values: Mapping[str, str]) -> ReplyCall:
    filled = fill_json(call.arguments, values)
    arguments = filled if isinstance(filled, str) else compact_json(filled)
    return ReplyCall(id=f"call_{sha256_of(key, at)[7:31]}", name=call.tool, arguments=arguments)


def slow_refusal(request: ModelRequest, slow: SlowPattern) -> ApiError:
    """Say that a pattern of the script did not end in time on this conversation."""
    return ApiError(500, f"The model {request.name!r} cannot answer: {slow}.", code="script")
