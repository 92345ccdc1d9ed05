"""Where two trajectories part."""

import json

import msgspec
import pytest
from fakes.factories import make_trajectory
from fakes.stored_trials import stored_trial

from harness.measuring.divergence_words import divergence_groups
from harness.measuring.divergences import first_divergence
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.trials import Failure


def call(name, output="done", *, ok=True, **arguments):
    call_id = f"{name}-{json.dumps(arguments)}"
    return (
        ToolCall(call_id=call_id, name=name, arguments=arguments),
        ToolResult(call_id=call_id, name=name, output=output, ok=ok),
    )


def trial(*parts, turns=None, **fields):
    """Make a trial of one turn out of calls and texts, or of several `turns`."""
    made = []
    for turn in turns or [parts]:
        events = [UserMessage(text="Find K41.")]
        for part in turn:
            events += [part] if isinstance(part, str) else part
        made.append(events)
    return stored_trial(trajectory=make_trajectory(*made), **fields)


FIND_A, FIND_B = call("find", "it is a-100", of="a"), call("find", "it is b-200", of="b")
BOOK = call("book", seat=1)


@pytest.mark.parametrize(
    ("baseline", "candidate", "kind", "words"),
    [
        ([FIND_A, "yes"], ["yes"], "no_call", "candidate skips `find`"),
        ([FIND_A, FIND_B, BOOK], [FIND_B, BOOK], "no_call", "candidate skips `find`"),
        ([FIND_A, BOOK], [BOOK], "no_call", "candidate skips `find`"),
        ([BOOK], [BOOK, FIND_A], "further_call", "candidate calls `find` besides"),
        ([BOOK], [FIND_A, BOOK], "further_call", "candidate calls `find` besides"),
        ([FIND_A, BOOK], [BOOK, FIND_A], "other_order", "candidate calls `book` before `find`"),
        ([FIND_A, FIND_B], [FIND_B, FIND_A], "other_order",
         "candidate makes the calls of `find` in another order"),
        ([FIND_A], [BOOK], "other_tool", "candidate calls `book` instead of `find`"),
        ([FIND_A], [FIND_B], "other_arguments", "candidate calls `find` with other `of`"),
        ([FIND_A], [call("find")], "other_arguments", "candidate calls `find` without `of`"),
        ([call("find", of="K41")], [call("find", of="K99")], "other_arguments",
         "candidate calls `find` with a made-up `of`"),
        ([FIND_A, call("book", seat="a-100")],
         [call("find", "it is c-300", of="a"), call("book", seat="c-300")],
         "other_result", "the same call of `find` gives another result"),
        ([FIND_A, BOOK], [call("find", "no", ok=False, of="a")], "other_result",
         "`find` fails for the candidate alone"),
        ([call("find", "no", ok=False, of="a")], [FIND_A], "other_result",
         "`find` fails for the baseline alone"),
        ([FIND_A, "fine"], [call("find", "at 12:01", of="a"), "fine"], "other_result",
         "the same call of `find` gives another result"),
        ([FIND_A, "It is a-100."], [call("find", "it is a-100.", of="a"), "It is rt_99887."],
         "other_text", "candidate says an identifier that no tool and no user gave it"),
        (["One"], ["Two"], "other_text", "only the words differ"),
        (["One", "Two"], ["One"], "other_text", "candidate says less"),
        (["One"], ["One", "Two"], "other_text", "candidate says more"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(baseline, candidate, kind, words):
    found = first_divergence(trial(*baseline), trial(*candidate))
    assert found is not None
    assert (found.kind, found.words) == (kind, words)


@pytest.mark.parametrize(
    "parts", [[], ["One"], [FIND_A, FIND_B, "Two"], [call("find", of=[1, {"x": None}])]]
)
def test_alike_trials_do_not_part(parts):
    assert first_divergence(trial(*parts), trial(*parts)) is None


def test_neither_the_order_of_arguments_nor_ids_nor_spaces_are_differences():
    ours = (ToolCall(call_id="1", name="f", arguments={"a": 1, "b": 2}), "all  is well")
    theirs = (ToolCall(call_id="x", name="f", arguments={"b": 2, "a": 1}), "all is\nwell")
    assert first_divergence(*(trial(turns=[[[c], text]]) for c, text in (ours, theirs))) is None


def test_calls_of_one_reply_have_no_order():
    def at_once(*names):
        calls = [ToolCall(call_id=n, name=n, arguments={}, step=0) for n in names]
        return stored_trial(trajectory=make_trajectory(calls))

    assert first_divergence(at_once("find", "book"), at_once("book", "find")) is None


def test_a_difference_of_calls_goes_before_words_of_earlier_turns():
    ours = trial(turns=[["One"], [FIND_A]])
    theirs = trial(turns=[["Two"], ["So it is."]])
    found = first_divergence(ours, theirs)
    assert found is not None
    assert (found.kind, found.tool) == ("no_call", "find")
    assert (found.baseline.turn, found.baseline.arguments) == (1, {"of": "a"})
    assert (found.candidate.type, found.candidate.text) == ("assistant_message", "So it is.")


def test_what_is_skipped_is_shown_beside_what_is_said_in_its_place():
    found = first_divergence(trial(FIND_A, "a-100"), trial("It is rt_99887."))
    assert found is not None
    assert found.candidate.text == "It is rt_99887."


def test_an_invented_identifier_stands_in_the_excerpt_of_a_long_message():
    long = f"{'so ' * 500}it is rt_99887 {'and ' * 500}"
    found = first_divergence(trial("It is K41."), trial(long))
    assert found is not None
    assert "rt_99887" in found.candidate.text
    assert len(found.candidate.text) <= 300


@pytest.mark.parametrize("status", ["agent_failure", "target_error"])
def test_a_trial_that_was_cut_off_has_not_skipped_what_comes_after(status):
    error = Failure(code="turn_timeout", message="too long")
    candidate = trial(FIND_A, status=status, error=error)
    found = first_divergence(trial(FIND_A, BOOK, "done"), candidate)
    assert found is not None
    assert (found.kind, found.words) == ("other_ending", "candidate ends in `turn_timeout`")


def test_one_that_left_a_call_out_before_it_was_cut_off_has_left_it_out():
    error = Failure(code="turn_timeout", message="too long")
    found = first_divergence(
        trial(FIND_A, BOOK, "done"), trial(BOOK, status="agent_failure", error=error)
    )
    assert found is not None
    assert found.words == "candidate skips `find`"


def test_like_differences_make_a_group_the_largest_first():
    skips = first_divergence(trial(FIND_A), trial("No."))
    other = first_divergence(trial("One"), trial("Two"))
    assert skips is not None
    assert other is not None
    groups = divergence_groups({"c": skips, "b": other, "a": skips}, of=4)
    assert [(one.tool, one.samples, one.of) for one in groups] == [
        ("find", ("a", "c"), 4),
        (None, ("b",), 4),
    ]


def test_huge_names_and_arguments_are_shown_shortened():
    candidate = trial(call("x" * 10_000, of="y" * 10_000))
    found = first_divergence(trial("One"), candidate)
    assert found is not None
    assert len(msgspec.json.encode(found)) < 2_000


def test_results_without_an_id_belong_to_the_calls_in_their_order():
    def unnamed(*outputs):
        calls = [ToolCall(call_id=None, name="f", arguments=n) for n in range(len(outputs))]
        results = [ToolResult(call_id=None, name=None, output=one) for one in outputs]
        return stored_trial(trajectory=make_trajectory([*calls, *results]))

    found = first_divergence(unnamed("a", "b"), unnamed("a", "c"))
    assert found is not None
    assert (found.baseline.text, found.candidate.text) == ("b", "c")


def test_a_message_is_no_result():
    said = AssistantMessage(text="a-100")
    found = first_divergence(trial(FIND_A, [said]), trial(FIND_A))
    assert found is not None
    assert found.words == "candidate says less"
