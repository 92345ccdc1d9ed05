import json
from pathlib import Path

import pytest

from harness.serving.model_requests import ApiError, read_request
from harness.serving.rules import reply_to
from harness.serving.script import parse_script, read_script
from harness.system.patterns import SlowPattern

TROUBLES = read_script(Path(__file__).parents[3] / "data" / "serving" / "troubles.yaml")


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def called(*tools):
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        for at, tool in enumerate(tools)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(at, text):
    return {"role": "tool", "tool_call_id": f"c{at}", "content": text}


def ask(script, *messages, model="scripted/a", **fields):
    request = {"model": model, "messages": list(messages), **fields}
    return reply_to(script, read_request(request))


def script_of(when, say="yes"):
    rule = json.dumps({"when": when, "say": say})
    return parse_script(f"models: {{a: [{rule}, say: 'no']}}", "f")


LOOKUP = [called("find"), result(0, "id=1"), said("1")]


@pytest.mark.parametrize(
    ("when", "messages", "holds"),
    [
        ({"user": "b+"}, [user("abba")], True),
        ({"user": "^b"}, [user("abba")], False),
        ({"user": "first"}, [user("first"), said("x"), user("second")], False),
        ({"user": "x"}, [{"role": "system", "content": "x"}], False),
        ({"user": "one\ntwo"}, [user([{"type": "text", "text": t} for t in ("one", "two")])], True),
        ({"earlier": "first"}, [user("first"), said("x"), user("second")], True),
        ({"earlier": "second"}, [user("first"), said("x"), user("second")], False),
        ({"system": "x"}, [{"role": "system", "content": "ax"}, user("y")], True),
        ({"system": "x"}, [{"role": "developer", "content": "ax"}, user("y")], True),
        ({"system": "x"}, [{"role": "system", "content": "a"}, user("x")], False),
        (
            {"system": "x"},
            [user([{"type": "x", "text": "x"}, {"type": "text", "text": "y"}])],
            False,
        ),
        ({"turn": 0}, [user("x")], True),
        ({"turn": 1}, [user("x")], False),
        ({"turn": 1}, [user("x"), said("y"), user("z")], True),
        ({"replies": 0}, [user("x")], True),
        ({"replies": 1}, [user("x"), *LOOKUP[:2]], True),
        ({"replies": 0}, [user("x"), *LOOKUP, user("y")], True),
        ({"answered": "find"}, [user("x"), *LOOKUP[:2]], True),
        ({"answered": "find"}, [user("x"), LOOKUP[0]], False),
        ({"answered": "find"}, [user("x"), *LOOKUP, user("y")], False),
        ({"answered": ["find", "note"]}, [user("x"), *LOOKUP[:2]], False),
        ({"unanswered": "find"}, [user("x"), *LOOKUP[:2]], False),
        ({"unanswered": ["note", "find"]}, [user("x"), *LOOKUP, user("y")], True),
        ({"ever_answered": "find"}, [user("x"), *LOOKUP, user("y")], True),
        ({"never_answered": "find"}, [user("x"), *LOOKUP, user("y")], False),
        ({"never_answered": "find"}, [user("x"), said("y")], True),
        ({"results": {"find": "id=1"}}, [user("x"), *LOOKUP[:2]], True),
        ({"results": {"find": "id=2"}}, [user("x"), *LOOKUP[:2]], False),
        ({"results": {"note": "id=1"}}, [user("x"), *LOOKUP[:2]], False),
        ({"results": {"find": "id=1"}}, [user("x"), *LOOKUP, user("y")], False),
        ({"earlier_results": {"find": "id=1"}}, [user("x"), *LOOKUP, user("y")], True),
        ({"earlier_results": {"find": "id=1"}}, [user("x"), *LOOKUP[:2]], False),
        ({"chance": 1}, [user("x")], True),
        ({"chance": 0}, [user("x")], False),
    ],
)
def test_a_rule_holds_when_all_its_conditions_do(when, messages, holds):
    assert ask(script_of(when), *messages).text == ("yes" if holds else "no")


def test_values_come_from_every_pattern_the_latest_result_first():
    script = script_of(
        {"user": "of (?P<what>.+)", "results": {"find": r"id=(?P<id>\d)"}}, "{what}: {id}"
    )
    messages = [user("of x"), called("find", "find"), result(0, "id=1"), result(1, "id=2")]
    assert ask(script, *messages).text == "x: 2"


def test_hostile_text_is_filled_in_once_and_as_it_is():
    hostile = '{all} {{x}} "\n\x1b[31m ${HOME} \\'
    assert ask(TROUBLES, user(hostile), model="echo").text == f"You said: {hostile}"


def test_calls_keep_the_order_and_the_types_of_their_arguments():
    calls = ask(TROUBLES, user("add 2 to 30"), model="calls").calls
    assert [call.name for call in calls] == ["add", "add", "note"]
    assert json.loads(calls[0].arguments) == {"left": 2, "right": "30"}
    assert json.loads(calls[1].arguments) == {"left": 30, "right": 0.5}
    assert json.loads(calls[2].arguments) == {
        "text": "2 and 30",
        "tags": ["{x}", None, True],
        "day": "2024-01-01",
    }


def test_arguments_written_as_text_are_sent_raw():
    assert ask(TROUBLES, user("broken"), model="calls").calls[0].arguments == '{"left": 1'


def test_call_ids_differ_inside_a_conversation_and_are_the_same_again():
    first = ask(TROUBLES, user("add 2 to 30"), model="calls")
    later = ask(TROUBLES, user("x"), said("y"), user("add 2 to 30"), model="calls")
    again = ask(TROUBLES, user("add 2 to 30"), model="calls")
    assert first == again
    ids = [call.id for reply in (first, later) for call in reply.calls]
    assert len(set(ids)) == 6


def test_a_chance_holds_in_about_its_share_of_conversations_and_seeds():
    script = script_of({"chance": 0.3})
    by_text = [ask(script, user(str(at))).text for at in range(1_000)]
    by_seed = [ask(script, user("x"), seed=at).text for at in range(1_000)]
    assert 250 < by_text.count("yes") < 350
    assert 250 < by_seed.count("yes") < 350
    assert by_seed == [ask(script, user("x"), seed=at).text for at in range(1_000)]


def test_draws_of_two_rules_and_of_two_scripts_are_independent():
    rules = "[{when: {chance: 0.5}, say: one}, {when: {chance: 0.5}, say: two}, say: none]"
    one, two = (parse_script(f"seed: {at}\nmodels: {{a: {rules}}}", "f") for at in (1, 2))
    texts = [(ask(one, user(str(at))).text, ask(two, user(str(at))).text) for at in range(400)]
    assert 60 < sum(first == "two" for first, _ in texts) < 140
    assert 100 < sum(first != second for first, second in texts) < 300


def test_an_invented_value_stays_with_its_conversation():
    rule = "{invent: {id: 'rt_{hex:16}', other: 'rt_{hex:16}'}, say: '{id} {other}'}"
    script = parse_script(f"models: {{a: [{rule}]}}", "f")
    texts = [ask(script, user(str(at % 50))).text for at in range(100)]
    assert texts[:50] == texts[50:]
    assert len(set(" ".join(texts).split())) == 100


def test_a_rule_with_times_is_passed_over_once_it_is_used_up():
    request = read_request({"model": "limited", "messages": [user("x")]})
    assert reply_to(TROUBLES, request).rule.status == 429
    assert reply_to(TROUBLES, request, uses={0: 1}).rule.status == 429
    assert reply_to(TROUBLES, request, uses={0: 2}).text == "Here you are."


def test_an_unknown_model_is_refused_with_the_names_there_are():
    with pytest.raises(ApiError, match=r"no model 'scripted/eco' .* scripted/echo, scripted/calls"):
        ask(TROUBLES, user("x"), model="scripted/eco")


def test_a_conversation_that_no_rule_answers_is_refused_with_its_last_message_cut():
    with pytest.raises(ApiError) as caught:
        ask(TROUBLES, user("\x1b[31mhello" + "o" * 10_000), model="calls")
    assert caught.value.status == 422
    assert str(caught.value).startswith("No rule of the model 'calls' answers (turn 0, reply 0).")
    assert "hello" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_value_whose_group_took_no_part_is_an_error_that_names_the_rule():
    with pytest.raises(
        ApiError, match=r"calls/unknown cannot answer: .*no value for \{x\}"
    ) as caught:
        ask(TROUBLES, user("optional"), model="calls")
    assert caught.value.status == 500


def test_a_pattern_that_runs_over_says_so():
    with pytest.raises(SlowPattern):
        ask(TROUBLES, user("a" * 5_000 + "c"), model="stalls")
