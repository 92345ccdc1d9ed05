import json

import pytest
from fakes.factories import DATA

from harness.messages.letta_steps import LettaSteps, with_step_rows
from harness.types.trajectories import Step, Usage


def usage(given, made=1, **more):
    return {"prompt_tokens": given, "completion_tokens": made, **more}


def reply(step_id=None, run_id=None):
    return {"step_id": step_id, "run_id": run_id}


def test_steps_are_counted_in_the_order_of_their_ids():
    steps = LettaSteps()
    ids = ["b", "b", "a", "b", "c"]
    assert [steps.of_reply(reply(one, "run")) for one in ids] == [0, 0, 1, 0, 2]
    assert steps.ids == ("b", "a", "c")


def test_without_a_step_id_a_run_is_a_step():
    steps = LettaSteps()
    assert [steps.of_reply(reply(run_id=run)) for run in ("r1", "r1", "r2")] == [0, 0, 1]
    assert steps.ids == (None, None)


def test_without_any_id_a_step_ends_with_its_results():
    steps = LettaSteps()
    found = [steps.of_reply({}), steps.of_reply({}), steps.of_result({}), steps.of_reply({})]
    assert found == [0, 0, 0, 1]


def test_only_replies_begin_a_step():
    steps = LettaSteps()
    assert (steps.of_result(reply("a")), steps.of_other(reply("a")), steps.all) == (None, None, ())


def test_the_usage_of_several_steps_stands_on_the_last():
    steps = LettaSteps()
    for one in ("a", "b"):
        steps.of_reply(reply(one))
    steps.add_stop("end_turn", {})
    steps.add_usage(usage(10))
    assert steps.all == (
        Step(),
        Step(usage=Usage(input_tokens=10, output_tokens=1), stop_reason="end_turn"),
    )


def test_each_reply_of_a_turn_adds_its_own_usage():
    steps = LettaSteps()
    for one in ("a", "b"):
        steps.of_reply(reply(one))
        steps.add_stop(one, {})
        steps.add_usage(usage(10))
    assert [(step.usage.input_tokens, step.stop_reason) for step in steps.all] == [
        (10, "a"),
        (10, "b"),
    ]


def test_a_usage_without_a_message_is_that_of_a_step_that_said_nothing():
    steps = LettaSteps()
    steps.add_stop("requires_approval", {})
    steps.add_usage(usage(7, step_count=1))
    assert steps.of_reply({}) == 0
    assert steps.all == (
        Step(usage=Usage(input_tokens=7, output_tokens=1), stop_reason="requires_approval"),
    )


def test_a_stop_reason_that_comes_after_its_usage_goes_to_the_run_it_names():
    steps = LettaSteps()
    steps.of_reply(reply(run_id="r1"))
    steps.add_usage(usage(5, run_id="r1"))
    steps.add_stop("end_turn", {"run_id": "r1"})
    steps.add_stop("llm_api_error", {"run_id": "r2"})
    assert [step.stop_reason for step in steps.all] == ["end_turn"]


@pytest.mark.parametrize("record", [{}, usage(0, 0, step_count=0), {"prompt_tokens": "many"}])
def test_a_usage_of_nothing_begins_no_step(record):
    steps = LettaSteps()
    steps.add_usage(record)
    assert steps.all == ()


def rows(*given):
    return [{"id": f"s{n}", **usage(tokens)} for n, tokens in enumerate(given)]


@pytest.mark.parametrize(
    ("found", "given"),
    [
        (rows(4, 6), [4, 6]),  # as the reply says
        (rows(4, 6)[::-1], [4, 6]),  # in any order
        (rows(4, 3), [4, 6]),  # a compaction's own call is in the reply's sum alone
        (rows(4), [4, 6]),  # the step without a row has the rest
        (rows(4, 60), [4, 60]),  # the rows know of more
        ([], [None, 10]),
        ([{"id": 3}, {"id": "else"}], [None, 10]),
    ],
)
def test_steps_take_their_usage_from_the_servers_rows(found, given):
    steps = (Step(), Step(usage=Usage(input_tokens=10, output_tokens=2)))
    refined = with_step_rows(steps, ("s0", "s1"), found)
    assert [step.usage.input_tokens for step in refined] == given


def test_a_row_tells_the_model_that_answered_and_why_it_stopped():
    found = json.loads((DATA / "letta/step_rows.json").read_text(encoding="utf-8"))
    (step,) = with_step_rows((Step(),), ("step-1",), found)
    assert step == Step(
        usage=Usage(input_tokens=1966, output_tokens=9),
        model="openai-proxy/scripted-1",
        stop_reason="end_turn",
    )
