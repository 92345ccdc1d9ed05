"""A script: what scripted models say, as records; written in YAML, read by `script`.

Each model is a list of rules. A request is answered by the first rule whose conditions all hold
for the conversation so far. A turn is a user's message and what followed it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

_Whole = Annotated[int, Field(ge=0)]
_Seconds = Annotated[float, Field(ge=0, le=86_400)]


def _as_list(value: Any) -> Any:
    return (
        (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call; `arguments` is a mapping, or a text that is sent as it is."""

    tool: str
    arguments: Any


def _as_calls(value: Any) -> tuple[Call, ...]:
    """Read `{tool: arguments}`, or a list of such mappings, as calls."""
    found: list[Call] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict) or not item:
            raise ValueError("calls are written as {tool: {argument: value}}, or a list of that")
        found += [Call(tool=tool, arguments=arguments) for tool, arguments in item.items()]
    if wrong := [call.tool for call in found if not isinstance(call.arguments, dict | str)]:
        raise ValueError(f"the arguments of {wrong[0]!r} are a mapping, or a text that is sent raw")
    return tuple(found)


# What is written may be of another type than what it is made into.
_Names = Annotated[
    tuple[str, ...], BeforeValidator(_as_list, json_schema_input_type=str | tuple[str, ...])
]
_Calls = Annotated[tuple[Call, ...], BeforeValidator(_as_calls, json_schema_input_type=Any)]


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The conditions of a rule; those left out hold always.

    Patterns are searched, not matched whole, and their named groups become values. `user` is
    about the last user message, `earlier` about those before it (the latest first), `system` about
    the system messages, in which some agents keep their memory. `turn` is
    the index of this turn and `replies` how many replies the model has made in it, both from 0.
    `answered` are tools that all have answered in this turn, `unanswered` tools of which none
    has; `ever_answered` and `never_answered` say the same of the whole conversation. `results`
    holds a pattern by tool, for what it gave back in this turn (the latest result that matches);
    `earlier_results` the same for the turns before. `chance` is the share of conversations in
    which the rule holds, 0 to 1, drawn by hash.
    """

    user: str | None = None
    earlier: str | None = None
    system: str | None = None
    turn: _Whole | None = None
    replies: _Whole | None = None
    answered: _Names = ()
    unanswered: _Names = ()
    ever_answered: _Names = ()
    never_answered: _Names = ()
    results: Mapping[str, str] = field(default_factory=dict)
    earlier_results: Mapping[str, str] = field(default_factory=dict)
    chance: Annotated[float, Field(ge=0, le=1)] | None = None

    @property
    def patterns(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """Return every pattern with its place, such as `("results", "lookup")`."""
        one = [("user", self.user), ("earlier", self.earlier), ("system", self.system)]
        many = [("results", self.results), ("earlier_results", self.earlier_results)]
        return (
            *(((place,), text) for place, text in one if text is not None),
            *(((place, tool), text) for place, texts in many for tool, text in texts.items()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a model answers, and when.

    `say` is the text of the answer and `call` its tool calls; `{name}` in either stands for a
    value. `invent` makes up values by a spec such as `rt_{hex:16}`. `reasoning` is sent apart
    from the text; `finish` overrides why the reply ended. `like` takes over the rules of
    another model from here on.

    Troubles, for tests: `seconds` waits before answering. `status` refuses with that HTTP status
    (`say` is its message, `code` its error code, `retry_after` seconds in the header). `cut`
    breaks the connection half-way; `quietly` ends the body there as if it were whole. `garbage`
    is sent in place of a body. `times` lets the rule answer only the first so many requests with
    the same model, seed and messages; after that, the rules below it answer.
    """

    name: str = ""
    when: When = field(default_factory=When)
    invent: Mapping[str, str] = field(default_factory=dict)
    say: str | None = None
    call: _Calls = ()
    reasoning: str | None = None
    finish: Literal["stop", "length", "content_filter", "tool_calls"] | None = None
    like: str | None = None
    seconds: _Seconds = 0.0
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    code: str | None = None
    retry_after: _Seconds | None = None
    cut: Literal[True, False, "quietly"] = False
    garbage: str | None = None
    times: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The models of a script by name; `seed` changes every draw.

    `alike` says which requests are answered alike, by draws, invented values and `times`: those
    of one `conversation`, to the letter, or those of the same `prompts`, which is what the user
    has said so far and how often the model has replied since. The latter is for agents whose
    system message or tool results hold times and ids of their own, such as Letta's.
    """

    models: Mapping[str, tuple[Rule, ...]]
    seed: int = 0
    alike: Literal["conversation", "prompts"] = "conversation"
