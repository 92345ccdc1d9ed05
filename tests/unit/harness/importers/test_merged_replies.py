"""A request and its reply that are one object: every format reads both, in order."""

import json

import pytest
from fakes.foreign_records import find_foreign, read_foreign, rows

from harness.importers.merged_replies import followed_by

ASKED = [{"role": "user", "content": "Where is P-7?"}]
CONTENTS = [{"role": "user", "parts": [{"text": "Where is P-7?"}]}]
BLOCKS = [
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "t1", "name": "find", "input": {"id": "P-7"}},
]
SAID = [("assistant", "I look."), ("call", "t1", "find", {"id": "P-7"})]
MODEL_PARTS = [
    {"text": "I look."},
    {"functionCall": {"id": "t1", "name": "find", "args": {"id": "P-7"}}},
]
CANDIDATES = [{"content": {"role": "model", "parts": MODEL_PARTS}, "finishReason": "STOP"}]
FUNCTION = {"name": "find", "arguments": '{"id": "P-7"}'}
CHAT_REPLY = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [{"id": "t1", "type": "function", "function": FUNCTION}],
}
CHOICES = [{"index": 0, "message": CHAT_REPLY, "finish_reason": "tool_calls"}]
OUTPUT = [
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look."}],
    },
    {"type": "function_call", "call_id": "t1", **FUNCTION},
]
REQUEST = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Where is P-7?"}]}
RESPONSE = {
    "kind": "response",
    "parts": [
        {"part_kind": "text", "content": "I look."},
        {
            "part_kind": "tool-call",
            "tool_name": "find",
            "args": {"id": "P-7"},
            "tool_call_id": "t1",
        },
    ],
}
HUMAN = {"type": "human", "content": "Where is P-7?"}
AI = {
    "type": "ai",
    "content": "I look.",
    "tool_calls": [{"id": "t1", "name": "find", "args": {"id": "P-7"}}],
}
LETTA = [
    {"message_type": "assistant_message", "id": "m1", "content": "I look."},
    {
        "message_type": "tool_call_message",
        "id": "m2",
        "tool_call": {"tool_call_id": "t1", "name": "find", "arguments": '{"id": "P-7"}'},
    },
]
NUMBERS = {"model": "small-1", "stop_reason": "tool_use", "usage": {"output_tokens": 3}}

MERGED = [
    ("anthropic", {"messages": ASKED, "content": BLOCKS, **NUMBERS}),
    ("anthropic", {"messages": ASKED, "content": BLOCKS, "role": "assistant", "type": "message"}),
    ("anthropic", {"messages": ASKED, "content": BLOCKS, "role": "assistant"}),
    ("anthropic", {"messages": ASKED, "content": BLOCKS, "type": "message", "id": "msg_1"}),
    (
        "anthropic",
        {
            "messages": ASKED,
            "response": {"role": "assistant", "type": "message", "content": BLOCKS},
        },
    ),
    (
        "anthropic",
        {
            "request": {"messages": ASKED},
            "role": "assistant",
            "type": "message",
            "content": BLOCKS,
        },
    ),
    (
        "anthropic",
        {
            "messages": [*ASKED, {"role": "assistant", "content": BLOCKS}],
            "role": "assistant",
            "type": "message",
            "content": BLOCKS,
        },
    ),
    ("gemini", {"contents": CONTENTS, "candidates": CANDIDATES}),
    ("gemini", {"request": {"contents": CONTENTS}, "candidates": CANDIDATES}),
    ("gemini", {"contents": CONTENTS, "response": {"candidates": CANDIDATES}}),
    ("gemini", {"contents": [*CONTENTS, CANDIDATES[0]["content"]], "candidates": CANDIDATES}),
    ("openai-chat", {"messages": ASKED, "choices": CHOICES}),
    ("openai-chat", {"messages": ASKED, "response": {"choices": CHOICES}}),
    ("openai-chat", {"request": {"messages": ASKED}, "choices": CHOICES}),
    ("openai-chat", {"messages": ASKED, "message": CHAT_REPLY, "done": True}),
    ("openai-chat", {"messages": [*ASKED, CHAT_REPLY], "choices": CHOICES}),
    ("openai-responses", {"input": "Where is P-7?", "output": OUTPUT}),
    ("openai-responses", {"input": ASKED, "response": {"object": "response", "output": OUTPUT}}),
    (
        "openai-responses",
        {"request": {"input": "Where is P-7?"}, "object": "response", "output": OUTPUT},
    ),
    ("pydantic-ai", {"messages": [REQUEST], "response": RESPONSE}),
    ("pydantic-ai", {"messages": [REQUEST, RESPONSE], "response": RESPONSE}),
    ("langchain", {"messages": [HUMAN], "response": AI}),
    ("langchain", {"messages": [HUMAN], "output": AI}),
    ("langchain", {"messages": [HUMAN, AI], "output": AI}),
    ("letta", {"input": "Where is P-7?", "messages": LETTA, "stop_reason": {"stop_reason": "x"}}),
    ("letta", {"request": {"messages": ASKED}, "response": {"messages": LETTA}}),
    ("letta", {"request": {"input": "Where is P-7?"}, "response": {"messages": LETTA}}),
    ("letta", {"input": ASKED, "messages": LETTA}),
]


@pytest.mark.parametrize(("name", "record"), MERGED)
def test_a_request_that_is_one_object_with_its_reply_is_read_with_it(name, record, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert find_foreign(path) == name
    (read,) = read_foreign(path, name)
    assert rows(read) == [("user", "Where is P-7?"), *SAID]
    assert read.unread == {}


def test_a_sampling_request_of_mcp_is_read_with_its_reply(tmp_path):
    asked = [{"role": "user", "content": {"type": "text", "text": "Where is P-7?"}}]
    reply = {"role": "assistant", "content": {"type": "text", "text": "In Ulm."}, "model": "m"}
    path = tmp_path / "records.jsonl"
    record = {"messages": asked, "maxTokens": 9, "stopReason": "endTurn", **reply}
    path.write_text(json.dumps(record), encoding="utf-8")
    (read,) = read_foreign(path, "mcp")
    assert rows(read) == [("user", "Where is P-7?"), ("assistant", "In Ulm.")]


def test_numbers_of_a_merged_reply_are_those_of_its_step(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(MERGED[0][1]), encoding="utf-8")
    (read,) = read_foreign(path, "anthropic")
    (step,) = read.trajectory.turns[0].steps
    assert (step.model, step.stop_reason, step.usage.output_tokens) == ("small-1", "tool_use", 3)


@pytest.mark.parametrize(
    ("beside", "unread"),
    [
        ({"response": {"promptFeedback": {"blockReason": "SAFETY"}}}, {"response": 1}),
        ({"response": [{"candidates": CANDIDATES}]}, {"response": 1}),
        ({"candidates": [{"finishReason": "SAFETY"}]}, {"candidate": 1}),
        ({"candidates": CANDIDATES * 2}, {"candidate": 1}),
    ],
)
def test_what_of_a_response_is_no_reply_is_kept_and_counted(beside, unread, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps({"contents": CONTENTS, **beside}), encoding="utf-8")
    (read,) = read_foreign(path, "gemini")
    assert read.unread == unread


def test_a_text_beside_messages_stays_a_field(tmp_path):
    path = tmp_path / "records.jsonl"
    messages = [*ASKED, {"role": "assistant", "content": BLOCKS}]
    path.write_text(json.dumps({"messages": messages, "content": "a note"}), encoding="utf-8")
    (read,) = read_foreign(path, "anthropic")
    assert read.fields["content"] == "a note"


def test_a_user_who_said_the_same_as_the_reply_is_not_the_reply():
    asked, reply = {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hi."}
    assert followed_by([asked], reply, "content") == [asked, reply]
    assert followed_by([asked, reply], reply, "content") == [asked, reply]


def test_calls_without_a_text_are_told_apart():
    one, other = ({"role": "assistant", "tool_calls": [{"id": name}]} for name in "ab")
    assert followed_by([one], other, "content", "tool_calls") == [one, other]


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("anthropic", {"messages": ASKED, "content": BLOCKS, "type": "message", "id": "msg_1"}),
        ("openai-chat", {"request": {"messages": ASKED}, "choices": CHOICES, "object": "x"}),
    ],
)
def test_the_id_of_a_merged_reply_names_no_sample(name, record, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps({"id": "msg_1", **record}), encoding="utf-8")
    (read,) = read_foreign(path, name)
    assert read.sample_id is None
