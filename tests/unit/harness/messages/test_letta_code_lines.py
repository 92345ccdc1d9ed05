import json

import pytest
from fakes.factories import DATA

from harness.messages.letta_code_lines import LettaCodeInit, LettaCodeLines
from harness.types.events import AssistantMessage, ErrorEvent, SystemEvent, ToolCall, ToolResult
from harness.types.trajectories import Usage


def read(lines):
    reader = LettaCodeLines()
    events = [event for line in lines for event in reader.feed(line)]
    return [*events, *reader.finish()], reader


def load(name):
    return (DATA / "letta" / name).read_bytes().splitlines(keepends=True)


def line(kind, **fields):
    return json.dumps({"type": kind, **fields})


def message(message_type, **fields):
    return line("message", message_type=message_type, **fields)


def said(text, **more):
    return message("assistant_message", id="m", content=[{"type": "text", "text": text}], **more)


def test_a_turn_with_a_tool_is_read_from_its_lines():
    events, reader = read(load("code_tool.jsonl"))
    assert [(type(event), event.step) for event in events] == [
        (AssistantMessage, 0), (ToolCall, 0), (ToolResult, 0), (AssistantMessage, 1)
    ]  # fmt: skip
    assert (events[0].text, events[3].text) == ("Running it.", "Release train ready: REL-42")
    assert (events[1].arguments["command"], events[2].output) == ("echo REL-42", "REL-42\n")
    assert [(s.usage.input_tokens, s.stop_reason, s.model) for s in reader.steps] == [
        (7342, "requires_approval", "openai-compatible/scripted-1"),
        (7346, "end_turn", "openai-compatible/scripted-1"),
    ]
    assert reader.result is not None
    assert reader.result.ok
    assert reader.result.text == "Release train ready: REL-42"
    assert reader.result.usage == Usage(input_tokens=14688, output_tokens=26)


def test_the_first_line_tells_the_agent():
    init = line("system", subtype="init", agent_id="a", conversation_id="c", model="m", cwd="/w")
    _, reader = read([init])
    assert reader.init == LettaCodeInit(agent_id="a", conversation_id="c", model="m", cwd="/w")


def test_partial_messages_are_read_as_the_messages():
    events, reader = read(load("code_partial.jsonl"))
    assert [type(event) for event in events] == [AssistantMessage]
    assert events[0].text.startswith("echo: <system-reminder>\nMCP ")
    assert [step.usage.output_tokens for step in reader.steps] == [53]


def test_a_refusal_of_the_model_is_told_once():
    events, reader = read(load("code_refused.jsonl"))
    assert [type(event) for event in events] == [ErrorEvent]
    (failure,) = reader.failures
    assert (failure.kind, failure.retryable) == ("llm_error", False)
    assert failure.message.startswith("401: ")
    assert (reader.result, reader.stop_reason, reader.steps) == (None, "error", ())


def test_retries_are_system_events_and_each_run_s_failure_is_told():
    events, reader = read(load("code_failing.jsonl"))
    kinds = [event.kind for event in events]
    assert kinds.count("retry") == 6
    assert kinds.count("llm_error") == 2
    assert [failure.retryable for failure in reader.failures] == [None, True]
    retry = next(event for event in events if event.kind == "retry")
    assert (retry.data["attempt"], retry.data["delay_ms"]) == (1, 1000)


def test_a_call_without_a_word_before_it_has_a_step_of_its_own():
    stop = message("stop_reason", stop_reason="requires_approval", run_id="r1")
    usage = message("usage_statistics", prompt_tokens=5, completion_tokens=1, run_id="r1")
    call = {"name": "Bash", "tool_call_id": "c1", "arguments": "{}"}
    made = message("tool_call_message", id="t", tool_call=call)
    answer = message("tool_return_message", id="u", status="success", tool_call_id="c1",
                     tool_return="x")  # fmt: skip
    again = [text.replace("r1", "r2").replace("c1", "c2") for text in (usage, stop, made, answer)]
    events, reader = read([usage, stop, made, answer, *again, said("ok", run_id="r3")])
    assert [event.step for event in events] == [0, 0, 1, 1, 2]
    assert [step.usage.input_tokens for step in reader.steps] == [5, 5, None]


def test_the_usage_of_the_result_counts_where_no_step_has_told_its_own():
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    _, reader = read([said("a", run_id="r"), line("result", subtype="success", usage=usage)])
    assert [step.usage for step in reader.steps] == [Usage(input_tokens=9, output_tokens=2)]


@pytest.mark.parametrize(
    ("fields", "ok"),
    [
        ({"subtype": "success"}, True),
        ({"subtype": "success", "is_error": True}, False),
        ({"subtype": "error"}, False),
        ({}, False),
    ],
)
def test_a_result_is_good_by_its_subtype(fields, ok):
    _, reader = read([line("result", **fields)])
    assert reader.result is not None
    assert reader.result.ok is ok


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Warning: old node", [SystemEvent(kind="stdout", text="Warning: old node")]),
        ("\n", []),
        ("[1, 2] rest", [SystemEvent(kind="stdout", text="[1, 2] rest")]),
        (b'\xff{"type', [SystemEvent(kind="stdout", text='\ufffd{"type')]),
        ('{"type": "mess', [SystemEvent(kind="stdout", text='{"type": "mess')]),
        ("[" * 100_000, [SystemEvent(kind="stdout", text="[" * 100_000)]),
        ('{"a": NaN}', [SystemEvent(kind="stdout", text='{"a": NaN}')]),
        ('{"type": "queue", "n": 1} {"type": "queue", "n": 2}x',
         [SystemEvent(kind="queue", data={"n": 1}), SystemEvent(kind="queue", data={"n": 2}),
          SystemEvent(kind="stdout", text="x")]),
        ('{"type": "system", "subtype": "hook", "a": null}',
         [SystemEvent(kind="hook", data={"subtype": "hook"})]),
        ("{}", [SystemEvent(kind="stdout", data={})]),
    ],
)  # fmt: skip
def test_no_line_is_dropped(text, expected):
    assert read([text])[0] == expected


def test_other_lines_part_no_message():
    events, _ = read([said("a"), line("queue"), said("b")])
    assert [getattr(event, "text", "") for event in events] == ["", "ab"]


def test_an_echoed_prompt_is_no_second_user_message():
    echoed = message("user_message", content="<system-reminder>a</system-reminder> hello")
    assert read([echoed])[0] == [
        SystemEvent(kind="system_reminder", text="a"),
        SystemEvent(kind="echoed_user_message", text="hello"),
    ]


@pytest.mark.parametrize(
    ("fields", "kind", "told"),
    [
        ({"message": "boom", "stop_reason": "error"}, "error", "boom"),
        ({"message": "{not json"}, "error", "{not json"),
        ({"message": '{"error": 3}'}, "error", '{"error": 3}'),
        ({"message": 3, "api_error": 4}, "error", ""),
        ({"api_error": {"error_type": "llm_error", "message": "500"}}, "llm_error", "500"),
    ],
)
def test_an_error_line_of_any_form_is_an_error(fields, kind, told):
    assert read([line("error", **fields)])[0] == [ErrorEvent(kind=kind, message=told)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (line("message"), "message_type must be a non-empty text, got null"),
        (line("stream_event", event=3), "stream_event: event must be an object, got a number"),
    ],
)
def test_a_broken_line_is_refused(text, error):
    with pytest.raises(ValueError, match=error):
        read([text])
