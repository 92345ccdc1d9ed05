"""What first went wrong in a failing trial."""

import pytest
from fakes.explained_runs import failed_trial
from fakes.factories import make_call, make_trajectory
from fakes.stored_trials import stored_trial

from harness.measuring.failure_words import first_bad_event
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.grades import Grade, Ref
from harness.types.trials import Failure

ASKED = UserMessage(text="Find order A17-2 for me.")


def trial_of(*events, **fields):
    return stored_trial(passed=False, trajectory=make_trajectory([ASKED, *events]), **fields)


def call(arguments, *, ok=True, name="lookup"):
    return (
        ToolCall(call_id="c", name=name, arguments=arguments),
        ToolResult(call_id="c", name=name, output="order A17-2 is ok" if ok else "no", ok=ok),
    )


def bad(trial, passing=None, usual=(), **failed):
    return first_bad_event(trial, failed_trial(**failed), passing, usual)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([*call({"order": "B99-12345"}), "It is there."], "calls `lookup` with a made-up `order`"),
        ([*call({"order": "A17-2"}, ok=False), "Sorry."], "the call of `lookup` fails"),
        (
            [*call({"order": "elsewhere"}, ok=False), "Sorry."],
            "calls `lookup` with a made-up `order`, which fails",
        ),
        (
            [*call({"order": "A17-2"}), "It is rt_12345."],
            "says an identifier that no tool and no user gave it",
        ),
        (["It is there."], "calls no tool, where passing trials call `lookup`, `book`"),
        ([*call({"order": "A17-2"}), "Order a17-2 is ok."], "it said nothing"),
        ([*call(["A17-2"]), "Fine."], "it said nothing"),
        ([*call({"note": "in my own words"}), "Fine."], "it said nothing"),
    ],
)
def test_a_trial_by_itself_shows_its_first_mistake(events, words):
    found = bad(trial_of(*events), usual=("lookup", "book"))
    assert (found.words, found.origin) == (words, "agent")


def test_the_event_that_shows_it_is_pointed_at():
    found = bad(trial_of("Let me see.", *call({"order": "B99-12345"})))
    assert (found.event.turn, found.event.event, found.event.name) == (0, 2, "lookup")
    said = bad(trial_of(*make_call(), "It is rt_12345."))
    assert (said.event.type, said.event.event) == ("assistant_message", 3)


def test_only_what_was_told_before_counts_as_given():
    late = [AssistantMessage(text="It is rt_12345."), *make_call(output="rt_12345")]
    assert "says an identifier" in bad(trial_of(*late)).words
    assert bad(trial_of(*make_call(output="rt_12345"), "It is rt_12345.")).words == (
        "it said nothing"
    )


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ("turn 3: Contains ground_truth: False", "Contains ground_truth: False"),
        ("found 'a\\'b', 'c' at 14:00", "found … at …"),
        ('no "lookup", "book" output', "no … output"),
        ("too long: 900 of 3 s", "too long: … of … s"),
    ],
)
def test_evidence_is_grouped_without_what_differs(evidence, words):
    assert bad(trial_of("Fine."), evidence=evidence).words == words


def passing(*events, model="m"):
    return stored_trial(model=model, trajectory=make_trajectory([ASKED, *events]))


SKIPS = trial_of("It is there.")
FURTHER = trial_of(*call({"order": "A17-2"}), *call({}, name="book"), "Fine.")


@pytest.mark.parametrize("model", ["m", "another"])
def test_a_trial_that_passed_shows_which_call_is_skipped(model):
    other = passing(*call({"order": "A17-2"}), "It is there.", model=model)
    found = bad(SKIPS, other)
    assert (found.words, found.origin) == ("skips `lookup`", "agent")


def test_a_further_call_says_something_beside_an_epoch_of_the_same_model_only():
    events = (*call({"order": "A17-2"}), "Fine.")
    assert bad(FURTHER, passing(*events)).words == "calls `book` besides"
    assert bad(FURTHER, passing(*events, model="another")).words == "it said nothing"


@pytest.mark.parametrize("model", ["m", "another"])
def test_an_argument_that_was_given_and_is_the_wrong_one_is_seen_beside_the_right_one(model):
    wrong, right = ((*call({"order": order}), "Fine.") for order in ("for", "A17-2"))
    found = bad(trial_of(*wrong), passing(*right, model=model))
    assert found.words == "calls `lookup` with other `order`"
    assert found.event.arguments == {"order": "for"}


def test_other_words_than_those_of_a_trial_that_passed_say_nothing():
    assert bad(SKIPS, passing("It is over there.")).words == "it said nothing"


@pytest.mark.parametrize(
    ("status", "code", "message", "expected"),
    [
        ("target_error", "rate_limited", "429 after 3 s", "rate limited: … after … s"),
        ("target_error", "fixture_broke", "", "fixture broke"),
        ("grading_error", "grader_broke", "g: KeyError: 'x'", "grader broke: KeyError: …"),
        (
            "grading_error",
            "grader_broke",
            "h: KeyError: 'x' (checks.py:7)",
            "grader broke: h: KeyError: … (checks.py:7)",
        ),
        ("agent_failure", "turn_timeout", "took 9 s", "turn timeout: took … s"),
    ],
)
def test_an_error_says_it_itself(status, code, message, expected):
    error = Failure(code=code, message=message)
    found = bad(stored_trial(passed=None, status=status, error=error))
    origins = {"rate_limited": "provider", "fixture_broke": "suite", "grader_broke": "grader"}
    assert (found.words, found.origin) == (expected, origins.get(code, "agent"))


def test_a_code_that_nobody_knows_is_ours():
    error = Failure(code="of_a_later_version", message="")
    assert bad(stored_trial(passed=None, status="target_error", error=error)).origin == "harness"
    assert bad(stored_trial(passed=None, status="target_error")).words == "target error"


NO_MATCH = "no lookup output matched"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (1, f"{NO_MATCH}, judging by the call of `lookup`"),
        (2, f"{NO_MATCH}, judging by what `lookup` gave"),
        (3, NO_MATCH),
        (99, NO_MATCH),
    ],
)
def test_where_nothing_else_went_wrong_the_call_that_evidence_rests_on_is_named(event, words):
    refs = (Ref(turn=7, event=0), Ref(turn=0, event=event))
    grades = {"g": Grade(score=0.0, passed=False, refs=refs)}
    trial = trial_of(*call({"service": "order"}), "Fine.", grades=grades)
    found = bad(trial, evidence=NO_MATCH)
    assert found.words == words
    assert (found.event is not None) == (words != NO_MATCH)
    assert found.event is None or found.event.arguments == {"service": "order"}
