import json
from pathlib import Path

import pytest

from harness.serving.model_requests import ApiError, read_request
from harness.serving.reply_bodies import (
    body_parts,
    chunks,
    completion,
    cut_parts,
    error_body,
    model_list,
)
from harness.serving.rules import reply_to
from harness.serving.script import read_script

TROUBLES = read_script(Path(__file__).parents[3] / "data" / "serving" / "troubles.yaml")


def reply(model, text="hi", **fields):
    request = {"model": model, "messages": [{"role": "user", "content": text}], **fields}
    return reply_to(TROUBLES, read_request(request))


def joined(reply):
    """Join the deltas of a stream into one message, as a client does."""
    message = {"content": "", "reasoning_content": "", "tool_calls": []}
    for delta in (choice["delta"] for chunk in chunks(reply) for choice in chunk["choices"]):
        for key in ("content", "reasoning_content"):
            message[key] += delta.get(key) or ""
        for part in delta.get("tool_calls", []):
            if "id" in part:
                message["tool_calls"].append([part["id"], part["function"]["name"], ""])
            message["tool_calls"][part["index"]][2] += part["function"]["arguments"]
    return message


@pytest.mark.parametrize(
    ("model", "text"),
    [("echo", "x" * 5_000), ("echo", ""), ("echo", "🚀 é\n\t" * 40), ("calls", "add 1 to 2"),
     ("reasons", "hi")],
)  # fmt: skip
def test_a_stream_holds_what_the_whole_body_holds(model, text):
    whole = completion(reply(model, text))["choices"][0]["message"]
    streamed = joined(reply(model, text))
    assert streamed["content"] == (whole["content"] or "")
    assert streamed["reasoning_content"] == whole.get("reasoning_content", "")
    assert streamed["tool_calls"] == [
        [call["id"], call["function"]["name"], call["function"]["arguments"]]
        for call in whole.get("tool_calls", [])
    ]


def test_arguments_are_streamed_in_several_pieces():
    pieces = [
        part
        for chunk in chunks(reply("calls", "add 1 to 2"))
        for part in chunk["choices"][0]["delta"].get("tool_calls", [])
    ]
    assert [sum(part["index"] == at for part in pieces) > 2 for at in range(3)] == [True] * 3


@pytest.mark.parametrize(
    ("model", "text", "finish"),
    [("echo", "x", "stop"), ("calls", "add 1 to 2", "tool_calls"), ("cut_off", "x", "length")],
)
def test_both_forms_say_why_the_reply_ended(model, text, finish):
    said = reply(model, text)
    assert completion(said)["choices"][0]["finish_reason"] == finish
    assert [c["choices"][0]["finish_reason"] for c in chunks(said)][-2:] == [None, finish]


def test_usage_is_streamed_only_where_it_is_asked_for_and_is_the_same():
    said = reply("echo", stream=True, stream_options={"include_usage": True})
    *before, last = chunks(said)
    assert last["choices"] == []
    assert last["usage"] == completion(said)["usage"]
    assert last["usage"]["total_tokens"] == (
        last["usage"]["prompt_tokens"] + last["usage"]["completion_tokens"]
    )
    assert {chunk["usage"] for chunk in before} == {None}
    assert all("usage" not in chunk for chunk in chunks(reply("echo", stream=True)))


def test_a_stream_is_sent_as_events_and_ends_with_done():
    parts = body_parts(reply("echo", stream=True))
    assert all(part.startswith(b"data: ") and part.endswith(b"\n\n") for part in parts)
    assert parts[-1] == b"data: [DONE]\n\n"
    assert [json.loads(part[6:])["object"] for part in parts[:-1]] == (
        ["chat.completion.chunk"] * (len(parts) - 1)
    )


def test_garbage_is_sent_as_it_is():
    assert body_parts(reply("garbled")) == [b"<html>502 Bad Gateway</html>"]
    assert body_parts(reply("garbled", stream=True))[0] == b"data: <html>502 Bad Gateway</html>\n\n"


def test_a_cut_body_is_its_first_half_and_a_quiet_stream_ends_after_an_event():
    whole = reply("torn")
    half = b"".join(cut_parts(whole, body_parts(whole)))
    assert body_parts(whole)[0].startswith(half)
    assert 0 < len(half) < len(body_parts(whole)[0])
    ended = reply("ended", stream=True)
    assert cut_parts(ended, body_parts(ended)) == body_parts(ended)[: len(body_parts(ended)) // 2]


def test_the_model_and_the_rule_are_named_in_every_body():
    said = reply("scripted/calls", "add 1 to 2")
    assert completion(said)["model"] == "scripted/calls"
    assert {chunk["system_fingerprint"] for chunk in chunks(said)} == {"calls/two at once"}


def test_errors_have_the_shape_of_the_api():
    assert error_body(ApiError(404, "Gone.", param="model", code="model_not_found"))["error"] == {
        "message": "Gone.",
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
    }
    assert error_body(ApiError(503, "Later."))["error"]["type"] == "server_error"


def test_models_are_listed_under_the_names_that_suites_use():
    assert [model["id"] for model in model_list(TROUBLES)["data"]][:2] == [
        "scripted/echo",
        "scripted/calls",
    ]
