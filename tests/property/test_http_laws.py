"""Laws of agents behind a URL: what samples and replies hold breaks nothing."""

from contextlib import suppress
from typing import get_args
from urllib.parse import unquote, urlsplit

from hypothesis import example, given
from hypothesis import strategies as st
from property.strategies import json_values, texts

from harness.system.json_values import clean_json
from harness.targets.http_options import HttpResponse, MessageFormat
from harness.targets.http_parts import PARTIAL, ReplyParts, ReportedError
from harness.targets.http_templates import TurnValues, fill_json, fill_text, fill_url
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, SystemEvent
from harness.types.protocols import AttemptContext
from harness.types.samples import Sample

hostile = texts | st.sampled_from(
    ["{{input}}", "${HOME}", "../..", "%2e%2e", "?a=b#c", "a/b", "@h"]
)


def cleaned(value):
    """Give a value as it comes over the wire, or out of a dataset."""
    try:
        return clean_json(value)
    except ValueError:
        return None


foreign = json_values.map(cleaned)
pieces = texts.map(cleaned)
values = foreign | hostile.map(cleaned)
formats = st.sampled_from(get_args(MessageFormat))
roles = st.sampled_from(["user", "assistant", "tool", "model", "ai", "system"])
kinds = st.sampled_from(
    ["text", "message", "ai", "tool", "function_call", "reasoning", "tool_call", "tool_result"]
)
keys = st.sampled_from(
    ["role", "type", "content", "parts", "kind", "message_type", "tool_calls", "id", "text",
     "name", "arguments", "part_kind", "tool_call_id", "usage"]
)  # fmt: skip
fields = roles | kinds | foreign
messages = st.dictionaries(
    keys, fields | st.lists(st.dictionaries(keys, fields, max_size=3), max_size=2), max_size=5
)


async def no_wait(_seconds):
    """Wait for nothing."""


def made_of(value):
    sample = Sample(id="s", input="i", metadata={"x": value})
    return TurnValues(
        context=AttemptContext(
            sample=sample, model="m", epoch=0, attempt=0, fixtures={}, wait=no_wait
        )
    )


@given(values)
def test_a_placeholder_becomes_its_value_and_that_is_not_looked_at_again(value):
    assert fill_json({"a": ["{{metadata.x}}"]}, made_of(value)) == {"a": [value]}
    if isinstance(value, str):
        assert fill_text("<{{metadata.x}}>", made_of(value)) == f"<{value}>"


@given(values)
@example("..")
@example("a/../../b?c#d")
def test_no_value_changes_where_an_address_leads(value):
    with suppress(TargetError):
        parts = urlsplit(fill_url("http://h:1/a/{{metadata.x}}/b?q={{metadata.x}}", made_of(value)))
        assert parts.netloc == "h:1"
        assert parts.fragment == ""
        first, own, last = parts.path.split("/")[1:]
        assert (first, last) == ("a", "b")
        assert own not in {"", ".", ".."}
        assert unquote(own) == unquote(parts.query.removeprefix("q="))


@given(formats, st.lists(messages | foreign, max_size=4), st.booleans(), st.data())
def test_a_reply_gives_a_turn_or_says_what_is_wrong_with_it(shape, listed, joins, data):
    options = HttpResponse(messages="$.m", text="$.t", usage="$.u", error="$.e", format=shape)
    parts = ReplyParts(options, ["Hi"], joins=joins)
    try:
        for one in listed:
            parts.add({"m": one, "t": data.draw(values), "u": data.draw(foreign)})
        turn = parts.turn()
    except (ReportedError, TargetError, ValueError):
        pass
    else:
        assert all(event.step is None or event.step < len(turn.steps) for event in turn.events)
    if parts.begun:
        clean_json([getattr(event, "data", None) for event in parts.partial()])


@given(st.lists(pieces, min_size=1, max_size=5))
def test_pieces_of_a_text_are_one_text_and_half_of_it_is_no_answer(said_texts):
    parts = ReplyParts(HttpResponse(text="$"), ["Hi"], joins=True)
    for piece in said_texts:
        parts.add(piece)
    (said,) = parts.turn().events
    assert isinstance(said, AssistantMessage)
    assert said.text == "".join(said_texts)
    assert all(isinstance(e, SystemEvent) and e.kind == PARTIAL for e in parts.partial())
