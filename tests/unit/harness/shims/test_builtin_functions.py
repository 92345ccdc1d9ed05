"""The built-in functions as users call them: upstream's signatures, Regrade's semantics."""

import pytest
from letta_client.types import AgentState

from harness.messages.letta_models import build_letta_models
from harness.shims import builtin_functions as functions
from harness.shims.eval_models import Sample


def said(*texts):
    return [{"message_type": "assistant_message", "content": text} for text in texts]


def asked(text):
    return [{"message_type": "user_message", "content": text}]


def called(*names, arguments="{}"):
    calls = [
        {"name": name, "arguments": arguments, "tool_call_id": f"c{index}"}
        for index, name in enumerate(names)
    ]
    return [{"message_type": "tool_call_message", "tool_call": calls[0], "tool_calls": calls}]


def returned(call_id, output, status="success"):
    fields = {"tool_call_id": call_id, "tool_return": output, "status": status}
    return [{"message_type": "tool_return_message", **fields}]


QUERY = '{"query": "hello"}'
EXTRACTIONS = [
    ("last_assistant", [said("a"), said("b")], {}, "b"),
    ("last_assistant", [], {}, ""),
    ("last_assistant", [[]], {}, ""),
    ("last_assistant", [said("a", "")], {}, ""),
    ("last_assistant", [said([{"text": "a"}, {"text": "b"}])], {}, "a b"),
    ("first_assistant", [said("a", "b")], {}, "a"),
    ("first_assistant", [asked("x")], {}, ""),
    ("all_assistant", [said("hello", "world")], {}, "hello\nworld"),
    ("all_assistant", [said("a"), said("b")], {"separator": " | "}, "a | b"),
    ("all_assistant", [said("a", "", "b")], {}, "a\n\nb"),
    ("last_turn", [said("t1"), said("t2a", "t2b")], {}, "t2a\nt2b"),
    ("last_turn", [said("t1"), asked("x")], {}, ""),
    ("pattern", [said("name: Alice, age: 30")], {"pattern": r"name: (\w+)", "group": 1}, "Alice"),
    ("pattern", [said("1 2 3")], {"pattern": r"\d+", "search_all": True}, "1 2 3"),
    ("pattern", [said("old: 10", "new: 20")], {"pattern": r"\d+"}, "20"),
    ("pattern", [said("none")], {"pattern": r"\d+"}, ""),
    ("tool_arguments", [called("find", arguments=QUERY)], {"tool_name": "find"}, QUERY),
    ("tool_arguments", [called("other")], {"tool_name": "find"}, "{}"),
    ("tool_arguments", [], {"tool_name": "find"}, "{}"),
    (
        "tool_output",
        [called("find") + returned("c0", "found it")],
        {"tool_name": "find"},
        "found it",
    ),
    ("tool_output", [called("find")], {"tool_name": "find"}, ""),
    ("tool_output", [called("find"), returned("c0", "later")], {"tool_name": "find"}, "later"),
    ("after_marker", [said("ANSWER: Paris")], {"marker": "ANSWER: "}, "Paris"),
    (
        "after_marker",
        [said("ANSWER: Paris")],
        {"marker": "ANSWER: ", "include_marker": True},
        "ANSWER: Paris",
    ),
    ("after_marker", [said("nothing")], {"marker": "ANSWER: "}, ""),
]


@pytest.mark.parametrize("as_objects", [True, False])
@pytest.mark.parametrize(("name", "turns", "config", "text"), EXTRACTIONS)
def test_an_extractor_takes_lists_of_messages(name, turns, config, text, as_objects):
    if not as_objects and turns and any(isinstance(m.get("content"), list) for m in turns[0]):
        config = {**config, "unknown": "left aside"}
        text = text.replace(" ", "")
    trajectory = build_letta_models(turns) if as_objects else turns
    assert getattr(functions, name)(trajectory, config) == text


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("pattern", "pattern"),
        ("tool_arguments", "tool_name"),
        ("tool_output", "tool_name"),
        ("after_marker", "marker"),
    ],
)
def test_a_missing_key_of_the_config_is_a_key_error(name, missing):
    with pytest.raises(KeyError, match=missing):
        getattr(functions, name)([said("a")], {})


def test_keys_that_an_extractor_does_not_know_are_left_aside():
    assert functions.last_assistant([said("a")], {"limit": 3}) == "a"


def test_a_memory_block_is_read_from_the_state():
    blocks = [{"label": "persona", "value": "p"}, {"label": "human", "value": "Ada"}]
    state = AgentState.construct(id="agent-1", blocks=blocks)
    assert functions.memory_block([], {"block_label": "human"}, state) == "Ada"
    assert functions.memory_block([], {"block_label": "none"}, state) == ""


def test_a_memory_block_needs_a_state_and_a_label():
    with pytest.raises(RuntimeError, match="agent_state"):
        functions.memory_block([], {"block_label": "human"}, None)
    with pytest.raises(ValueError, match="block_label"):
        functions.memory_block([], {}, AgentState.construct(id="agent-1", blocks=[]))


GRADES = [
    ("exact_match", "hello world", "  hello world  ", 1.0, "Exact match: True"),
    ("exact_match", "Hello World", "hello world", 0.0, "Exact match: False"),
    ("contains", "paris", "The capital of France is Paris.", 1.0, "Contains ground_truth: True"),
    ("contains", None, "Paris", 0.0, "No ground_truth"),
    ("regex_match", r"\d{4}-\d{2}-\d{2}", "The date is 2026-02-27.", 1.0, "Regex match: True"),
    ("regex_match", "[invalid", "a", 0.0, "Invalid regex"),
    ("ascii_printable_only", None, "a\tb", 0.0, ""),
    ("ascii_printable_only", None, "a\nb", 1.0, ""),
]


@pytest.mark.parametrize(("name", "truth", "submission", "score", "rationale"), GRADES)
def test_a_grader_takes_a_sample_and_a_submission(name, truth, submission, score, rationale):
    made = getattr(functions, name)(Sample(id=0, input="q", ground_truth=truth), submission)
    assert made.score == score
    assert made.rationale.startswith(rationale)


def test_a_list_of_ground_truths_is_refused():
    sample = Sample(id=0, input=["a"], ground_truth=["b"])
    with pytest.raises(AttributeError):
        functions.exact_match(sample, "b")
