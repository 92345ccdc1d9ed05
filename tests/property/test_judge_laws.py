"""Laws of judges: hostile rubrics and replies never break anything, and nothing is guessed."""

import json
from contextlib import suppress

from fakes.factories import make_sample
from hypothesis import example, given
from hypothesis import strategies as st

from graders.judge_prompts import Rubric, messages
from graders.judge_replies import ReplyError, Verdict, read_verdict
from graders.judge_templates import PromptError, fill, placeholders

PIECES = ["{", "}", "{{", "}}", "{input}", "{k}", "{k.x}", "{k[0]}", "{!r}", "{:9}", "```", "\n"]
REPLIES = ['"score"', '{"score": 1}', '{"score":', "0.5", "NaN", "1e999", "[", "]", ",", '"', "\\"]
rubrics = st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)
replies = st.lists(st.sampled_from(PIECES + REPLIES) | st.text(max_size=5)).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
scores = st.floats(0, 1) | st.sampled_from([0, 1])


def verdict_or_none(text):
    try:
        return read_verdict(text)
    except ReplyError:
        return None


@given(replies)
@example('{"score": 1' + "0" * 5000 + "}")
def test_reading_a_reply_gives_a_score_in_range_or_says_why_not(text):
    verdict = verdict_or_none(text)
    assert verdict is None or (0 <= verdict.score <= 1 and isinstance(verdict.rationale, str))


@given(scores, st.text(), st.booleans())
def test_what_a_judge_writes_is_what_is_read(score, rationale, fenced):
    text = json.dumps({"score": score, "rationale": rationale})
    text = f"```json\n{text}\n```" if fenced else text
    assert read_verdict(text) == Verdict(float(score), rationale)


@given(scores, st.text(), st.data())
def test_a_reply_that_was_cut_has_no_verdict(score, rationale, data):
    text = json.dumps({"rationale": rationale, "score": score})
    kept = data.draw(st.integers(0, len(text) - 1))
    assert verdict_or_none(text[:kept]) is None


@given(rubrics, st.dictionaries(st.sampled_from(["k", "j", "input"]), values), st.booleans())
def test_any_rubric_makes_messages_or_says_why_not(text, variables, listed):
    rubric = Rubric(text=text, rubric_vars=("k",) if listed else None)
    with suppress(PromptError):
        asked = messages(rubric, make_sample(rubric_vars=variables), "SUBMISSION")
        assert {message["role"] for message in asked} <= {"system", "user"}


@given(st.text(), st.text())
def test_values_are_put_in_to_the_letter(text, value):
    escaped = text.replace("{", "{{").replace("}", "}}")
    assert fill(f"{escaped}{{k}}{escaped}", {"k": value}) == f"{text}{value}{text}"
    assert placeholders(escaped) == ()
