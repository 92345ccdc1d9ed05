"""Where a model's replies begin and end in a log of single events: events come in, steps go out."""

from harness.messages.turn_building import TurnBuilder
from harness.types.trajectories import Step, Usage


class ReplySteps:
    """Counts the replies of a conversation that is being built.

    A reply begins with the first thing the model does after a result, or after the end of the reply
    before it.
    """

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._is_open = False
        self._last = Step()
        self._any = False

    def begin(self) -> None:
        """Hear that the model does something: begin a reply unless one is going on."""
        if not self._is_open:
            self._last = Step()
            self._builder.begin_step(self._last)
        self._is_open = self._any = True

    def end(self, *, of_turn: bool = False) -> None:
        """Hear that what comes next is another reply; with `of_turn`, one of the next turn."""
        self._is_open = False
        self._any = self._any and not of_turn

    def use(self, usage: Usage, model: str | None) -> None:
        """Add what the last reply of this turn used; a reply that said nothing is one, too."""
        if not self._any:
            self.begin()
            self._is_open = False
        before = self._last
        self._last = Step(
            usage=before.usage + usage,
            model=before.model or model,
            stop_reason=before.stop_reason,
        )
        self._builder.end_step(self._last)
