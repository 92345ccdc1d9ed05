import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.serving.model_requests import ApiError, parse_body, read_request
from harness.serving.placeholders import fill, parse
from harness.serving.reply_bodies import body_parts, chunks, completion
from harness.serving.rules import reply_to
from harness.serving.script import parse_script
from harness.types.errors import SuiteError

SCRIPT = parse_script(
    r"""
models:
  a:
    - when: {user: '(?P<word>\w+)', replies: 0, chance: 0.5}
      say: "{word} and {word}"
      call: {look: {word: "{word}"}, note: {words: ["{word}", 1]}}
    - when: {results: {look: '(?P<found>.+)'}}
      reasoning: "{found}"
      say: "found {found}"
    - say: nothing
""",
    "script",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "developer", "king"])
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["c1", "c2"]),
            "function": st.fixed_dictionaries(
                {"name": st.sampled_from(["look", "note"]), "arguments": st.text() | JSON}
            ),
        }
    ),
    max_size=2,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": ROLES, "content": st.text() | JSON},
        optional={"tool_calls": CALLS | JSON, "tool_call_id": st.sampled_from(["c1", "c2"])},
    )
    | JSON,
    max_size=5,
)
TALKS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": st.text()}),
    min_size=1,
    max_size=5,
)


def outcome(expected, function, *arguments):
    """Give what a function returns, or the error of the expected kind that it raises."""
    try:
        return function(*arguments)
    except expected as error:
        return error


def served(raw):
    return body_parts(reply_to(SCRIPT, read_request(parse_body(raw))))


@given(messages=MESSAGES, seed=st.none() | st.integers() | JSON, stream=st.booleans())
def test_every_request_is_answered_or_refused(messages, seed, stream):
    body = {"model": "a", "messages": messages, "seed": seed, "stream": stream}
    result = outcome(ApiError, served, json.dumps(body).encode())
    assert result.status == 400 if isinstance(result, ApiError) else result


@given(st.binary(max_size=200))
@example(b'{"model": "a", "messages": [{"role": "user", "content": "\\ud800"}]}')
def test_every_body_is_read_or_refused(raw):
    result = outcome(ApiError, parse_body, raw)
    assert result.status == 400 if isinstance(result, ApiError) else isinstance(result, dict)


@given(messages=TALKS, seed=st.none() | st.integers(-(2**63), 2**63 - 1))
def test_the_same_request_has_the_same_reply_and_a_stream_says_the_same(messages, seed):
    body = {"model": "scripted/a", "messages": messages, "seed": seed}
    reply = reply_to(SCRIPT, read_request(body))
    assert reply == reply_to(SCRIPT, read_request(json.loads(json.dumps(body))))
    deltas = [choice["delta"] for chunk in chunks(reply) for choice in chunk["choices"]]
    text = completion(reply)["choices"][0]["message"]["content"]
    assert "".join(delta.get("content") or "" for delta in deltas) == text


@given(st.text())
def test_doubled_braces_fill_in_to_the_text_they_were_doubled_from(text):
    assert fill(text.replace("{", "{{").replace("}", "}}"), {}) == text


@given(st.text(alphabet="{}:ab1 "))
def test_every_text_is_cut_into_pieces_or_refused(text):
    pieces = outcome(ValueError, parse, text)
    if isinstance(pieces, ValueError):
        assert "a single brace" in str(pieces)
    else:
        names = {piece.name for piece in pieces if not isinstance(piece, str)}
        assert len(fill(text, dict.fromkeys(names, ""))) <= len(text)


@given(st.text(alphabet="models: {}[]-\n\t'\"&*!?#|>say\x00\ud800é1") | st.text())
@example("models: {a: [say: *x]}")
@example("models:\n  a:\n  - when: {results: 3}\n    say: x")
def test_every_text_is_a_script_or_has_faults(text):
    result = outcome(SuiteError, parse_script, text, "f")
    if isinstance(result, SuiteError):
        assert all(fault.file == "f" and fault.problem for fault in result.faults)
        assert result.faults
    else:
        assert result.models


@pytest.mark.parametrize("seed", [2**64, -(2**80)])
def test_a_seed_beyond_64_bits_is_answered_too(seed):
    body = {"model": "a", "messages": [{"role": "user", "content": "x"}], "seed": seed}
    request = read_request(body)
    assert reply_to(SCRIPT, request) == reply_to(SCRIPT, request)
