"""The agent under test: a toy that answers questions about orders from a table.

Put your own agent in its place. Regrade makes one `Agent` a trial and calls `send` with each text
of the sample, in order; what `send` returns is what the agent did:

- a text: the answer, where there is nothing more to tell; or
- the messages of this turn in the shape of OpenAI Chat Completions, tool calls and tool results
  included, so that they can be graded too.

`send` may be `async`. Ask for the `model`, the `sample` or the `epoch` by parameter name, or leave
them out. An agent without memory may be a plain function `answer(sample)` instead.
"""

import json
import re
from typing import Any

ORDERS = {
    "1001": {"status": "on its way", "tracking": "TRK-482913"},
    "1002": {"status": "on its way", "tracking": "TRK-117604"},
    "1003": {"status": "delivered", "tracking": "TRK-350078"},
    "1004": {"status": "packed", "tracking": "TRK-900125"},
}


class Agent:
    """Answers one conversation."""

    def __init__(self, model: str) -> None:
        """Begin with nothing heard; `model` is one of target.models in suite.yaml."""
        self.model = model
        self.heard: list[str] = []

    def send(self, text: str) -> str | list[dict[str, Any]]:
        """Take one turn: look the order up, and say where it is."""
        self.heard.append(text)
        numbers = re.findall(r"[0-9]{4}", " ".join(self.heard))
        if not numbers:
            return "What is your order number?"
        # What the suite finds: by now the customer may mean another order than the first.
        number = numbers[0] if self.model == "before" else numbers[-1]
        order = look_up_order(number)
        answer = f"Order {number} is {order['status']}; its tracking number is {order['tracking']}."
        return _messages("look_up_order", {"number": number}, order, answer)


def look_up_order(number: str) -> dict[str, str]:
    """Find an order: the tool of this agent."""
    return ORDERS.get(number, {"status": "unknown to us", "tracking": "none"})


def _messages(
    tool: str, arguments: dict[str, str], result: dict[str, str], answer: str
) -> list[dict[str, Any]]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps(result)},
        {"role": "assistant", "content": answer},
    ]
