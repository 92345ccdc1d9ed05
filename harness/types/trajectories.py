"""A trajectory: the turns of one conversation, each with its events and the model's replies."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, TypeVar

import msgspec

from harness.types.events import Event

_N = TypeVar("_N", int, float)


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and money; None is unknown, never zero.

    `cached_input_tokens` are those of `input_tokens` that the provider had in its cache, where it
    says so.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cached_input_tokens: int | msgspec.UnsetType = msgspec.UNSET

    def __add__(self, other: "Usage") -> "Usage":
        """Add what is known; unknown and unknown stay unknown."""
        return Usage(
            input_tokens=_add(self.input_tokens, other.input_tokens),
            output_tokens=_add(self.output_tokens, other.output_tokens),
            cost_usd=_add(self.cost_usd, other.cost_usd),
            cached_input_tokens=_add_cached(self.cached_input_tokens, other.cached_input_tokens),
        )


_UNKNOWN = Usage()


def _add(one: _N | None, other: _N | None) -> _N | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _add_cached(
    one: int | msgspec.UnsetType, other: int | msgspec.UnsetType
) -> int | msgspec.UnsetType:
    if one is msgspec.UNSET or other is msgspec.UNSET:
        return other if one is msgspec.UNSET else one
    return one + other


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reply of the model: what it used, who really answered, why it stopped, how long."""

    usage: Usage = Usage()
    model: str | None = None
    stop_reason: str | None = None
    seconds: float | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What followed one user prompt, the prompt included."""

    events: tuple[Event, ...] = ()
    steps: tuple[Step, ...] = ()


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in one conversation: one turn a user prompt."""

    turns: tuple[Turn, ...] = ()

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Any]]) -> Self:
        """Read a conversation in the shape of OpenAI Chat Completions messages.

        Raises:
            ValueError: a message is not of that shape; the text names its index.
        """
        # A door upwards, kept open in the layer contract: users look for this on the record.
        from harness.messages.chat import read_turns  # noqa: PLC0415

        return cls(turns=read_turns(messages))

    def events(self) -> Iterator[Event]:
        """Return all events in order."""
        for turn in self.turns:
            yield from turn.events

    @property
    def usage(self) -> Usage:
        """Sum the usage of all steps."""
        steps = [step for turn in self.turns for step in turn.steps]
        return sum((step.usage for step in steps), Usage()) if steps else _UNKNOWN
