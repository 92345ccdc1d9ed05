"""Files of records as another tool might have written them, in the shape of chat messages."""

import json

SUITE = """
name: foreign
graders:
  told: {type: assistant-contains-tool-output, config: {tools: [lookup], pattern: 'id=(\\w+)'}}
"""


def chat(prompt="Find it.", value="K41", says=None, **fields):
    """Make a record: the user asks, `lookup` returns a value, the agent says it."""
    call = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"id={value}"},
        {"role": "assistant", "content": f"It is {value}." if says is None else says},
    ]
    return {**fields, "messages": messages}


def write_lines(path, records):
    """Write one record a line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path
