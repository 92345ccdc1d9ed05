import pytest

from harness.messages.pairing import name_results, pair_results
from harness.types.events import ToolCall, ToolResult, UserMessage
from harness.types.trajectories import Turn


def turns(*texts):
    """Make turns of calls (`id=name`, without an id `=name`) and results (`id`, or `-`)."""
    return [Turn(events=tuple(map(_event, text.split()))) for text in texts]


def _event(text):
    if "=" in text:
        call_id, name = text.split("=")
        return ToolCall(call_id=call_id or None, name=name, arguments={})
    return ToolResult(call_id=None if text == "-" else text, name="its own word", output=text)


@pytest.mark.parametrize(
    ("conversation", "names"),
    [
        (["c1=a c1"], ["a"]),
        (["c1=a c2=b c2 c1"], ["b", "a"]),
        (["c1=a c1 c1"], ["a", "a"]),
        # over the whole conversation
        (["c1=a", "c1"], ["a"]),
        # the latest earlier call with its id
        (["c1=a c1 c1=b c1"], ["a", "b"]),
        (["c1=a c1", "c1=b c1", "c1"], ["a", "b", "b"]),
        (["c1=a c1=b c1"], ["b"]),
        # never a later one
        (["c1 c1=a"], [None]),
        (["zz c1=a"], [None]),
        (["c1=a", "zz"], [None]),
        # without an id: by order, within the turn
        (["c1=a c2=b - -"], ["a", "b"]),
        (["=a =b - -"], ["a", "b"]),
        (["c1=a c2=b c1 -"], ["a", "b"]),
        (["c1=a c2=b c2 -"], ["b", "a"]),
        (["c1=a c1 -"], ["a", None]),
        (["c1=a", "-"], [None]),
        (["- c1=a"], [None]),
        (["c1=a -", "c2=b -"], ["a", "b"]),
        # a result with an id is never paired by order
        (["=a zz -"], [None, "a"]),
    ],
)
def test_results_are_named_by_the_calls_they_answer(conversation, names):
    named = name_results(turns(*conversation))
    found = [e.name for turn in named for e in turn.events if isinstance(e, ToolResult)]
    assert found == names


def test_pairs_say_where_call_and_result_are():
    pairs = list(pair_results(turns("c1=a c2=b c2", "c1 zz")))
    assert pairs == [((0, 1), (0, 2), "b"), ((0, 0), (1, 0), "a")]


def test_nothing_else_is_touched():
    before = [*turns("c1=a"), Turn(events=(UserMessage(text="hi"),))]
    assert list(name_results(before)) == before


def test_a_hundred_thousand_calls_are_paired_at_once():
    count = 100_000
    made = " ".join(f"c{n}=t{n}" for n in range(count))
    answered = " ".join(f"c{n}" for n in reversed(range(0, count, 2))) + " -" * (count // 2)
    (turn,) = name_results(turns(f"{made} {answered}"))
    assert turn.events[-1].name == f"t{count - 1}"
