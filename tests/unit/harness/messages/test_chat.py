import json

import pytest
from fakes.factories import DATA, read_rows

from harness.messages.chat import read_turns
from harness.types.events import (
    AssistantMessage,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step, Trajectory

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.invalid/a.png"}}


def user(content="Hi"):
    return {"role": "user", "content": content}


def assistant(content=None, **fields):
    return {"role": "assistant", "content": content, **fields}


def call(call_id="c1", name="a", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(content="out", call_id="c1", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def events(*messages):
    return list(Trajectory(turns=read_turns(messages)).events())


def load(name):
    return json.loads((DATA / "messages" / name).read_text(encoding="utf-8"))


def test_each_user_message_begins_a_turn_and_what_stands_before_the_first_is_of_turn_0():
    turns = read_turns([
        {"role": "system", "content": "Be brief."}, assistant("Welcome."), user("one"),
        assistant("1"), user("two"), user("three"), assistant("3"),
    ])  # fmt: skip
    assert [[type(e).__name__ for e in turn.events] for turn in turns] == [
        ["SystemEvent", "AssistantMessage", "UserMessage", "AssistantMessage"],
        ["UserMessage"],
        ["UserMessage", "AssistantMessage"],
    ]
    assert [len(turn.steps) for turn in turns] == [2, 0, 1]


def test_no_messages_are_no_turns_and_messages_of_no_user_are_one():
    assert read_turns([]) == ()
    assert len(read_turns([assistant("a"), assistant("b")])) == 1


def test_a_message_with_text_and_calls_gives_the_text_first():
    found = events(user(), assistant("Look.", tool_calls=[call("c1"), call("c2", "b")]))
    assert found[1:] == [
        AssistantMessage(text="Look.", step=0),
        ToolCall(call_id="c1", name="a", arguments={}, arguments_text="{}", step=0),
        ToolCall(call_id="c2", name="b", arguments={}, arguments_text="{}", step=0),
    ]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (None, []),
        ("", [""]),
        ([], [""]),
        ("a", ["a"]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["ab"]),
        ([{"type": "output_text", "text": "a"}, "b"], ["ab"]),
    ],
)
def test_the_text_of_an_assistant_message(content, texts):
    found = events(assistant(content, tool_calls=[call()]))
    assert [e.text for e in found if isinstance(e, AssistantMessage)] == texts


def test_a_message_without_content_and_one_with_null_said_nothing():
    assert events({"role": "assistant", "tool_calls": [call()]}) == events(
        assistant(None, tool_calls=[call()])
    )
    assert events(assistant(None)) == []


def test_steps_count_the_assistant_s_messages_inside_a_turn():
    turns = read_turns([
        user(), assistant(tool_calls=[call()]), result(), assistant("x"), user(), assistant("y"),
    ])  # fmt: skip
    assert [[e.step for e in turn.events] for turn in turns] == [[None, 0, 0, 1], [None, 0]]
    assert [turn.steps for turn in turns] == [(Step(), Step()), (Step(),)]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_and_developer_messages_are_system_events(role):
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert events({"role": role, "content": content}) == [SystemEvent(kind=role, text="a\nb")]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thoughts_are_reasoning_and_never_an_answer(key):
    found = events(assistant("", **{key: "hm"}, tool_calls=[call()]))
    assert found[:2] == [Reasoning(text="hm", step=0), AssistantMessage(text="", step=0)]


def test_thoughts_under_two_names_and_in_blocks_are_read_once():
    assert events(assistant("a", reasoning_content="hm", reasoning="hm")) == [
        Reasoning(text="hm", step=0), AssistantMessage(text="a", step=0),
    ]  # fmt: skip
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    assert events(assistant([thinking, {"type": "text", "text": "a"}])) == [
        Reasoning(text="hm", step=0), AssistantMessage(text="a", step=0),
    ]  # fmt: skip


def test_a_refusal_is_a_system_event_and_no_text():
    assert events(assistant(None, refusal="No.")) == [
        SystemEvent(kind="refusal", text="No.", step=0)
    ]
    assert events(assistant([{"type": "refusal", "refusal": "No."}]))[0].text == "No."


def test_parts_that_are_no_text_are_never_lost():
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    found = events(user([{"type": "text", "text": "See"}, IMAGE, audio]), assistant([IMAGE]))
    assert found == [
        UserMessage(text="See"),
        SystemEvent(kind="image_url", data=IMAGE),
        SystemEvent(kind="input_audio", data=audio),
        SystemEvent(kind="image_url", data=IMAGE, step=0),
    ]


def test_spoken_answers_are_kept_with_their_words():
    (found,) = events(assistant(None, audio={"id": "a1", "transcript": "Hello."}))
    assert (found.kind, found.text) == ("audio", "Hello.")
    assert found.data["audio"]["id"] == "a1"


def test_the_old_shape_of_calls_is_read_and_paired_by_order():
    found = events(
        user(), assistant(None, function_call={"name": "a", "arguments": "{}"}),
        {"role": "function", "name": "its own word", "content": "out"},
    )  # fmt: skip
    assert found[1] == ToolCall(call_id=None, name="a", arguments={}, arguments_text="{}", step=0)
    assert (found[2].name, found[2].output) == ("a", "out")


@pytest.mark.parametrize(
    "calls",
    [
        [call()],
        call(),
        [{"id": "c1", "name": "a", "arguments": "{}"}],
        [{"id": "c1", "function": {"name": "a", "arguments": "{}"}, "index": 0}],
    ],
)
def test_calls_in_other_shapes_are_the_same_call(calls):
    (found,) = events(assistant(tool_calls=calls))
    assert found == ToolCall(call_id="c1", name="a", arguments={}, arguments_text="{}", step=0)


def test_the_input_of_a_custom_tool_is_free_text():
    made = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "[1]"}}
    (found,) = events(assistant(tool_calls=[made]))
    assert (found.name, found.arguments, found.arguments_text) == ("sql", "[1]", "[1]")


def test_items_of_the_responses_api_are_calls_and_results_and_text_never_is():
    first, both, prose, beside, empty = read_rows("messages/call_shapes.jsonl")
    for items, names in ((first, ["get_rate"]), (both, ["get_rate", "get_fee"])):
        found = events(*map(json.loads, items.split("\n")))
        assert [(e.name, e.step) for e in found] == [(name, 0) for name in names]
    assert events(assistant(prose)) == [AssistantMessage(text=prose, step=0)]
    for message, text in ((beside, "Let me look."), (empty, "")):
        said, made = events({"role": "assistant", **message})
        assert (said.text, made.name) == (text, "get_rate")


def test_an_output_item_is_the_result_of_its_call():
    found = events(
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "a", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "out"},
        {"type": "function_call", "call_id": "c2", "name": "b", "arguments": "{}"},
    )
    assert [(e.call_id, e.name, e.step) for e in found] == [
        ("c1", "a", 0), ("c1", "a", 0), ("c2", "b", 1),
    ]  # fmt: skip


def test_results_in_swapped_order_are_paired_by_id():
    found = events(*load("swapped_results.json")["messages"])
    outputs = {e.call_id: e.output for e in found if isinstance(e, ToolResult)}
    made = {e.arguments["city"]: outputs[e.call_id] for e in found if isinstance(e, ToolCall)}
    assert made == {"Oslo": "Oslo 9C", "Rome": "Rome 27C"}


def test_the_same_call_twice_is_two_calls():
    found = events(*load("same_call_twice.json")["messages"])
    assert [(e.call_id, e.arguments) for e in found] == [
        ("w1", {"city": "Oslo"}), ("w2", {"city": "Oslo"}),
    ]  # fmt: skip


def test_names_of_tools_are_kept_as_they_are():
    names = load("tool_names.json")
    every = [*names["same"], *names["not_same"]]
    found = events(assistant(tool_calls=[call(f"c{n}", name) for n, name in enumerate(every)]))
    assert [e.name for e in found] == every


def test_control_characters_and_cut_outputs_are_kept_as_they_are():
    message = load("control_characters.json")
    assert events(message)[0].output == message["content"]
    cut = load("cut_output.json")["messages"]
    assert events(*cut)[1].output == cut[1]["content"]


def test_a_result_of_an_unknown_call_has_no_name_even_if_it_carries_one():
    orphan, made, said = events(
        result("ghost", "zz", name="a"), assistant(tool_calls=[call()]), assistant("ghost")
    )
    assert (orphan.name, orphan.call_id, orphan.step) == (None, "zz", None)
    assert (made.name, said.text) == ("a", "ghost")


@pytest.mark.parametrize("call_id", ["", None])
def test_an_empty_id_is_no_id(call_id):
    made, answered = events(assistant(tool_calls=[call(call_id)]), result("out", call_id))
    assert (made.call_id, answered.call_id, answered.name) == (None, None, "a")


def test_duplicate_keys_are_noted_right_after_their_call():
    twice = call("c5", arguments='{"q": "x", "q": "y"}')
    found = events(assistant(tool_calls=[twice, call("c6")]))
    assert [type(e).__name__ for e in found] == ["ToolCall", "SystemEvent", "ToolCall"]
    assert found[0].arguments == {"q": "y"}
    assert found[1].kind == "duplicate_keys"
    assert found[1].data == {"call_id": "c5", "keys": ["q"]}


def test_the_name_of_an_assistant_is_the_agent():
    assert events(assistant("a", name="planner"))[0].agent == "planner"


def test_objects_of_an_sdk_are_read_by_their_dump():
    class Message:
        def model_dump(self):
            return assistant("a")

    assert events(Message()) == [AssistantMessage(text="a", step=0)]


def test_unknown_fields_of_a_vendor_are_no_fault():
    assert events(assistant("a", annotations=[], thought_signature="x", extra={"y": 1}))


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (None, "messages must be a list, got null"),
        ({"role": "user"}, "messages must be a list, got an object"),
        ("hi", "messages must be a list, got a text"),
        (5, "messages must be a list, got a number"),
        ([user(), 5], "message 1: must be an object, got a number"),
        ([user(), {"content": "x"}], "message 1: role must be one of user, .*, got null"),
        ([{"role": "critic", "content": "x"}], 'message 0: role must be .*, got "critic"'),
        ([{"role": ["user"], "content": "x"}], "message 0: role must be .*, got a list"),
        ([{"type": "user", "content": "x"}], 'message 0: role must be .*, got "user"'),
        ([user(None)], "message 0: content must be a text or a list of blocks, got null"),
        ([user(), {"role": "user"}], "message 1: content must be .*, got null"),
        ([user([5])], "message 0: content block 0 must be an object, got a number"),
        ([assistant(5)], "message 0: content must be .*, got a number"),
        ([assistant(tool_calls=5)], "message 0: tool_calls must be a list, got a number"),
        ([assistant(tool_calls=[5])], "message 0: tool call 0: must be an object, got a number"),
        (
            [assistant(tool_calls=[call(), {}])],
            "message 0: tool call 1: name must be a non-empty text",
        ),
        (
            [assistant(tool_calls=[call(name="")])],
            "message 0: tool call 0: name must be a non-empty text",
        ),
        ([result({"a": float("nan")})], "message 0: no JSON number: nan"),
    ],
)
def test_what_is_not_of_the_shape_is_refused_with_its_index(messages, told):
    with pytest.raises(ValueError, match=f"^{told}"):
        read_turns(messages)
