"""Replies of a recorded or running stream of a model API: they come in, a conversation goes out."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from harness.messages.anthropic_messages import AnthropicMessages
from harness.messages.assistant_messages import read_assistant_message
from harness.messages.completions import read_completion
from harness.messages.response_items import ResponseItems, add_response
from harness.messages.streamed_replies import StreamedReply
from harness.messages.thinking import part_thinking
from harness.messages.turn_building import TurnBuilder
from harness.types.trajectories import Step, Trajectory


class StreamedTurns:
    """Collects the replies of one stream; what was not understood is kept by `builder`."""

    def __init__(self) -> None:
        self.builder = TurnBuilder()
        self.model: str | None = None
        self._count = 0

    def add(self, reply: StreamedReply) -> None:
        """Add the next reply.

        Raises:
            ValueError: it is not of its API's shape.
        """
        model = reply.body.get("model")
        self.model = model if isinstance(model, str) and model else self.model
        if reply.shape == "anthropic":
            AnthropicMessages(self.builder).add(reply.body)
            self._count += 1
        elif reply.shape == "responses":
            add_response(ResponseItems(self.builder), self.builder, reply.body)
            self._count += 1
        elif reply.body:
            self._add_completion(reply.body)
        for event in reply.unread:
            kind = event.get("type") if isinstance(event, Mapping) else None
            self.builder.keep_unread(kind if isinstance(kind, str) and kind else "event", event)

    def _add_completion(self, body: Mapping[str, Any]) -> None:
        reply = read_completion(body)
        step = Step(usage=reply.usage, model=reply.model, stop_reason=reply.stop_reason)
        try:
            events = read_assistant_message(reply.message, step=self._count)
        except ValueError:
            self.builder.keep_unread("message", reply.message)
            return
        self.builder.begin_step(step)
        self._count += 1
        for event in events:
            self.builder.add(event)

    def trajectory(self) -> Trajectory:
        """Return the conversation so far, thoughts apart from what was said."""
        trajectory = self.builder.trajectory()
        return replace(trajectory, turns=part_thinking(trajectory.turns))
